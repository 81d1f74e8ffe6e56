"""What programs read of a run of questions: in the published shape, with every figure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft202012Validator

from evalcli.errors import ExitStatus
from evalcli.records import Ranking, RetrievedDocument, RetrieverReply, RunOutcome
from evalcli.reports.json_report import comparison_document, dump_document, run_document
from evalcli.reports.junit_report import render_junit
from evalcli.reports.retrieval_json import SCHEMA_VERSION, reply_document
from tests.support import question_outcomes
from tests.support.outcomes import HOSTILE
from tests.support.question_outcomes import QUESTION_OUTCOMES

_SCHEMA = json.loads(
    (Path(__file__).parents[3] / "docs" / "schemas" / "run_report.schema.json").read_text("utf-8")
)
_OPEN = ("settings", "hits", "hit_rates", "mean_recall", "recall")


def closed(schema: object) -> object:
    """Forbid fields that the schema does not describe: a new field needs its description."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    shaped = {key: closed(part) for key, part in schema.items()}
    if "properties" in shaped and shaped.get("type") == "object":
        shaped["additionalProperties"] = False
    return shaped


def check(document: Mapping[str, object], definition: str) -> None:
    schema = closed(_SCHEMA)
    assert isinstance(schema, dict)
    reference = {"$ref": f"#/$defs/{definition}", "$defs": schema["$defs"]}
    written = json.loads(dump_document(document))
    errors = list(Draft202012Validator(reference).iter_errors(written))
    assert not errors, errors[0]


@pytest.mark.parametrize("make", QUESTION_OUTCOMES.values(), ids=QUESTION_OUTCOMES.keys())
def test_every_run_of_questions_has_the_published_shape(make: Callable[[], RunOutcome]) -> None:
    check(run_document(make(), exit_status=ExitStatus.OK), "run_report")


def test_two_runs_of_questions_have_the_published_shape() -> None:
    pair = (question_outcomes.first_questions(), question_outcomes.class_regression())
    check(comparison_document(*pair), "run_comparison")


def test_reply_of_a_retriever_has_the_published_shape() -> None:
    documents = (RetrievedDocument("a", 1.5, HOSTILE), RetrievedDocument("b"))
    ranking = Ranking(documents, returned=3, repeated=1, latency_ms=0.12345)
    reply = RetrieverReply("site", HOSTILE, ranking, {"b": "A passage"}, ("a note",))

    document = reply_document(reply)

    check(document, "retriever_reply")
    assert document["latency_ms"] == 0.123
    shown = document["ranking"]
    assert isinstance(shown, dict)
    assert [one["text"] for one in shown["documents"]] == [HOSTILE, "A passage"]


def test_versions_of_both_modules_are_one() -> None:
    from evalcli.reports import json_report

    assert SCHEMA_VERSION == json_report.SCHEMA_VERSION


def test_figures_of_all_groups_are_there() -> None:
    document = run_document(question_outcomes.first_questions())
    retrieval = document["retrieval"]
    assert isinstance(retrieval, dict)
    rows = retrieval["rows"]
    assert [(row["group"], row["name"], row["questions"]) for row in rows] == [
        ("all", "all", 48),
        ("form", "match", 23),
        ("form", "gap", 25),
        ("hard_class", "near-duplicate", 9),
        ("hard_class", "unanswerable", 1),
    ]
    assert rows[0]["hits"] == {"1": 43, "3": 45, "5": 46, "10": 46}
    assert rows[0]["hit_rates"]["1"] == 43 / 48
    assert rows[4]["mean_reciprocal_rank"] is None
    assert rows[4]["mean_recall"] == {}


def test_each_question_has_its_labels_rank_and_ranking() -> None:
    prompts = run_document(question_outcomes.first_questions())["prompts"]
    assert isinstance(prompts, list)
    by_id = {row["id"]: row for row in prompts}
    question = by_id["dialogforum"]["question"]
    assert (question["expected"], question["first_hit"]) == (["234_0", "309_0"], 2)
    assert (question["top1"], question["top3"], question["reciprocal_rank"]) == (False, True, 0.5)
    assert by_id["dialogforum"]["latency_ms"] == 2.5
    assert [one["id"] for one in by_id["dialogforum"]["ranking"]["documents"]][:2] == [
        "301_0",
        "234_0",
    ]


def test_unmeasured_question_has_nulls() -> None:
    prompts = run_document(question_outcomes.questions_unmeasured())["prompts"]
    assert isinstance(prompts, list)
    last = prompts[-1]
    assert (last["passed"], last["question"], last["ranking"]) == (None, None, None)
    assert last["error"]["status"] == 503


def test_lost_won_and_fallen_are_in_the_comparison() -> None:
    document = run_document(question_outcomes.class_regression())
    comparison, verdict = document["comparison"], document["verdict"]
    assert isinstance(comparison, dict)
    assert isinstance(verdict, dict)
    assert comparison["rank_changes"][0] == {
        "id": "umzug-melden",
        "is_lost": True,
        "before": "1",
        "after": "none of 10",
    }
    fallen = [drop for drop in comparison["class_drops"] if drop["drop"] > 0]
    assert [(one["class"], one["cutoff"], one["is_gated"]) for one in fallen] == [
        ("near-duplicate", 1, True),
        ("near-duplicate", 3, True),
    ]
    assert [finding["gate"] for finding in verdict["findings"]] == ["max_class_drop"] * 2


def test_prompt_runs_have_no_fields_of_questions() -> None:
    from tests.support.outcomes import first_run

    document = run_document(first_run())
    prompts = document["prompts"]
    assert isinstance(prompts, list)
    assert "retrieval" not in document
    assert not {"question", "ranking"} & set(prompts[0])


def test_junit_has_a_case_a_question_with_its_time() -> None:
    root = ET.fromstring(render_junit(question_outcomes.first_questions()))  # noqa: S314 - our own
    suite = root[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("time")) == ("49", "5", "0.118")
    (missed,) = (case for case in suite if case.get("name") == "parkausweis")
    failure = missed.find("failure")
    assert failure is not None
    assert failure.get("message") == "wanted 77_1 or 77_2, got nothing"
