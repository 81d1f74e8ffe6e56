"""evalcli eval retrieval: states, drops, classes, baselines over several runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.retrieval_site import RetrievalSite
from tests.support.workspace import CliResult, CliWorkspace

GATE = "--fail-on-regression"
TEN = [f"q{number:02}" for number in range(1, 11)]
DOCUMENTS = {"hours": "Opening hours of the office", "waste": "Garbage collection dates"}


@pytest.fixture
def site(cli_workspace: CliWorkspace) -> RetrievalSite:
    site = RetrievalSite(cli_workspace)
    site.ask({one: {"expected": [f"doc-{one}"]} for one in TEN})
    return site


def run_with(
    site: RetrievalSite, right: int, *words: str, ranks: Mapping[str, int] | None = None
) -> CliResult:
    """Run with so many questions hit at rank 1; `ranks` says otherwise for some."""
    answers = {}
    for place, one in enumerate(TEN):
        rank = (ranks or {}).get(one, 1 if place < right else 0)
        wrong = [f"other-{number}" for number in range(5)]
        if rank:
            wrong.insert(rank - 1, f"doc-{one}")
        answers[one] = wrong
    site.answer(answers)
    return site.run(*words)


def comparison(site: RetrievalSite) -> Any:
    return site.workspace.last_run()["comparison"]


def test_tolerated_drops_of_hit_rates_cannot_add_up(site: RetrievalSite) -> None:
    statuses = [run_with(site, right, GATE).exit for right in (10, 9, 8, 7, 8)]

    assert statuses == [0, 0, 1, 1, 1]


def test_both_rates_are_gated_by_their_own_limits(site: RetrievalSite) -> None:
    run_with(site, 10)
    second = dict.fromkeys(TEN[:3], 2)

    fallen = run_with(site, 10, GATE, ranks=second)
    tolerated = run_with(site, 10, GATE, "--max-top1-drop", "0.3", ranks=second)
    deeper = run_with(
        site, 10, GATE, "--max-top1-drop", "1", "--max-top3-drop", "0", ranks={"q01": 4}
    )

    assert [fallen.exit, tolerated.exit, deeper.exit] == [1, 0, 1]
    assert "the top-1 hit rate fell by 30.0 points, the limit is 10.0" in fallen.stdout
    assert "the top-3 hit rate fell by 10.0 points, the limit is 0.0 (--max-top3-drop)" in (
        deeper.stdout
    )


def test_limits_of_the_workspace_count_and_prompts_limits_do_not(site: RetrievalSite) -> None:
    site.declare({"site": site.entry()}, max_top1_drop=0.3, max_top3_drop=1, min_pass_rate=0.9)
    run_with(site, 10)

    within, beyond = run_with(site, 7, GATE), run_with(site, 6, GATE)

    assert [within.exit, beyond.exit] == [0, 1]
    assert "(eval.max_top1_drop)" in beyond.stdout


def test_floors_fail_with_and_without_the_flag(site: RetrievalSite) -> None:
    below = run_with(site, 8, "--min-top1-rate", "0.81")
    assert site.workspace.last_run()["verdict"]["word"] == "below_floor"
    equal = run_with(site, 8, "--min-top1-rate", "0.8", "--min-top3-rate", "0.8")

    assert [below.exit, equal.exit] == [1, 0]
    assert "BELOW THE FLOOR: the top-1 hit rate is 80.0 %, the floor is 81.0 %" in below.stdout


def test_a_class_that_falls_while_the_total_rises_is_caught_by_name(site: RetrievalSite) -> None:
    classes = {one: "near-duplicate" if place < 5 else "table" for place, one in enumerate(TEN)}
    site.ask({one: {"expected": [f"doc-{one}"], "hard_class": classes[one]} for one in TEN})
    run_with(site, 5)
    better = dict.fromkeys(TEN[5:9], 1) | {"q01": 2, "q02": 0}

    passed = run_with(site, 5, GATE, "--draft", ranks=better)
    caught = run_with(site, 5, GATE, "--max-class-drop", "0.1", ranks=better)

    assert passed.exit == 0
    assert "fallen class" in passed.stdout
    assert caught.exit == 1
    document = site.workspace.last_run()
    assert document["comparison"]["pass_rate_drop"] < 0
    findings = document["verdict"]["findings"]
    assert [finding["gate"] for finding in findings] == ["max_class_drop", "max_class_drop"]
    for finding, cutoff, drop in zip(findings, ("top-1", "top-3"), (0.4, 0.2), strict=True):
        assert f"{cutoff} hit rate of the class near-duplicate (5 questions)" in finding["message"]
        assert finding["actual"] == drop
        assert finding["message"] in caught.stdout
    assert document["baseline"]["move"] == "none"


def test_a_class_that_is_too_small_is_reported_and_not_gated(site: RetrievalSite) -> None:
    site.ask(
        {
            one: {"expected": [f"doc-{one}"], **({"hard_class": "rare"} if one in TEN[:4] else {})}
            for one in TEN
        }
    )
    run_with(site, 10)

    result = run_with(site, 10, GATE, "--max-class-drop", "0", ranks={"q01": 2})

    assert result.exit == 0
    assert "rare (4 questions, too few to be gated): top-1 100.0 % → 75.0 %" in result.stdout


def test_questions_won_and_lost_are_named_with_their_ranks(site: RetrievalSite) -> None:
    run_with(site, 10, ranks={"q01": 4, "q02": 2})
    before = site.workspace.last_run()["run"]["id"]

    result = run_with(site, 10, ranks={"q03": 4, "q04": 0, "q02": 3})
    after = site.workspace.last_run()["run"]["id"]
    compared = site.workspace.run("history", "compare", before, after)

    assert "q03 (1 → 4), q04 (1 → none of 10)" in result.stdout
    assert "q01 (4 → 1)" in result.stdout
    assert "q03   1 → 4   gap" in compared.stdout
    assert "q01   4 → 1   gap" in compared.stdout
    assert "Lost: 2 questions" in compared.stdout
    assert "doc-q03" in compared.stdout
    assert "other-0, other-1, other-2 and 2 more" in compared.stdout
    changes = comparison(site)["rank_changes"]
    assert changes[0] == {"id": "q03", "is_lost": True, "before": "1", "after": "4"}


def test_model_chunking_and_pipeline_are_named_and_compared(site: RetrievalSite) -> None:
    revisions = {"corpus": "r1", "model": "m1", "chunking": "c1", "pipeline": "p1"}
    site.declare({"site": site.entry(revisions=revisions)})
    run_with(site, 10)
    changed = {**revisions, "model": "m2", "chunking": "c2", "pipeline": "p2"}
    site.declare({"site": site.entry(revisions=changed, min_score=0)})
    site.answer({one: [{"id": f"doc-{one}", "score": 1}] for one in TEN})

    result = site.run(GATE)

    assert result.exit == 0
    assert comparison(site)["state"] == "comparable"
    for change in (
        "model m1 → m2",
        "chunking c1 → c2",
        "pipeline p1 → p2",
        "min_score not set → 0",
    ):
        assert change in result.stdout


def test_another_corpus_is_a_mismatch_that_names_it(site: RetrievalSite) -> None:
    run_with(site, 10)
    site.declare({"site": site.entry(revisions={"corpus": "r2"})})

    first, second = run_with(site, 10, GATE), run_with(site, 10)

    assert [first.exit, second.exit] == [1, 0]
    assert "(r1 → r2)" in first.stdout
    assert comparison(site)["state"] == "mismatch"
    assert site.workspace.run("baseline", "accept", "latest").exit == 0
    assert run_with(site, 10, GATE).exit == 0


def test_another_corpus_is_named_and_compared_where_the_entry_says_so(site: RetrievalSite) -> None:
    site.declare({"site": site.entry(corpus_change="compare")})
    run_with(site, 10)
    site.declare({"site": site.entry(corpus_change="compare", revisions={"corpus": "r2"})})

    good, bad = run_with(site, 10, GATE), run_with(site, 7, GATE)

    assert [good.exit, bad.exit] == [0, 1]
    assert "corpus r1 → r2" in good.stdout
    assert comparison(site)["state"] == "comparable"


@pytest.mark.parametrize("corpus", ["r1", "r2"])
def test_corpus_change_can_be_said_when_there_is_a_baseline_already(
    site: RetrievalSite, corpus: str
) -> None:
    run_with(site, 10)
    site.declare({"site": site.entry(corpus_change="compare", revisions={"corpus": corpus})})

    good, bad = run_with(site, 10, GATE), run_with(site, 7, GATE)

    assert [good.exit, bad.exit] == [0, 1]
    assert comparison(site)["state"] == "comparable"


def test_corpus_change_can_be_taken_back_over_the_same_corpus(site: RetrievalSite) -> None:
    site.declare({"site": site.entry(corpus_change="compare")})
    run_with(site, 10)

    site.declare({"site": site.entry()})
    same = run_with(site, 10, GATE)
    site.declare({"site": site.entry(revisions={"corpus": "r2"})})
    other = run_with(site, 10, GATE)

    assert [same.exit, other.exit] == [0, 1]
    assert "(r1 → r2)" in other.stdout


def test_corpus_change_hides_no_edited_label(site: RetrievalSite) -> None:
    run_with(site, 10)
    site.declare({"site": site.entry(corpus_change="compare")})
    site.ask({one: {"expected": [f"doc-{one}", *(["x"] if one == "q01" else [])]} for one in TEN})

    result = run_with(site, 10, GATE)

    assert result.exit == 1
    assert "1 question of the baseline" in result.stdout
    assert "(q01: labels or corpus)" in result.stdout


def test_a_corpus_file_that_changes_or_goes_is_a_mismatch(cli_workspace: CliWorkspace) -> None:
    site = RetrievalSite(cli_workspace)
    for name in ("hours", "waste"):
        cli_workspace.write(f"docs/{name}.md", DOCUMENTS[name])
    site.declare({"site": {"type": "lexical", "corpus": {"files": "docs/*.md"}}})
    site.ask({"hours": {"expected": ["docs/hours.md"]}})
    runs = [site.run(GATE)]
    cli_workspace.write("docs/waste.md", "Garbage collection dates, on Fridays")
    runs.append(site.run(GATE))
    cli_workspace.write("docs/waste.md", DOCUMENTS["waste"])
    runs.append(site.run(GATE))
    (cli_workspace.folder / "docs/waste.md").unlink()
    runs.append(site.run(GATE))

    assert [run.exit for run in runs] == [0, 1, 0, 1]
    for changed in (runs[1], runs[3]):
        assert "the corpus is another one" in changed.stdout


@pytest.mark.parametrize(
    ("labels", "word"),
    [
        ({"expected": ["doc-q01", "doc-x"]}, "labels or corpus"),
        ({"expected": ["doc-q01"], "form": "match"}, "labels or corpus"),
        ({"expected": ["doc-q01"], "hard_class": "new"}, "labels or corpus"),
        ({"expected": ["doc-q01"], "question": "q01? Please!"}, "question"),
    ],
)
def test_a_changed_label_is_a_mismatch_until_it_is_accepted(
    site: RetrievalSite, labels: dict[str, object], word: str
) -> None:
    run_with(site, 10)
    site.ask({one: labels if one == "q01" else {"expected": [f"doc-{one}"]} for one in TEN})

    first = run_with(site, 10, GATE)
    accepted = site.workspace.run("baseline", "accept", "latest")
    second = run_with(site, 10, GATE)

    assert [first.exit, accepted.exit, second.exit] == [1, 0, 0]
    assert "1 question of the baseline" in first.stdout
    assert f"(q01: {word})" in first.stdout


def test_order_and_gist_are_not_measured(site: RetrievalSite) -> None:
    run_with(site, 10)
    site.ask({one: {"expected": [f"doc-{one}"], "gist": "In short."} for one in reversed(TEN)})

    assert run_with(site, 10, GATE).exit == 0
    assert comparison(site)["state"] == "comparable"


def test_without_a_corpus_revision_nothing_is_compared(site: RetrievalSite) -> None:
    site.declare({"site": site.entry(revisions={})})

    first, second = run_with(site, 10), run_with(site, 10, GATE)

    assert [first.exit, second.exit] == [0, 1]
    assert comparison(site)["state"] == "unknown"
    assert "declare `revisions: {corpus: …}`" in second.stdout


def test_each_retriever_is_a_series_of_its_own(site: RetrievalSite) -> None:
    site.declare({"site": site.entry(), "other": site.entry()})
    run_with(site, 10)

    result = site.workspace.run("eval", "retrieval", "help.search", "other", GATE)

    assert result.exit == 0
    assert "This set has runs on other targets (site)" in result.stdout
    shown = site.workspace.run("baseline", "show", "help.search", "--configuration", "site")
    assert "q01   hit at 1" in shown.stdout
    assert "Top-1      100.0 %" in shown.stdout


def test_baseline_file_keeps_a_retrieval_regression_red(site: RetrievalSite) -> None:
    run_with(site, 10)
    exported = site.workspace.run("baseline", "export", "help.search")
    site.workspace.write("baselines/help.json", exported.stdout)
    (site.workspace.folder / ".evalcli" / "history.db").unlink()
    words = ("--baseline", "baselines/help.json", GATE)

    runs = [run_with(site, 8, *words), run_with(site, 8, *words), run_with(site, 10, *words)]

    assert [run.exit for run in runs] == [1, 1, 0]
    assert "q09 (1 → none of 10), q10 (1 → none of 10)" in runs[0].stdout
    assert "evalcli baseline export help.search --configuration site" in runs[0].stdout


def test_required_and_previous_baselines_and_drafts(site: RetrievalSite) -> None:
    assert run_with(site, 10, "--require-baseline").exit == 1
    assert site.workspace.run("baseline", "accept", "latest").exit == 0
    assert run_with(site, 10, "--require-baseline").exit == 0
    assert run_with(site, 7, "--draft").exit == 0
    assert run_with(site, 7).exit == 0
    assert run_with(site, 7, GATE, "--baseline", "previous").exit == 0
    assert run_with(site, 7, GATE).exit == 1


def test_only_chosen_questions_are_asked_and_compared(site: RetrievalSite) -> None:
    run_with(site, 10)

    good = run_with(site, 10, GATE, "--only", "q01", "--only", "q02")
    bad = run_with(site, 0, GATE, "--only", "q01")

    assert [good.exit, bad.exit] == [0, 1]
    assert comparison(site)["state"] == "partial"
    assert site.workspace.last_run()["summary"]["prompts"] == 1


def test_runs_of_both_kinds_are_listed_together(cli_workspace: CliWorkspace) -> None:
    site = RetrievalSite(cli_workspace)
    site.ask({one: {"expected": [f"doc-{one}"]} for one in TEN})
    run_with(site, 9)
    alone = cli_workspace.run("history", "list").stdout
    provider = {"type": "openai", "base_url": f"{cli_workspace.server.url}/v1"}
    config = {
        "providers": {"main": provider},
        "configurations": {"bot": {"model": "model-a"}},
        "eval": {"configuration": "bot"},
        "retrievers": {"site": site.entry()},
    }
    cli_workspace.write("evalcli.yaml", json.dumps(config))
    cli_workspace.write_set("one.smoke", ["a"])
    cli_workspace.answer(right=["a"])
    assert cli_workspace.run("eval", "run", "one.smoke").exit == 0

    both = cli_workspace.run("history", "list").stdout

    assert "top-1" in alone.splitlines()[0]
    assert "90.0 %" in alone
    assert "90.0 % @1" in both
    assert "100.0 %" in both


def test_figures_can_be_asked_for_in_sql(site: RetrievalSite) -> None:
    import sqlite3

    site.ask(
        {
            one: {"expected": [f"doc-{one}"], "form": "match" if place % 2 else "gap"}
            for place, one in enumerate(TEN)
        }
    )
    run_with(site, 8, ranks={"q01": 2})

    connection = sqlite3.connect(site.workspace.folder / ".evalcli" / "history.db")
    rows = connection.execute(
        "SELECT row_group, name, questions, top1_rate, top3_rate, mean_reciprocal_rank "
        "FROM retrieval_rates ORDER BY row_group, name"
    ).fetchall()
    connection.close()

    assert rows == [
        ("all", "all", 10, 0.7, 0.8, 0.75),
        ("form", "gap", 5, 0.6, 0.8, 0.7),
        ("form", "match", 5, 0.8, 0.8, 0.8),
    ]
