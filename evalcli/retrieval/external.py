"""Retrievers that are not ours: a service over HTTP, a function of the user's, a finished run."""

from __future__ import annotations

import asyncio
import inspect
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import islice
from numbers import Real
from pathlib import Path
from random import random
from typing import cast
from urllib.parse import urlsplit

from evalcli.calls.limits import RetryPolicy
from evalcli.declarations.retriever import Corpus, HttpEntry, PythonEntry, RunFileEntry
from evalcli.errors import (
    ConfigurationError,
    DeclarationError,
    Fault,
    ProviderError,
    describe_foreign,
)
from evalcli.http_client import HttpClient
from evalcli.protocols import RetrieverSetup
from evalcli.records import RetrievedDocument
from evalcli.retrieval.corpus import OpenCorpus, find_texts, open_corpus
from evalcli.retrieval.trec_run import RunLineError, read_run_line

_RETRY_DELAY_S = 0.5


class DeclaredCorpus:
    """The corpus that an entry may name, so that ids can be checked and passages shown."""

    def __init__(self, declared: Corpus | None, root: Path) -> None:
        self._corpus: OpenCorpus | None = None
        if declared is not None:
            self._corpus = open_corpus(declared, root)

    @property
    def provenance(self) -> Mapping[str, str]:
        """The corpus' revision, where one is declared."""
        return {} if self._corpus is None else {"corpus": self._corpus.revision}

    @property
    def notes(self) -> Sequence[str]:
        """What was left out of the corpus."""
        return () if self._corpus is None else self._corpus.notes

    @property
    def document_ids(self) -> Collection[str] | None:
        """All document ids; None where no corpus is declared."""
        if self._corpus is None:
            return None
        return frozenset(passage.document_id for passage in self._corpus.read_passages())

    def find_texts(self, document_ids: Collection[str], question: str = "") -> Mapping[str, str]:
        """Find passages to show."""
        return {} if self._corpus is None else find_texts(self._corpus, document_ids, question)


# --- HTTP -----------------------------------------------------------------------------------------


_ADVICE = {401: "check the retriever's headers", 404: "check the retriever's url"}


class Http(DeclaredCorpus):
    """The retriever `type: http`.

    Source: our own form, in the manual. Request: `POST` with `{"question": …, "limit": …}`.
    Reply: `{"documents": [{"id": "234_0", "score": 1.5, "text": "…"}]}`, best first; `score` and
    `text` may lack, and a text instead of an object is an id.
    """

    def __init__(self, setup: RetrieverSetup) -> None:
        entry = setup.entry
        if not isinstance(entry, HttpEntry):
            raise TypeError(f"an http retriever cannot be made from a {type(entry).__name__}")
        super().__init__(entry.corpus, setup.root)
        parts = urlsplit(entry.url)
        self._path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
        self._retry = RetryPolicy(entry.tries, _RETRY_DELAY_S, float(entry.timeout_s))
        self._client = HttpClient(
            setup.name,
            f"{parts.scheme}://{parts.netloc}",
            timeout_s=float(entry.timeout_s),
            headers=setup.headers,
            environ=setup.environ,
            keys=setup.keys,
            allow_plain_http=entry.allow_plain_http,
            advice=_ADVICE,
        )

    async def retrieve(self, question: str, limit: int) -> Sequence[RetrievedDocument]:
        """Ask the service; failures that may pass are tried again within `timeout_s`."""
        started, tries = time.monotonic(), 0
        while True:
            tries += 1
            try:
                return await self._ask(question, limit)
            except ProviderError as exc:
                exc.tries = tries
                elapsed_s = time.monotonic() - started
                wait_s = self._retry.decide(
                    exc, tries=tries, elapsed_s=elapsed_s, random=random
                ).wait_s
                if wait_s is None:
                    raise
            await asyncio.sleep(wait_s)

    async def aclose(self) -> None:
        """Close connections."""
        await self._client.aclose()

    async def _ask(self, question: str, limit: int) -> list[RetrievedDocument]:
        request = {"question": question, "limit": limit}
        reply = await self._client.post_json(self._path, request, private=[question])
        found = reply.document
        listed = found.get("documents") if isinstance(found, dict) else None
        if not isinstance(listed, list):
            raise self._client.reply_error('answered without a list "documents"')
        try:
            return [make_document(one, place) for place, one in enumerate(listed, start=1)]
        except ValueError as exc:
            raise self._client.reply_error(f"answered, but {exc}") from None


