"""BM25: analysis, ranking, questions of any kind, and the index in the cache."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import tantivy
from hypothesis import given
from hypothesis import strategies as st

from evalcli.retrieval.corpus import Passage
from evalcli.retrieval.lexical import (
    Analysis,
    LexicalIndex,
    _publish,
    _schema,
    build_index,
    open_index,
)
from tests.support.retrieval import open_declared, write_documents

PASSAGES = [
    Passage("a", "Öffnungszeiten", "Das Büro ist montags geöffnet."),
    Passage("b", "", "Der Müll wird freitags abgeholt."),
    Passage("c", "Parken", "Anwohner parken mit Ausweis; Parkausweise kosten nichts."),
    Passage("c", "", "Ohne Ausweis kostet das Parken Geld."),
]


def make_index(language: str = "german", passages: list[Passage] = PASSAGES) -> LexicalIndex:
    return build_index(passages, Analysis(language), None)


def ids_of(index: LexicalIndex, question: str, limit: int = 40) -> list[str]:
    return [document.id for document in index.search(question, limit)]


# --- analysis ---


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("english", "connections connected connecting"),
        ("german", "Häuser Hauses Haus"),
        ("french", "continuer continuait"),
        ("spanish", "cheques cheque"),
        ("italian", "abbandonata abbandonate abbandonato"),
        ("dutch", "lichamelijk lichamelijke lichamelijken"),
    ],
)
def test_forms_of_one_word_are_one_term(language: str, words: str) -> None:
    assert len(Analysis(language).distinct_terms(words)) == 1


def test_without_a_language_words_stay_as_they_are() -> None:
    assert Analysis("none").distinct_terms("Houses house") == ["houses", "house"]


def test_stop_words_are_kept_unless_asked_otherwise() -> None:
    assert "the" in Analysis("english").distinct_terms("the house")
    assert "the" not in Analysis("english", True).distinct_terms("the house")


def test_composed_and_decomposed_letters_are_the_same() -> None:
    assert ids_of(make_index(), "Bu\u0308ro") == ["a"]


# --- ranking ---


def test_passages_with_any_term_are_ranked_best_first() -> None:
    assert ids_of(make_index(), "Ausweis zum Parken")[0] == "c"


def test_several_passages_of_a_document_come_back_as_such() -> None:
    assert ids_of(make_index(), "Parken Ausweis") == ["c", "c"]


def test_a_repeated_word_of_the_question_counts_once() -> None:
    once = make_index().search("Parken", 5)

    assert make_index().search("Parken Parken parken", 5) == once


def test_ties_keep_the_order_of_the_corpus() -> None:
    same = [Passage(f"d{number}", "", "same words") for number in range(30)]

    assert ids_of(make_index("english", same), "same", 12) == [f"d{n}" for n in range(12)]


def test_the_limit_is_kept() -> None:
    assert len(ids_of(make_index(), "Parken Ausweis das ist der", 1)) == 1


def test_a_question_of_unknown_words_finds_nothing() -> None:
    assert ids_of(make_index(), "Xylophon") == []


@pytest.mark.parametrize("question", ["", "   ", "\t\n", "?!", "🙂🙃", '"', "*", "~", ":", "-"])
def test_a_question_without_a_word_finds_nothing(question: str) -> None:
    assert ids_of(make_index(), question) == []


@pytest.mark.parametrize(
    "question",
    [
        '"Parken"',
        "Parken*",
        "Parken~2",
        "body:Parken",
        "-Parken",
        "NOT Parken",
        "Parken AND Xylophon",
        "Parken NEAR/2 Xylophon",
        "(Parken",
        "Parken)",
        "/Parken/",
        "+Parken -Parken",
    ],
)
def test_query_syntax_is_read_as_words(question: str) -> None:
    assert ids_of(make_index(), question)[:2] == ["c", "c"]


def test_a_question_of_one_character() -> None:
    index = make_index("none", [Passage("a", "", "x marks the spot")])

    assert ids_of(index, "x") == ["a"]


def test_a_question_of_ten_thousand_characters() -> None:
    long = " ".join(f"wort{number}" for number in range(1_300))
    assert len(long) > 10_000

    assert ids_of(make_index(), f"{long} Müll") == ["b"]


def test_a_single_word_of_ten_thousand_characters() -> None:
    assert ids_of(make_index(), "x" * 10_000) == []


def test_lone_surrogates_do_no_harm() -> None:
    index = make_index("none", [Passage("a", "", "broken \ud800 text")])

    assert ids_of(index, "text \udfff") == ["a"]


@given(st.text(max_size=300))
def test_any_text_can_be_asked(question: str) -> None:
    assert set(ids_of(INDEX, question)) <= {"a", "b", "c"}


INDEX = make_index()


def test_an_index_of_several_segments_ranks_the_same() -> None:
    analysis = Analysis("german")
    index = tantivy.Index(_schema())
    index.register_tokenizer("evalcli", analysis.analyzer)
    writer = index.writer(50_000_000, 1)
    for number, passage in enumerate(PASSAGES):
        document = tantivy.Document()
        document.add_text("body", passage.body)
        document.add_unsigned("number", number)
        writer.add_document(document)
        writer.commit()
    index.reload()
    assert index.searcher().num_segments > 1

    several = LexicalIndex(index, analysis, [passage.document_id for passage in PASSAGES])

    assert ids_of(several, "Parken Ausweis Müll") == ids_of(INDEX, "Parken Ausweis Müll")


# --- the cache ---


class CountedPassages:
    """Passages that count how often they are read."""

    def __init__(self) -> None:
        self.reads = 0

    def __call__(self) -> list[Passage]:
        self.reads += 1
        return PASSAGES


def test_an_index_is_built_once(tmp_path: Path) -> None:
    passages, folder = CountedPassages(), tmp_path / "lexical" / "key"

    first = open_index(folder, Analysis("german"), passages)
    second = open_index(folder, Analysis("german"), passages)

    assert passages.reads == 1
    assert second.search("Parken Müll", 5) == first.search("Parken Müll", 5)


@pytest.mark.parametrize("suffix", [".idx", ".term", ".fast", ".fieldnorm", ".json"])
@pytest.mark.parametrize("damage", ["gone", "cut", "flipped"])
def test_a_damaged_index_is_built_anew(
    tmp_path: Path, suffix: str, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    passages, folder = CountedPassages(), tmp_path / "lexical" / "key"
    open_index(folder, Analysis("german"), passages)
    for path in folder.iterdir():
        if path.suffix == suffix and not path.name.startswith("."):
            data = path.read_bytes()
            path.unlink()
            if damage == "cut":
                path.write_bytes(data[: len(data) // 2])
            elif damage == "flipped":
                path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))

    with caplog.at_level(logging.WARNING):
        index = open_index(folder, Analysis("german"), passages)

    assert passages.reads == 2
    assert ids_of(index, "Müll") == ["b"]


def test_what_a_reader_left_in_the_folder_of_a_damaged_index_is_no_obstacle(tmp_path: Path) -> None:
    building, folder = tmp_path / "building", tmp_path / "key"
    building.mkdir()
    (building / "manifest.json").write_text("{}")
    folder.mkdir()
    (folder / ".tantivy-meta.lock").touch()

    _publish(building, folder)

    assert [path.name for path in folder.iterdir()] == ["manifest.json"]


@pytest.mark.parametrize("manifest", [b"", b"\xff", b"null", b"[" * 100_000])
def test_an_index_with_a_damaged_manifest_is_built_anew(tmp_path: Path, manifest: bytes) -> None:
    passages, folder = CountedPassages(), tmp_path / "lexical" / "key"
    open_index(folder, Analysis("german"), passages)
    (folder / "manifest.json").write_bytes(manifest)

    index = open_index(folder, Analysis("german"), passages)

    assert passages.reads == 2
    assert ids_of(index, "Müll") == ["b"]


def test_several_builders_at_once_do_no_harm(tmp_path: Path) -> None:
    folder = tmp_path / "lexical" / "key"

    def work(_: int) -> list[str]:
        return ids_of(open_index(folder, Analysis("german"), lambda: PASSAGES), "Müll")

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(24)))

    assert found == [["b"]] * 24
    assert [path.name for path in folder.parent.iterdir()] == ["key"]


def test_a_cache_that_cannot_be_written_only_costs_time(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "cache").write_text("a file where a folder should be", encoding="utf-8")

    with caplog.at_level(logging.WARNING):
        index = open_index(tmp_path / "cache" / "key", Analysis("german"), lambda: PASSAGES)

    assert ids_of(index, "Müll") == ["b"]
    assert "is not kept" in caplog.text


def test_only_the_latest_indexes_are_kept(tmp_path: Path) -> None:
    for number in range(12):
        open_index(tmp_path / f"key{number}", Analysis("german"), lambda: PASSAGES)

    assert len(list(tmp_path.iterdir())) == 8


# --- as a retriever ---


@pytest.mark.anyio
async def test_a_changed_corpus_gets_an_index_of_its_own(tmp_path: Path) -> None:
    entry = {"type": "lexical", "corpus": {"jsonl": "corpus.jsonl"}, "language": "english"}
    write_documents(tmp_path, {"a": "opening hours"})
    before = open_declared(tmp_path, entry)
    await before.prepare()
    write_documents(tmp_path, {"b": "opening hours"})
    after = open_declared(tmp_path, entry)
    result = await after.show("opening", 5)

    assert before.provenance["corpus"] != after.provenance["corpus"]
    assert result.ranking is not None
    assert [document.id for document in result.ranking.documents] == ["b"]


@pytest.mark.anyio
async def test_an_unchanged_corpus_builds_nothing(tmp_path: Path) -> None:
    entry = {"type": "lexical", "corpus": {"jsonl": "corpus.jsonl"}, "language": "english"}
    write_documents(tmp_path, {"a": "opening hours"})
    await open_declared(tmp_path, entry).prepare()
    cache = tmp_path / ".evalcli" / "cache" / "lexical"
    before = {path: path.stat().st_mtime_ns for path in cache.glob("*/*.idx")}
    await open_declared(tmp_path, entry).prepare()

    assert {path: path.stat().st_mtime_ns for path in cache.glob("*/*.idx")} == before
    assert len(before) == 1
