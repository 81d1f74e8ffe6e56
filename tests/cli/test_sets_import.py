"""evalcli sets import: foreign collections become sets that run at once."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.support.retrieval import write_documents, write_jsonl
from tests.support.workspace import CliWorkspace

DOCUMENTS = {
    "007": "Opening hours of the office",
    "1e3": "Parking permits for residents",
    "234_0": "Garbage collection dates",
}


def write_beir(root: Path) -> Path:
    folder = root / "Town-Hall"
    rows = ({"_id": one, "title": "", "text": text} for one, text in DOCUMENTS.items())
    write_jsonl(folder / "corpus.jsonl", rows)
    queries = {"q1": "opening hours", "q2": "Where do I put my car?"}
    write_jsonl(
        folder / "queries.jsonl", ({"_id": one, "text": text} for one, text in queries.items())
    )
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\t007\t1\nq2\t1e3\t2\n", encoding="utf-8"
    )
    return folder


def declare(workspace: CliWorkspace, stdout: str) -> str:
    """Do what the command said: add the retriever, and give the command to run."""
    snippet = stdout.split("Add to evalcli.yaml:\n\n")[1].split("\n\nThen:")[0]
    assert "retrievers" in yaml.safe_load(snippet)
    workspace.write("evalcli.yaml", snippet)
    return stdout.split("Then: `evalcli ")[1].split("`")[0]


def test_beir_folder_runs_as_the_command_says(cli_workspace: CliWorkspace) -> None:
    folder = write_beir(cli_workspace.folder)

    imported = cli_workspace.run("sets", "import", "beir", str(folder), "--language", "english")

    assert imported.exit == 0
    assert "imported.town_hall: 2 questions." in imported.stdout
    assert "form was computed" in imported.stdout
    command = declare(cli_workspace, imported.stdout)
    assert cli_workspace.run("sets", "validate").exit == 0
    ran = cli_workspace.run(*command.split(), "--format", "json")
    assert ran.exit == 0
    rows = {row["id"]: row["question"] for row in ran.json["prompts"]}
    assert (rows["q1"]["form"], rows["q1"]["first_hit"]) == ("match", 1)
    assert rows["q2"]["form"] == "gap"
    assert rows["q2"]["expected"] == ["1e3"]


def test_plain_folder_keeps_its_labels(cli_workspace: CliWorkspace) -> None:
    folder = cli_workspace.folder / "source"
    write_documents(folder, DOCUMENTS)
    labels = {"expected": ["007"], "form": "gap", "hard_class": "rare"}
    write_jsonl(folder / "questions.jsonl", [{"id": "q1", "question": "Open?", **labels}])

    result = cli_workspace.run(
        "sets", "import", "beir", str(folder), "--identifier", "town.hall", "--name", "Town hall"
    )

    assert result.exit == 0
    shown = cli_workspace.run("sets", "show", "town.hall")
    assert "town.hall · Town hall · 1 question" in shown.stdout
    assert "q1   gap, rare" in shown.stdout
    assert cli_workspace.run("sets", "show", "town.hall", "--format", "json").json["set"][
        "questions"
    ][0]["expected"] == {"007": 1}


def test_csv_with_a_mapping_of_columns(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write(
        "faq.csv", "Nr;Frage;expected;Antwort\n1;Wann offen?;;Montags\n2;Wo parken?;;Im Hof\n"
    )

    imported = cli_workspace.run(
        "sets",
        "import",
        "csv",
        "faq.csv",
        "--delimiter",
        ";",
        "--column",
        "question=Frage",
        "--column",
        "id=Nr",
        "--column",
        "text=Antwort",
        "--column",
        "gist=Antwort",
    )

    assert imported.exit == 2
    assert "expected" in imported.output

    cli_workspace.write("faq.csv", "Nr;Frage;Antwort\n1;Wann offen?;Montags\n2;Wo parken?;Im Hof\n")
    imported = cli_workspace.run(
        *("sets", "import", "csv", "faq.csv", "--delimiter", ";", "--language", "german"),
        *("--column", "question=Frage", "--column", "id=Nr", "--column", "text=Antwort"),
    )
    assert imported.exit == 0, imported.output
    command = declare(cli_workspace, imported.stdout)
    assert cli_workspace.run(*command.split()).exit == 0


def test_columns_of_the_usual_names_need_no_mapping(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("faq.csv", "id,question,expected,form,hard_class\n007,Open?,a;b,gap,rare\n")

    imported = cli_workspace.run("sets", "import", "csv", "faq.csv")

    assert imported.exit == 0
    questions = cli_workspace.run("sets", "show", "imported.faq", "--format", "json").json["set"][
        "questions"
    ]
    assert [(one["id"], one["expected"], one["hard_class"]) for one in questions] == [
        ("007", {"a": 1, "b": 1}, "rare")
    ]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("beir", "nowhere"), "corpus.jsonl"),
        (("beir", "Town-Hall", "--split", "dev"), "name a split that is there: test"),
        (("beir", "Town-Hall", "--language", "germn"), 'write "german"'),
        (("beir", "Town-Hall", "--identifier", "Town Hall"), "no identifier"),
        (("csv", "nowhere.csv"), "nowhere.csv cannot be read"),
        (("csv", "faq.csv", "--column", "question"), "names no column"),
        (("csv", "faq.csv", "--column", "questoin=a"), 'write "question"'),
        (("csv", "faq.csv", "--column", "id=Nummer"), 'no column "Nummer"'),
        (("csv", "faq.csv", "--column", "id=a", "--column", "id=b"), "twice"),
        (("csv", "faq.csv", "--delimiter", ";;"), "one character"),
        (("csv", "faq.csv", "--delimiter", '"'), "one character"),
        (("csv", "faq.csv", "--delimiter", "\\t"), 'between its columns: --delimiter ","'),
        (("csv", "faq.csv", "--separator", ""), "the separator is empty"),
        (("csv", "faq.csv", "--identifier", "nr.manual"), '"nr.manual" is declared already'),
    ],
)
def test_what_cannot_be_imported_is_refused_and_nothing_is_written(
    cli_workspace: CliWorkspace, words: tuple[str, ...], told: str
) -> None:
    write_beir(cli_workspace.folder)
    cli_workspace.write("faq.csv", "id,question,expected\n1,Open?,a\n")

    result = cli_workspace.run("sets", "import", *words)

    assert result.exit == 2
    assert told in result.output
    assert not (cli_workspace.folder / "sets").exists()


def test_a_set_of_another_file_keeps_its_identifier(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("faq.csv", "question,expected\nOpen?,a\n")
    cli_workspace.run("sets", "import", "csv", "faq.csv")
    (cli_workspace.folder / "sets/imported_faq.yaml").rename(
        cli_workspace.folder / "sets/mine.yaml"
    )

    result = cli_workspace.run("sets", "import", "csv", "faq.csv", "--overwrite")

    assert result.exit == 2
    assert '"imported.faq" is declared already, in sets/mine.yaml' in result.output
    assert cli_workspace.run("sets", "show", "imported.faq").exit == 0


def test_a_folder_that_cannot_be_written_is_named(cli_workspace: CliWorkspace) -> None:
    cli_workspace.write("faq.csv", "question,expected\nOpen?,a\n")
    cli_workspace.write("sets", "a file\n")

    result = cli_workspace.run("sets", "import", "csv", "faq.csv")

    assert result.exit == 2
    assert "sets cannot be written: File exists" in result.output


def test_a_corpus_that_lies_where_it_is_written_to_stays(cli_workspace: CliWorkspace) -> None:
    folder = write_beir(cli_workspace.folder)
    written = cli_workspace.folder / "corpora" / "imported_town_hall.jsonl"
    written.parent.mkdir()
    written.hardlink_to(folder / "corpus.jsonl")

    result = cli_workspace.run("sets", "import", "beir", str(folder), "--overwrite")

    assert result.exit == 0, result.output
    assert written.read_bytes()


def test_files_that_are_there_are_kept_unless_told_otherwise(cli_workspace: CliWorkspace) -> None:
    folder = write_beir(cli_workspace.folder)
    words = ("sets", "import", "beir", str(folder))
    cli_workspace.run(*words)
    path = cli_workspace.folder / "sets" / "imported_town_hall.yaml"
    path.write_text("edited", encoding="utf-8")

    refused = cli_workspace.run(*words)
    kept = path.read_text(encoding="utf-8")
    overwritten = cli_workspace.run(*words, "--overwrite")

    assert (refused.exit, kept, overwritten.exit) == (2, "edited", 0)
    assert path.read_text(encoding="utf-8").startswith("kind: questions")


def test_schema_of_question_sets_is_printed(cli_workspace: CliWorkspace) -> None:
    schema = cli_workspace.run("sets", "schema", "--kind", "questions").json

    assert schema["title"] == "evalcli golden question set"