def make_document(raw: object, place: int) -> RetrievedDocument:
    """Make a result of what a program outside gave: an id, or a mapping with id, score, text.

    Raises:
        ValueError: it is something else; the message says what, not its content.
    """
    if isinstance(raw, str):
        return RetrievedDocument(raw)
    identifier, score, text = _fields_of(raw)
    if not isinstance(identifier, str):
        is_record = isinstance(raw, Mapping | RetrievedDocument)
        found = identifier if is_record else raw
        raise ValueError(f"result {place} has {_describe(found)} where its id, a text, is needed")
    if text is not None and not isinstance(text, str):
        raise ValueError(f"result {place} has {_describe(text)} where its text is needed")
    if score is None:
        return RetrievedDocument(identifier, None, text)
    if isinstance(score, bool) or not isinstance(score, Real):  # numpy's numbers are real ones
        raise ValueError(f"result {place} has {_describe(score)} where its score is needed")
    try:
        return RetrievedDocument(identifier, float(score), text)
    except OverflowError:
        raise ValueError(f"result {place} has a score that is too large") from None


def _fields_of(raw: object) -> tuple[object, object, object]:
    if isinstance(raw, RetrievedDocument):
        return raw.id, raw.score, raw.text
    fields: Mapping[object, object] = raw if isinstance(raw, Mapping) else {}
    return fields.get("id"), fields.get("score"), fields.get("text")


def _describe(value: object) -> str:
    return "nothing" if value is None else f"something of type {type(value).__name__}"


# --- Python ---------------------------------------------------------------------------------------

_Function = Callable[[str, int], object]


class PythonCallable(DeclaredCorpus):
    """The retriever `type: python`: `callable(question, limit)`, plain or asynchronous.

    It gives ids, `RetrievedDocument`s, or mappings with `id`, `score` and `text`, best first. A
    plain function runs in a thread of its own, so that one that hangs holds up nothing. It is
    found from the workspace's folder on, too.
    """

    def __init__(self, setup: RetrieverSetup) -> None:
        entry = setup.entry
        if not isinstance(entry, PythonEntry):
            raise TypeError(f"a python retriever cannot be made from a {type(entry).__name__}")
        super().__init__(entry.corpus, setup.root)
        self._name = setup.name
        self._function = _import_callable(setup.name, entry.callable, setup.root)
        own = getattr(self._function, "provenance", None)
        self._own = dict(own) if isinstance(own, Mapping) else {}

    @property
    def provenance(self) -> Mapping[str, str]:
        """Revisions: the corpus', and what the callable says in an attribute `provenance`."""
        own = self._own.items()
        said = {str(kind): str(revision) for kind, revision in own if revision is not None}
        return {**super().provenance, **said}

    async def retrieve(self, question: str, limit: int) -> Sequence[RetrievedDocument]:
        """Call the function."""
        try:
            listed = await self._call(question, limit)
            return [make_document(one, place) for place, one in enumerate(listed, start=1)]
        except asyncio.CancelledError:
            raise
        except (Exception, SystemExit) as exc:
            line = describe_foreign(exc)
            raise ProviderError(self._name, f"{self._name} failed: {line}", detail=line) from exc

    async def aclose(self) -> None:
        """Nothing is open."""

    async def _call(self, question: str, limit: int) -> Sequence[object]:
        def call() -> object:
            found = self._function(question, limit)
            return found if inspect.isawaitable(found) else _take(found, limit)

        if _is_asynchronous(self._function):
            found = self._function(question, limit)
        else:
            found = await _work_in_thread(call)
        if inspect.isawaitable(found):
            found = await found
        if isinstance(found, list):
            return _take(found, limit)
        # What is given lazily may search only now, and block.
        return cast("list[object]", await _work_in_thread(lambda: _take(found, limit)))


def _take(found: object, limit: int) -> list[object]:
    """Take what a function returned, one more than asked for at most: it may be endless."""
    if isinstance(found, str | bytes | Mapping) or not isinstance(found, Iterable):
        raise TypeError(f"returned {_describe(found)} instead of a list of document ids")
    return list(islice(found, limit + 1))


