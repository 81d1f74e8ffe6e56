"""BM25 over a corpus, on the tantivy library: one index a corpus and analyzer, kept in the cache.

Source: Robertson & Zaragoza (2009), The Probabilistic Relevance Framework: BM25 and Beyond, with
tantivy's fixed k1 = 1.2 and b = 0.75. Title and text are one field.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import tempfile
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import tantivy

from evalcli.declarations.retriever import LexicalEntry
from evalcli.protocols import RetrieverSetup
from evalcli.records import RetrievedDocument
from evalcli.retrieval.corpus import Passage, find_texts, open_corpus

_log = logging.getLogger(__name__)

_LIBRARY = f"tantivy {version('tantivy')}"
_FORMAT = 2  # raise when the index, the analysis or the chunking changes
_PUBLISH_TRIES = 3
_KEPT_INDEXES = 8
_WRITER_BYTES = 1 << 30  # a bound, used as needed; large, so that an index is one segment
_MANIFEST = "manifest.json"  # written last: with it the index is whole
_IDS = "document_ids.json"
_Hits = list[tuple[float, tantivy.DocAddress]]


class Lexical:
    """The retriever `type: lexical`."""

    def __init__(self, setup: RetrieverSetup) -> None:
        entry = setup.entry
        if not isinstance(entry, LexicalEntry):
            raise TypeError(f"a lexical retriever cannot be made from a {type(entry).__name__}")
        self._corpus = open_corpus(entry.corpus, setup.root)
        self._analysis = Analysis(entry.language, entry.stop_words == "drop")
        self._cache = setup.cache / "lexical"
        self._index: LexicalIndex | None = None

    @property
    def provenance(self) -> Mapping[str, str]:
        """Revisions; the pipeline is library, ranking function and analysis."""
        return {
            "corpus": self._corpus.revision,
            "chunking": self._corpus.chunking,
            "pipeline": f"bm25 k1=1.2 b=0.75, {_LIBRARY}, {self._analysis.words}",
        }

    @property
    def notes(self) -> Sequence[str]:
        """What was left out of the corpus."""
        return self._corpus.notes

    @property
    def document_ids(self) -> Collection[str]:
        """All document ids."""
        return frozenset(self._opened().document_ids)

    def find_texts(self, document_ids: Collection[str], question: str = "") -> Mapping[str, str]:
        """Find passages to show."""
        return find_texts(self._corpus, document_ids, question)

    async def prepare(self) -> None:
        """Build the index, or open the one in the cache."""
        self._opened()

    async def retrieve(self, question: str, limit: int) -> Sequence[RetrievedDocument]:
        """Search; takes well under a few milliseconds, so it does not leave the event loop."""
        return self._opened().search(question, limit)

    async def aclose(self) -> None:
        """Let go of the index."""
        self._index = None

    def _opened(self) -> LexicalIndex:
        if self._index is None:
            parts = [_FORMAT, _LIBRARY, self._analysis.words, self._corpus.revision]
            text = json.dumps([*parts, self._corpus.chunking])
            folder = self._cache / hashlib.sha256(text.encode()).hexdigest()[:32]
            self._index = open_index(folder, self._analysis, self._corpus.read_passages)
        return self._index


class Analysis:
    """Text → terms: runs of letters and digits, lower case, stemmed by language.

    Stop words stay unless asked otherwise: short headings lose by dropping them.
    """

    def __init__(self, language: str, is_dropping_stop_words: bool = False) -> None:
        stop_words = "dropped" if is_dropping_stop_words else "kept"
        self.words = f"language {language}, stop words {stop_words}"
        builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        builder = builder.filter(tantivy.Filter.lowercase())
        if is_dropping_stop_words:
            builder = builder.filter(tantivy.Filter.stopword(language))
        if language != "none":
            builder = builder.filter(tantivy.Filter.stemmer(language))
        self.analyzer = builder.build()

    def distinct_terms(self, text: str) -> list[str]:
        """Analyse a question: each term once, in order."""
        return list(dict.fromkeys(self.analyzer.analyze(clean_text(text))))


def clean_text(text: str) -> str:
    """Put composed characters in one form; lone surrogates, which no index holds, are replaced."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFC", text)
    return text.encode("utf-8", "replace").decode("utf-8")


class LexicalIndex:
    """An index that is open for searching.

    `document_ids` holds the document of each passage, in the order they were indexed.
    """

    def __init__(
        self, index: tantivy.Index, analysis: Analysis, document_ids: Sequence[str]
    ) -> None:
        self.document_ids = document_ids
        self._schema = index.schema
        self._analysis = analysis
        self._searcher = index.searcher()
        self._is_in_order = _is_in_order(self._searcher, len(document_ids))

    def search(self, question: str, limit: int) -> list[RetrievedDocument]:
        """Rank passages by BM25 over the question's distinct terms, any of them; ties by order.

        The question is never read as query syntax.
        """
        schema, should = self._schema, tantivy.Occur.Should
        terms = [
            (should, tantivy.Query.term_query(schema, "body", term, "freq"))
            for term in self._analysis.distinct_terms(question)
        ]
        if not terms:
            return []
        query = tantivy.Query.boolean_query(terms)
        hits: _Hits = self._searcher.search(query, limit, count=False).hits
        ids = self.document_ids
        if self._is_in_order:
            return [RetrievedDocument(ids[address.doc], score) for score, address in hits]
        numbers = self._searcher.fast_field_values("number", [address for _, address in hits])
        return [
            RetrievedDocument(ids[int(number or 0)], score)
            for number, (score, _) in zip(numbers, hits, strict=True)
        ]


