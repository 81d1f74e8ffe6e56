"""Corpora: files or JSONL → passages, with a revision that changes when their content does.

A corpus is read as a stream, so that its size does not decide how much memory it takes. The
revision is of the content as it stands in the files (for files: paths and texts; for JSONL: its
bytes, unpacked), so chunking is no part of it.
"""

from __future__ import annotations

import codecs
import gzip
import hashlib
import json
import re
import unicodedata
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol, cast

from evalcli.declarations.retriever import Corpus, FilesCorpus, JsonlCorpus
from evalcli.declarations.scalars import cite
from evalcli.errors import ConfigurationError, DeclarationError, Fault
from evalcli.retrieval.chunking import Chunk, split_by_heading, split_by_size

MAX_FILE_BYTES = 50_000_000
"""Bound on one text file of a corpus, and on one line of a JSONL file, in bytes."""

_WHOLE_LINES = "line"  # each is a document of its own

MAX_FILES = 100_000
MAX_FAULTS = 20
"""Faults after which the rest of a corpus is not looked at."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document, as it is searched."""

    document_id: str
    title: str
    text: str

    @property
    def body(self) -> str:
        """Title and text together."""
        return f"{self.title}\n{self.text}" if self.title and self.text else self.title or self.text


class OpenCorpus(Protocol):
    """A corpus that was found and whose revision is known."""

    @property
    def revision(self) -> str:
        """Fingerprint of its content."""
        ...

    @property
    def chunking(self) -> str:
        """How documents become passages, in words; with the revision it determines them."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out."""
        ...

    def read_passages(self) -> Iterator[Passage]:
        """Read all passages in order.

        Raises:
            DeclarationError: the corpus has faults, is empty, or changed since it was opened.
        """
        ...


def open_corpus(declared: Corpus, root: Path) -> OpenCorpus:
    """Find a corpus below `root` and fingerprint it.

    Raises:
        ConfigurationError: there is no such file, or it lies outside.
        DeclarationError: a file is not UTF-8, or too large.
    """
    if isinstance(declared, JsonlCorpus):
        return JsonlFile(declared, root)
    return TextFiles(declared, root)


def find_texts(
    corpus: OpenCorpus, document_ids: Collection[str], question: str = ""
) -> Mapping[str, str]:
    """Find a passage of each of these documents to show: what has most of the question's words.

    Without a question, and among equal ones, it is the first. Words count as the same where their
    first five letters are, which is near enough for a person to look at.
    """
    wanted, asked = set(document_ids), _word_beginnings(question)
    is_first_enough = not asked or corpus.chunking == _WHOLE_LINES
    found: dict[str, tuple[int, str]] = {}
    for passage in corpus.read_passages() if wanted else ():
        identifier = passage.document_id
        if identifier not in wanted:
            continue
        shared = len(asked & _word_beginnings(passage.body)) if asked else 0
        if identifier not in found or shared > found[identifier][0]:
            found[identifier] = shared, passage.body
        if is_first_enough and len(found) == len(wanted):
            break
    return {identifier: text for identifier, (_, text) in found.items()}


def _word_beginnings(text: str) -> set[str]:
    return {word[:5] for word in re.findall(r"\w{3,}", text.casefold())}


# --- files ----------------------------------------------------------------------------------------


class TextFiles:
    """Text files of the workspace; see `FilesCorpus`."""

    def __init__(self, declared: FilesCorpus, root: Path) -> None:
        self._declared = declared
        self._paths = _find_files(declared, root)
        digest = hashlib.sha256()
        empty = []
        for identifier, path in self._paths.items():
            text = _read_text(path, identifier)
            _add_to(digest, identifier, text)
            if not text.strip():
                empty.append(identifier)
        if len(empty) == len(self._paths):
            raise ConfigurationError(
                f"the corpus of {', '.join(declared.files)} holds no text",
                advice="all its files are empty",
            )
        self.revision = _revision(digest)
        self.notes = tuple(f"{one} is empty, so it is no document" for one in empty)

    @property
    def chunking(self) -> str:
        """How files become passages."""
        chunk = self._declared.chunk
        words = chunk if isinstance(chunk, str) else f"size {chunk.size}, overlap {chunk.overlap}"
        return f"{words}, ids by {self._declared.ids}"

    def read_passages(self) -> Iterator[Passage]:
        """Read and chunk file after file."""
        digest = hashlib.sha256()
        for identifier, path in self._paths.items():
            text = _read_text(path, identifier)
            _add_to(digest, identifier, text)
            for chunk in self._chunks(text):
                is_own = self._declared.ids == "chunk" and chunk.name
                name = f"{identifier}#{chunk.name}" if is_own else identifier
                yield Passage(name, chunk.title, chunk.text)
        _refuse_change(self.revision, digest, ", ".join(self._declared.files))

    def _chunks(self, text: str) -> Iterator[Chunk]:
        chunk = self._declared.chunk
        if not text.strip():
            return iter(())
        if chunk == "heading":
            return split_by_heading(text)
        if chunk == "none":
            return iter((Chunk("", "", text.strip()),))
        return split_by_size(text, chunk.size, chunk.overlap)


