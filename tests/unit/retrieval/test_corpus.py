"""Corpora from real files: what is read, what a revision means, what is refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from evalcli.declarations.retriever import FilesCorpus, JsonlCorpus
from evalcli.errors import ConfigurationError, DeclarationError
from evalcli.retrieval.corpus import Passage, find_texts, open_corpus
from tests.support.retrieval import write_documents, write_jsonl


def write(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def files(*patterns: str, **options: object) -> FilesCorpus:
    return FilesCorpus.model_validate({"files": list(patterns), **options})


def read(declared: FilesCorpus | JsonlCorpus, root: Path) -> list[Passage]:
    return list(open_corpus(declared, root).read_passages())


def faults_of(declared: FilesCorpus | JsonlCorpus, root: Path) -> list[str]:
    with pytest.raises(DeclarationError) as caught:
        read(declared, root)
    return [str(fault) for fault in caught.value.faults]


# --- files ---


def test_files_are_documents_by_path(tmp_path: Path) -> None:
    write(tmp_path, "docs/b.md", "Second.")
    write(tmp_path, "docs/a/deep.md", "First.")
    write(tmp_path, "docs/c.txt", "Not asked for.")

    assert read(files("docs/**/*.md"), tmp_path) == [
        Passage("docs/a/deep.md", "", "First."),
        Passage("docs/b.md", "", "Second."),
    ]


def test_chunks_by_heading_are_passages_of_their_file(tmp_path: Path) -> None:
    write(tmp_path, "docs/a.md", "# One\n\nx\n\n## Two\n\ny\n")

    passages = read(files("docs/*.md", chunk="heading"), tmp_path)

    assert [(one.document_id, one.title) for one in passages] == [
        ("docs/a.md", "One"),
        ("docs/a.md", "One › Two"),
    ]


def test_chunks_can_be_documents_of_their_own(tmp_path: Path) -> None:
    write(tmp_path, "docs/a.md", "Top.\n\n# One\n\nx\n")

    passages = read(files("docs/*.md", chunk="heading", ids="chunk"), tmp_path)

    assert [one.document_id for one in passages] == ["docs/a.md", "docs/a.md#one"]


def test_chunks_by_size(tmp_path: Path) -> None:
    write(tmp_path, "a.txt", "word " * 40)

    declared = files("*.txt", chunk={"size": 60, "overlap": 10}, ids="chunk")

    assert [one.document_id for one in read(declared, tmp_path)] == [
        f"a.txt#{number}" for number in range(1, 5)
    ]


def test_hidden_and_excluded_files_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "x")
    write(tmp_path, ".venv/b.md", "x")
    write(tmp_path, "drafts/c.md", "x")

    declared = files("**/*.md", exclude=["drafts/**/*.md"])

    assert [one.document_id for one in read(declared, tmp_path)] == ["a.md"]


def test_hidden_files_can_be_named(tmp_path: Path) -> None:
    write(tmp_path, ".notes/b.md", "x")

    assert [one.document_id for one in read(files(".notes/*.md"), tmp_path)] == [".notes/b.md"]


def test_a_link_out_of_the_workspace_is_refused(tmp_path: Path) -> None:
    outside = write(tmp_path, "outside/secret.md", "x")
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "link.md").symlink_to(outside)

    with pytest.raises(ConfigurationError, match=r"link\.md leads out of the workspace"):
        open_corpus(files("*.md"), tmp_path / "inside")


def test_files_whose_names_differ_in_composition_only_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "caf\u00e9.md", "x")
    write(tmp_path, "cafe\u0301.md", "y")
    if len(list(tmp_path.iterdir())) == 1:
        return  # a file system that takes both names for one cannot mix them up

    with pytest.raises(ConfigurationError, match="two files are called café"):
        open_corpus(files("*.md"), tmp_path)


def test_a_pattern_without_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"no file matches docs/\*\.md"):
        open_corpus(files("docs/*.md"), tmp_path)


def test_a_file_in_latin_1_is_named_with_line_and_column(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes("# Anfahrt\n\nStraße ä\n".encode("latin-1"))

    with pytest.raises(DeclarationError) as caught:
        open_corpus(files("*.md"), tmp_path)

    assert str(caught.value.faults[0]) == "a.md:3:5: is not UTF-8 from here on; save it as UTF-8"


def test_an_empty_file_is_named_and_no_document(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "x")
    write(tmp_path, "empty.md", " \n")

    corpus = open_corpus(files("*.md"), tmp_path)

    assert corpus.notes == ("empty.md is empty, so it is no document",)
    assert [one.document_id for one in corpus.read_passages()] == ["a.md"]


def test_a_corpus_of_empty_files_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "\n")

    with pytest.raises(ConfigurationError, match="holds no text"):
        open_corpus(files("*.md"), tmp_path)


def test_the_revision_of_files_depends_on_paths_and_texts_not_on_chunks(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "# x\n\ny\n")
    before = open_corpus(files("*.md"), tmp_path)
    chunked = open_corpus(files("*.md", chunk="heading"), tmp_path)
    write(tmp_path, "a.md", "# x\n\nz\n")
    after = open_corpus(files("*.md"), tmp_path)

    assert before.revision == chunked.revision
    assert before.chunking != chunked.chunking
    assert before.revision != after.revision


def test_line_ends_and_a_byte_order_mark_do_not_change_the_revision(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"one\ntwo\n")
    before = open_corpus(files("*.md"), tmp_path).revision
    (tmp_path / "a.md").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")

    assert open_corpus(files("*.md"), tmp_path).revision == before


def test_a_file_that_changes_while_it_is_read_is_noticed(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "x")
    corpus = open_corpus(files("*.md"), tmp_path)
    write(tmp_path, "a.md", "y")

    with pytest.raises(DeclarationError) as caught:
        list(corpus.read_passages())

    assert "was changed while it was read" in caught.value.faults[0].message


def test_a_file_that_was_deleted_is_named(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "x")
    corpus = open_corpus(files("*.md"), tmp_path)
    (tmp_path / "a.md").unlink()

    with pytest.raises(ConfigurationError, match=r"a\.md does not exist"):
        list(corpus.read_passages())


# --- JSONL ---

ODD_IDS = ["234_0", "007", "1e3", "null", "yes", "2026-11-30", "ä ö", "x" * 500]


def test_ids_in_jsonl_keep_their_source_text(tmp_path: Path) -> None:
    write_documents(tmp_path, dict.fromkeys(ODD_IDS, "text"))

    passages = read(JsonlCorpus(jsonl="corpus.jsonl"), tmp_path)

    assert [one.document_id for one in passages] == ODD_IDS


def test_a_number_as_id_keeps_its_characters(tmp_path: Path) -> None:
    write(tmp_path, "c.jsonl", '{"id": 1e3, "text": "x"}\n{"id": 1.0, "text": "x"}\n')

    passages = read(JsonlCorpus(jsonl="c.jsonl"), tmp_path)

    assert [one.document_id for one in passages] == ["1e3", "1.0"]


def test_a_packed_file_has_the_revision_of_what_is_in_it(tmp_path: Path) -> None:
    rows = [{"_id": "a", "title": "T", "text": "x"}]
    write_jsonl(tmp_path / "c.jsonl", rows)
    write_jsonl(tmp_path / "c.jsonl.gz", rows)

    plain = open_corpus(JsonlCorpus(jsonl="c.jsonl"), tmp_path)
    packed = open_corpus(JsonlCorpus(jsonl="c.jsonl.gz"), tmp_path)

    assert plain.revision == packed.revision
    assert list(packed.read_passages()) == [Passage("a", "T", "x")]


def test_passages_of_one_document_go_by_the_named_field(tmp_path: Path) -> None:
    rows = [
        {"id": "1_0", "document": "1", "text": "x"},
        {"id": "1_1", "document": "1", "text": "y"},
    ]
    write_jsonl(tmp_path / "c.jsonl", rows)

    passages = read(JsonlCorpus(jsonl="c.jsonl", document="document"), tmp_path)

    assert [one.document_id for one in passages] == ["1", "1"]


def test_all_faults_of_a_jsonl_file_are_named_with_their_lines(tmp_path: Path) -> None:
    lines = [
        b'{"id": "a", "text": "x"}',
        b"no json",
        b"[1]",
        b'{"id": "", "text": "x"}',
        b'{"id": null, "text": "x"}',
        b'{"text": "x"}',
        b'{"id": "b"}',
        b'{"id": "c", "text": 7}',
        b'{"id": "a", "text": "again"}',
        b'{"id": "d", "text": "\xe4"}',
    ]
    (tmp_path / "c.jsonl").write_bytes(b"\n".join(lines))

    found = faults_of(JsonlCorpus(jsonl="c.jsonl"), tmp_path)

    assert [fault.split(": ", 1)[0] for fault in found] == [
        "c.jsonl:2:1",
        "c.jsonl:3:1",
        "c.jsonl:4:1",
        "c.jsonl:5:1",
        "c.jsonl:6:1",
        "c.jsonl:7:1",
        "c.jsonl:8:1",
        "c.jsonl:9:1",
        "c.jsonl:10:22",
    ]
    assert '"a" is used twice, first at line 1' in found[7]


def test_an_empty_jsonl_file_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "c.jsonl", "\n\n")

    assert faults_of(JsonlCorpus(jsonl="c.jsonl"), tmp_path) == ["c.jsonl:1:1: holds no document"]


def test_a_missing_jsonl_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"gone\.jsonl does not exist"):
        open_corpus(JsonlCorpus(jsonl="gone.jsonl"), tmp_path)


def test_a_broken_gzip_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(b'{"id": "a"}\n' * 1000)[:40])

    with pytest.raises(ConfigurationError, match="packed, but broken"):
        open_corpus(JsonlCorpus(jsonl="c.jsonl.gz"), tmp_path)


def test_texts_are_found_for_people(tmp_path: Path) -> None:
    write_documents(tmp_path, {"a": "alpha", "b": "beta"})
    corpus = open_corpus(JsonlCorpus(jsonl="corpus.jsonl"), tmp_path)

    assert find_texts(corpus, ["b", "ghost"]) == {"b": "beta"}


def test_passage_that_fits_the_question_is_shown(tmp_path: Path) -> None:
    (tmp_path / "start.md").write_text("# Start\n\nHello.\n\n## Umzug\n\nWohnsitze anmelden.\n")
    corpus = open_corpus(FilesCorpus(files=("*.md",), chunk="heading", ids="file"), tmp_path)

    assert find_texts(corpus, ["start.md"]) == {"start.md": "Start\nHello."}
    fitting = find_texts(corpus, ["start.md"], "Wo melde ich den Wohnsitz an?")
    assert "Wohnsitze anmelden" in fitting["start.md"]