def _is_in_order(searcher: tantivy.Searcher, passages: int) -> bool:
    """Whether tantivy numbers passages as we do, so that their numbers need no look-up.

    It does in an index of one segment, unless that was merged from several, whole ones of which
    then stand elsewhere; probes all over the index find that.
    """
    if searcher.num_segments != 1 or searcher.num_docs != passages:
        return False
    probes = range(0, passages, max(1, passages // 1000))
    addresses = [tantivy.DocAddress(0, place) for place in probes]
    return searcher.fast_field_values("number", addresses) == list(probes)


# --- building and keeping -------------------------------------------------------------------------


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", tokenizer_name="evalcli", index_option="freq")
    builder.add_unsigned_field("number", fast=True)
    return builder.build()


def build_index(
    passages: Iterable[Passage], analysis: Analysis, folder: Path | None
) -> LexicalIndex:
    """Build an index in a folder, or in memory."""
    index = tantivy.Index(_schema(), path=None if folder is None else str(folder))
    index.register_tokenizer("evalcli", analysis.analyzer)
    writer = index.writer(_WRITER_BYTES, 1)  # one thread: documents keep their order
    document_ids = []
    for number, passage in enumerate(passages):
        document = tantivy.Document()
        document.add_text("body", clean_text(passage.body))
        document.add_unsigned("number", number)
        writer.add_document(document)
        document_ids.append(passage.document_id)
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    if folder is not None:
        (folder / _IDS).write_text(json.dumps(document_ids), encoding="ascii")
        (folder / _MANIFEST).write_text(json.dumps(_digests(folder)), encoding="ascii")
    return LexicalIndex(index, analysis, document_ids)


def open_index(
    folder: Path, analysis: Analysis, read_passages: Callable[[], Iterable[Passage]]
) -> LexicalIndex:
    """Open the index of a folder, and build it first where it is missing or damaged.

    It is built beside its place and moved there in one step, so that several processes may do
    the same at once. Where the folder cannot be written, the index lives in memory.
    """
    opened = _load_index(folder, analysis)
    if opened is not None:
        return opened
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(prefix="building-", dir=folder.parent))
    except OSError as exc:
        return _build_in_memory(read_passages, analysis, exc)
    try:
        build_index(read_passages(), analysis, building)
        _publish(building, folder)
        _prune(folder)
    except (OSError, ValueError) as exc:  # tantivy tells of a full disk by a ValueError
        return _build_in_memory(read_passages, analysis, exc)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return _load_index(folder, analysis) or build_index(read_passages(), analysis, None)


def _build_in_memory(
    read_passages: Callable[[], Iterable[Passage]], analysis: Analysis, exc: Exception
) -> LexicalIndex:
    _log.warning("the search index is not kept, because it cannot be written: %s", exc)
    return build_index(read_passages(), analysis, None)


def _load_index(folder: Path, analysis: Analysis) -> LexicalIndex | None:
    """Open a finished index; one that is damaged, in any byte, is removed."""
    manifest_file = folder / _MANIFEST
    if not manifest_file.is_file():
        shutil.rmtree(folder, ignore_errors=True)
        return None
    try:
        if json.loads(manifest_file.read_text(encoding="ascii")) == _digests(folder):
            index = tantivy.Index.open(str(folder))
            index.register_tokenizer("evalcli", analysis.analyzer)
            os.utime(folder)
            document_ids = json.loads((folder / _IDS).read_text(encoding="ascii"))
            return LexicalIndex(index, analysis, document_ids)
        damage: object = "its files are not as they were written"
    except (OSError, ValueError, RecursionError) as exc:
        damage = exc
    _log.warning("the search index in %s is damaged and built anew: %s", folder, damage)
    shutil.rmtree(folder, ignore_errors=True)
    return None


def _digests(folder: Path) -> dict[str, str]:
    """Fingerprint the files of an index; those that begin with a dot are locks and lists."""
    digests = {}
    for path in sorted(folder.iterdir()):
        if path.name != _MANIFEST and not path.name.startswith("."):
            with path.open("rb") as stream:
                digests[path.name] = hashlib.file_digest(stream, "sha256").hexdigest()
    return digests


def _publish(building: Path, folder: Path) -> None:
    """Move a finished index to its place, where a damaged one may still be on its way out.

    A reader that has that one open puts a lock file back into its folder while it is removed.
    """
    for tries_left in range(_PUBLISH_TRIES - 1, -1, -1):
        try:
            building.rename(folder)
        except OSError:
            if (folder / _MANIFEST).is_file():  # another process was faster
                return
            if not tries_left:
                raise
            shutil.rmtree(folder, ignore_errors=True)
        else:
            return


def _prune(folder: Path) -> None:
    """Remove the indexes that were not used for longest."""
    dated = []
    for other in folder.parent.iterdir():
        try:
            dated.append((other.stat().st_mtime, other))
        except OSError:  # another process removed it
            continue
    for _, other in sorted(dated, reverse=True)[_KEPT_INDEXES:]:
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)