def _find_files(declared: FilesCorpus, root: Path) -> dict[str, Path]:
    """Find files by pattern, in order of their ids; hidden ones only where a pattern names them."""
    base = root.resolve()
    excluded = {path for pattern in declared.exclude for path in base.glob(pattern)}
    found: dict[str, Path] = {}
    for pattern in declared.files:
        is_hidden_named = any(part.startswith(".") for part in pattern.split("/"))
        for path in base.glob(pattern):
            identifier = unicodedata.normalize("NFC", path.relative_to(base).as_posix())
            is_hidden = any(part.startswith(".") for part in identifier.split("/"))
            if path in excluded or (is_hidden and not is_hidden_named) or not path.is_file():
                continue
            if not path.resolve().is_relative_to(base):
                raise ConfigurationError(
                    f"{identifier} leads out of the workspace",
                    advice="keep the corpus in the workspace, or leave the link out with exclude",
                )
            if found.setdefault(identifier, path) != path:
                raise ConfigurationError(
                    f"two files are called {identifier}; only how accents are stored differs",
                    advice="rename one, or leave it out with exclude",
                )
    if not found:
        raise ConfigurationError(
            f"no file matches {', '.join(declared.files)} in {root}",
            advice="the corpus has no document; patterns start in the workspace's folder",
        )
    if len(found) > MAX_FILES:
        raise ConfigurationError(
            f"the corpus has more than {MAX_FILES:,} files", advice="use a JSONL corpus"
        )
    return dict(sorted(found.items()))


def _read_text(path: Path, identifier: str) -> str:
    with _reading(identifier):
        if path.stat().st_size > MAX_FILE_BYTES:
            raise _one_fault(identifier, 1, 1, f"is larger than {MAX_FILE_BYTES:,} bytes")
        data = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as exc:
        before = data[: exc.start]
        line_start = before.rfind(b"\n") + 1
        column = len(before[line_start:].decode("utf-8")) + 1
        raise _one_fault(identifier, before.count(b"\n") + 1, column, _NOT_UTF8) from None


# --- JSONL ----------------------------------------------------------------------------------------