def _is_asynchronous(function: _Function) -> bool:
    method = getattr(type(function), "__call__", None)  # noqa: B004 - an object may be called too
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(method)


async def _work_in_thread(work: Callable[[], object]) -> object:
    """Work in a daemon thread: unlike a pool's, it does not keep the process from ending."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[object] = loop.create_future()

    def settle(result: object, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

    def run() -> None:
        try:
            result, error = work(), None
        except BaseException as exc:  # noqa: BLE001 - it is handed to the one who waits
            result, error = None, _raisable(exc)
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=run, daemon=True, name="evalcli-retriever").start()
    return await future


def _raisable(exc: BaseException) -> BaseException:
    """Futures take no StopIteration, and exits of a thread end no process."""
    if isinstance(exc, Exception) and not isinstance(exc, StopIteration):
        return exc
    return RuntimeError(f"{type(exc).__name__} {exc}".strip())


def _import_callable(name: str, target: str, root: Path) -> _Function:
    """Import `module:callable`.

    Raises:
        ConfigurationError: there is none.
    """
    module_name, _, attribute = target.partition(":")
    folder = str(root)
    if folder not in sys.path:
        sys.path.append(folder)  # last, so that no file of the workspace hides a package
    try:
        found: object = import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as exc:  # an exit with 0 would pass for a run without a fault
        raise ConfigurationError(
            f'retriever "{name}": {target} cannot be imported: {describe_foreign(exc)}',
            advice="it is looked for in the workspace's folder and the installed packages",
        ) from exc
    if not callable(found):
        raise ConfigurationError(f'retriever "{name}": {target} cannot be called')
    return found


# --- run file -------------------------------------------------------------------------------------


class RunFile(DeclaredCorpus):
    """The retriever `type: run_file`: rankings by question id, from a TREC run.

    As trec_eval does, results are put in order of their scores; those of equal score stay in the
    order of their ranks, then of their lines. A question without lines returned nothing: the
    format has no other way to say so.
    """

    def __init__(self, setup: RetrieverSetup) -> None:
        entry = setup.entry
        if not isinstance(entry, RunFileEntry):
            raise TypeError(f"a run file cannot be opened from a {type(entry).__name__}")
        super().__init__(entry.corpus, setup.root)
        self._name = setup.name
        self._rankings = _read_run(setup.root / entry.path, entry.path)

    @property
    def question_ids(self) -> Collection[str]:
        """The questions that the run has results for."""
        return self._rankings.keys()

    async def retrieve_question(
        self, question_id: str, question: str, limit: int
    ) -> Sequence[RetrievedDocument]:
        """Look the ranking up."""
        return self._rankings.get(question_id, [])[:limit]

    async def retrieve(self, question: str, limit: int) -> Sequence[RetrievedDocument]:
        """Refuse: a run file cannot answer a question it has not seen."""
        raise ProviderError(self._name, f"{self._name} is a run file: it knows questions by id")

    async def aclose(self) -> None:
        """Nothing is open."""


def _read_run(path: Path, name: str) -> dict[str, list[RetrievedDocument]]:
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as exc:
        raise ConfigurationError(
            f"the run file {name} cannot be read: {exc.strerror}",
            advice="paths start in the workspace's folder",
        ) from exc
    rows: dict[str, list[tuple[float, int, str]]] = {}
    faults = []
    for number, line in enumerate(lines, start=1):
        try:
            row = read_run_line(line)
        except RunLineError as exc:
            faults.append(Fault(name, number, 1, "", str(exc), _RUN_FORM))
            continue
        if row is not None:
            rows.setdefault(row.question_id, []).append((-row.score, row.rank, row.document_id))
    if not rows and not faults:
        faults = [Fault(name, 1, 1, "", "holds no result", _RUN_FORM)]
    if faults:
        raise DeclarationError(f"the run file {name} cannot be used", faults=faults[:20])
    return {
        question_id: [
            RetrievedDocument(identifier, -negated)
            for negated, _, identifier in sorted(found, key=lambda row: row[:2])
        ]
        for question_id, found in rows.items()
    }


_RUN_FORM = "write `question Q0 document rank score tag`"