class JsonlFile:
    """One document or passage a line; see `JsonlCorpus`."""

    notes: tuple[str, ...] = ()

    def __init__(self, declared: JsonlCorpus, root: Path) -> None:
        self._name = declared.jsonl
        self._path = (root / declared.jsonl).expanduser()
        self._field = declared.document
        digest = hashlib.sha256()
        with self._open() as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
        self.revision = _revision(digest)

    @property
    def chunking(self) -> str:
        """Each line is a passage."""
        return f"line, ids by {self._field}" if self._field else _WHOLE_LINES

    def read_passages(self) -> Iterator[Passage]:
        """Read line after line; faults are gathered and raised together."""
        digest, faults = hashlib.sha256(), list[Fault]()
        first_by_id: dict[str, int] = {}
        has_passage = False
        with self._open() as stream:
            for number, line in enumerate(_lines(stream, self._name), start=1):
                digest.update(line)
                found = self._read_line(line, number)
                if isinstance(found, Fault):
                    faults.append(found)
                elif found is not None:
                    has_passage = True
                    again = first_by_id.setdefault(found.document_id, number)
                    if again != number and self._field is None:
                        faults.append(self._repeated(found, number, again))
                    if not faults:
                        yield found
                if len(faults) >= MAX_FAULTS:
                    break
        if faults:
            raise DeclarationError(f"the corpus {self._name} cannot be used", faults=faults)
        if not has_passage:
            raise _one_fault(self._name, 1, 1, "holds no document")
        _refuse_change(self.revision, digest, self._name)

    def _repeated(self, passage: Passage, number: int, first: int) -> Fault:
        return Fault(
            self._name,
            number,
            1,
            "id",
            f"{cite(passage.document_id)} is used twice, first at line {first}",
            "give it another id; for passages of one document, name the field: `document: id`",
        )

    @contextmanager
    def _open(self) -> Iterator[IO[bytes]]:
        with _reading(self._name), self._path.open("rb") as raw:
            is_packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            if is_packed:
                with gzip.open(raw, "rb") as unpacked:
                    yield cast("IO[bytes]", unpacked)
            else:
                yield raw

    def _read_line(self, line: bytes, number: int) -> Passage | Fault | None:
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        except UnicodeDecodeError as exc:
            column = len(line[: exc.start].decode("utf-8")) + 1
            return Fault(self._name, number, column, "", _NOT_UTF8, "save it as UTF-8")
        if not text:
            return None
        try:
            row = json.loads(text, parse_int=_SourceNumber, parse_float=_SourceNumber)
        except json.JSONDecodeError as exc:
            return Fault(self._name, number, exc.colno, "", f"is no JSON: {exc.msg}")
        except RecursionError:
            return Fault(self._name, number, 1, "", "is nested too deeply")
        if not isinstance(row, dict):
            return Fault(self._name, number, 1, "", "must be an object with id, title and text")
        return self._read_row(row, number)

    def _read_row(self, row: dict[str, object], number: int) -> Passage | Fault:
        key = self._field or ("id" if "id" in row or "_id" not in row else "_id")
        identifier = row.get(key)
        if not isinstance(identifier, str) or not identifier:
            message = "is missing" if key not in row else "must be a text that is not empty"
            return Fault(self._name, number, 1, key, message, "write the id in quotes")
        texts = []
        for name in ("title", "text"):
            value = row.get(name)
            if value is not None and (
                not isinstance(value, str) or isinstance(value, _SourceNumber)
            ):
                return Fault(self._name, number, 1, name, "must be a text")
            texts.append(value or "")
        if "title" not in row and "text" not in row:
            return Fault(
                self._name, number, 1, "", "has neither title nor text", "name the fields so"
            )
        return Passage(str(identifier), *texts)


class _SourceNumber(str):
    """A JSON number as its characters, so that an id keeps its source text."""

    __slots__ = ()


def _lines(stream: IO[bytes], name: str) -> Iterator[bytes]:
    """Give lines with their ends, each of a bounded size."""
    number = 0
    while line := stream.readline(MAX_FILE_BYTES + 1):
        number += 1
        if len(line) > MAX_FILE_BYTES:
            raise _one_fault(name, number, 1, f"is longer than {MAX_FILE_BYTES:,} bytes")
        yield line


# --- both -----------------------------------------------------------------------------------------

_NOT_UTF8 = "is not UTF-8 from here on"


@contextmanager
def _reading(name: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as exc:
        raise ConfigurationError(
            f"the corpus file {name} does not exist",
            advice="paths start in the workspace's folder",
        ) from exc
    except (EOFError, gzip.BadGzipFile, zlib.error) as exc:
        raise ConfigurationError(
            f"the corpus file {name} is packed, but broken: {exc}", advice="write it anew"
        ) from exc
    except OSError as exc:
        raise ConfigurationError(
            f"the corpus file {name} cannot be read: {exc.strerror or exc}"
        ) from exc


def _one_fault(name: str, line: int, column: int, message: str) -> DeclarationError:
    advice = "save it as UTF-8" if message == _NOT_UTF8 else ""
    fault = Fault(name, line, column, "", message, advice)
    return DeclarationError(f"the corpus file {name} cannot be used", faults=[fault])


class _Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...

    def hexdigest(self) -> str: ...


def _add_to(digest: _Digest, identifier: str, text: str) -> None:
    for part in (identifier, text):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)


def _revision(digest: _Digest) -> str:
    return f"sha256:{digest.hexdigest()[:32]}"


def _refuse_change(revision: str, digest: _Digest, name: str) -> None:
    if _revision(digest) != revision:
        raise _one_fault(name, 1, 1, "was changed while it was read; start again")
