"""What every store of runs and baselines must do, whatever database is behind it.

A new store adds a line to `STORES`; it must pass what SQLite passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Literal, Protocol

import pytest
from hypothesis import HealthCheck, given, settings

from evalcli.errors import HistoryError, UsageError
from evalcli.history.store import History
from evalcli.records import (
    Baseline,
    BaselineMove,
    Comparison,
    ComparisonState,
    Run,
    RunStatus,
    TrialState,
    Verdict,
    VerdictWord,
)
from tests.support.builders import (
    STARTED_AT,
    make_answer,
    make_baseline,
    make_outcome,
    make_run,
    make_summary,
    make_trial,
    make_unmeasured_trial,
)
from tests.support.question_outcomes import (
    class_regression,
    hostile_questions,
    questions_unmeasured,
)
from tests.support.record_strategies import any_text

Content = Literal["full", "metadata"]


class Opener(Protocol):
    """Opens the store of a test once more, as another process would."""

    def __call__(self, *, content: Content = "full") -> History: ...


def _open_sqlite(folder: Path, content: Content) -> History:
    return History.open(folder / "history.db", content=content, busy_timeout_s=5)


STORES: dict[str, Callable[[Path, Content], History]] = {"sqlite": _open_sqlite}


@pytest.fixture(params=STORES)
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    with ExitStack() as stack:

        def open_it(*, content: Content = "full") -> History:
            return stack.enter_context(STORES[request.param](tmp_path, content))

        yield open_it


@pytest.fixture
def store(open_store: Opener) -> History:
    return open_store()


def finish(
    store: History,
    run: Run,
    passed: tuple[bool, ...] = (True,),
    *,
    state: ComparisonState = ComparisonState.BASELINE,
) -> Run:
    """Store a complete run whose prompts passed as said."""
    store.start_run(replace(run, status=RunStatus.RUNNING, finished_at=None))
    trials = [make_trial(p.prompt_id, passed=ok) for p, ok in zip(run.plan, passed, strict=True)]
    for trial in trials:
        store.save_trial(run.run_id, trial)
    store.finish_run(run, make_summary(run, trials), Comparison(state), Verdict(VerdictWord.PASSED))
    return run


def baseline_of(run: Run, grader: str = "deterministic") -> Baseline:
    """Make the baseline of a run whose prompts all passed."""
    trials = [make_trial(planned.prompt_id) for planned in run.plan]
    return replace(make_baseline(run, trials, baseline_id=None), grader=grader)


def numbered(count: int) -> list[Run]:
    """Make runs that start an hour after each other."""
    return [
        make_run(run_id=f"{number:08x}", started_at=STARTED_AT + timedelta(hours=number))
        for number in range(count)
    ]


class TestRuns:
    """Storing runs and reading them back."""

    def test_a_finished_run_comes_back(self, store: History) -> None:
        run = finish(store, make_run(["b", "a"]), (True, False))
        assert store.find_run("91c2") == run

    def test_what_a_run_leaves_out_comes_back(self, store: History) -> None:
        run = replace(make_run(), skipped={"z": "later", "a": ""}, ungraded=("q",))
        assert finish(store, run) == store.find_run("91c2")
        assert list(store.find_run("91c2").skipped) == ["z", "a"]

    def test_trials_come_in_the_order_of_the_plan(self, store: History) -> None:
        store.start_run(make_run(["b", "a"], trials=2))
        for prompt_id, number in (("a", 1), ("b", 1), ("a", 0), ("b", 0)):
            store.save_trial("91c2", make_trial(prompt_id, trial=number))
        found = [(trial.prompt_id, trial.trial) for trial in store.load_trials("91c2")]
        assert found == [("b", 0), ("b", 1), ("a", 0), ("a", 1)]

    def test_a_trial_is_there_for_everyone_once_it_is_saved(
        self, store: History, open_store: Opener
    ) -> None:
        store.start_run(make_run())
        trial = make_trial()
        store.save_trial("91c2", trial)
        assert open_store().load_trials("91c2") == (trial,)

    def test_a_resumed_prompt_takes_the_place_of_the_unmeasured_one(self, store: History) -> None:
        store.start_run(make_run())
        store.save_trial("91c2", make_unmeasured_trial())
        store.save_trial("91c2", make_trial())
        assert [trial.state for trial in store.load_trials("91c2")] == [TrialState.GRADED]

    def test_a_graded_trial_is_never_overwritten(self, store: History) -> None:
        store.start_run(make_run())
        store.save_trial("91c2", make_trial())
        with pytest.raises(ValueError, match="graded already"):
            store.save_trial("91c2", make_unmeasured_trial())
        assert [trial.state for trial in store.load_trials("91c2")] == [TrialState.GRADED]

    def test_the_end_of_a_run_comes_back(self, store: History) -> None:
        before = make_run(run_id="5be0")
        outcome = make_outcome(make_run(), [make_trial(passed=False)], baseline=baseline_of(before))
        store.start_run(make_run())
        store.finish_run(
            outcome.run,
            outcome.summary,
            outcome.comparison,
            outcome.verdict,
            baseline_move=BaselineMove.EXTENDED,
            baseline_note="one prompt was added",
        )
        stored = store.load_outcome("91c2")
        assert stored is not None
        assert (stored.comparison, stored.verdict) == (outcome.comparison, outcome.verdict)
        assert stored.baseline_move is BaselineMove.EXTENDED
        assert stored.baseline_note == "one prompt was added"

    def test_what_became_of_the_baseline_can_be_noted_later(self, store: History) -> None:
        finish(store, make_run())
        store.note_baseline_move("91c2", BaselineMove.SET, "the first run")
        stored = store.load_outcome("91c2")
        assert stored is not None
        assert (stored.baseline_move, stored.baseline_note) == (BaselineMove.SET, "the first run")

    def test_a_run_under_way_has_no_end(self, store: History) -> None:
        store.start_run(make_run())
        assert store.load_outcome("91c2") is None

    def test_a_resumed_run_forgets_its_end_and_keeps_its_trials(self, store: History) -> None:
        run = finish(store, make_run())
        store.resume_run(replace(run, status=RunStatus.RUNNING))
        assert store.load_outcome("91c2") is None
        assert len(store.load_trials("91c2")) == 1

    def test_a_run_that_was_not_started_cannot_end(self, store: History) -> None:
        run = make_run()
        with pytest.raises(ValueError, match="not started"):
            store.finish_run(
                run,
                make_summary(run, [make_trial()]),
                Comparison(ComparisonState.BASELINE),
                Verdict(VerdictWord.PASSED),
            )

    def test_new_ids_are_not_taken(self, store: History) -> None:
        ids = {store.new_run_id() for _ in range(50)}
        assert len(ids) == 50
        assert all(len(i) == 8 and set(i) <= set("0123456789abcdef") for i in ids)

    def test_an_id_that_is_a_path_is_refused(self, store: History) -> None:
        with pytest.raises(ValueError, match="no run id"):
            store.start_run(make_run(run_id="../outside"))

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(text=any_text, reason=any_text, prompt_id=any_text)
    def test_any_text_a_model_can_send_comes_back(
        self, store: History, text: str, reason: str, prompt_id: str
    ) -> None:
        run_id = store.new_run_id()
        store.start_run(make_run([prompt_id], run_id=run_id))
        trial = make_trial(prompt_id, answer=make_answer(text, refusal=reason), reason=reason)
        store.save_trial(run_id, trial)
        assert store.load_trials(run_id) == (trial,)

    def test_a_very_large_answer_comes_back(self, store: History) -> None:
        store.start_run(make_run())
        trial = make_trial(answer=make_answer("ä" * 10_000_000))
        store.save_trial("91c2", trial)
        assert store.load_trials("91c2") == (trial,)


class TestFinding:
    """Finding runs by what a person remembers of them."""

    def test_a_beginning_of_the_id_is_enough(self, store: History) -> None:
        for run_id in ("91c2aaaa", "91d3bbbb"):
            finish(store, make_run(run_id=run_id))
        assert store.find_run("91D").run_id == "91d3bbbb"

    def test_an_id_that_begins_another_is_found(self, store: History) -> None:
        for run_id in ("91c2", "91c2aaaa"):
            finish(store, make_run(run_id=run_id))
        assert store.find_run("91c2").run_id == "91c2"

    def test_an_ambiguous_beginning_names_the_runs(self, store: History) -> None:
        for run_id in ("91c2aaaa", "91d3bbbb"):
            finish(store, make_run(run_id=run_id))
        with pytest.raises(UsageError, match="several runs: 91c2aaaa, 91d3bbbb"):
            store.find_run("91")

    @pytest.mark.parametrize("wanted", ["77", "", "%", "9_", "\ud800", "latest run"])
    def test_an_unknown_run_is_wrong_usage(self, store: History, wanted: str) -> None:
        finish(store, make_run())
        with pytest.raises(UsageError, match="no run"):
            store.find_run(wanted)

    def test_latest_is_the_newest_start(self, store: History) -> None:
        old, new = numbered(2)
        finish(store, new)
        finish(store, old)
        assert store.find_run("latest").run_id == new.run_id

    def test_latest_of_nothing_says_what_to_do(self, store: History) -> None:
        with pytest.raises(UsageError, match="no run yet"):
            store.find_run("latest")

    def test_the_list_is_newest_first_and_bounded(self, store: History) -> None:
        runs = numbered(4)
        for run in runs:
            finish(store, run)
        found = [line.run_id for line in store.list_runs(limit=3)]
        assert found == [run.run_id for run in reversed(runs[1:])]

    def test_the_list_can_be_of_one_set_and_kind(self, store: History) -> None:
        first, second, third = numbered(3)
        finish(store, first)
        finish(store, replace(second, set_identifier="acme.other"))
        finish(store, replace(third, kind="questions"))
        found = [line.run_id for line in store.list_runs(set_identifier="acme.faq", kind="prompts")]
        assert found == [first.run_id]

    def test_a_line_has_the_numbers_of_the_run(self, store: History) -> None:
        finish(store, make_run(["a", "b", "c"]), (True, False, True))
        (line,) = store.list_runs()
        assert (line.prompts, line.measured, line.passed) == (3, 3, 2)
        assert line.pass_rate == Fraction(2, 3)
        assert (line.state, line.verdict) == (ComparisonState.BASELINE, VerdictWord.PASSED)

    def test_previous_is_the_latest_run_that_can_be_compared(self, store: History) -> None:
        complete, draft, partial, mixed, incomplete, other = numbered(6)
        finish(store, complete)
        finish(store, replace(draft, is_draft=True))
        finish(store, replace(partial, is_partial=True), state=ComparisonState.PARTIAL)
        finish(store, mixed, state=ComparisonState.MIXED)
        finish(store, replace(incomplete, status=RunStatus.INCOMPLETE))
        finish(store, replace(other, target="other-bot"))
        found = store.latest_run("acme.faq", "support-bot")
        assert found is not None
        assert found.run_id == complete.run_id

    def test_previous_is_older_than_the_run_that_asks(self, store: History) -> None:
        first, second = numbered(2)
        finish(store, first)
        finish(store, second)
        found = store.latest_run("acme.faq", "support-bot", before_run_id=second.run_id)
        assert found is not None
        assert found.run_id == first.run_id
        assert store.latest_run("acme.faq", "support-bot", before_run_id=first.run_id) is None

    def test_other_targets_are_named_once(self, store: History) -> None:
        for run, target in zip(numbered(4), ("b", "a", "b", "support-bot"), strict=True):
            finish(store, replace(run, target=target))
        assert store.other_targets("acme.faq", "support-bot") == ("a", "b")


class TestInterruption:
    """A run whose process ended is not running."""

    def test_a_held_run_is_running(self, store: History, open_store: Opener) -> None:
        with store.hold_run("91c2"):
            store.start_run(replace(make_run(), status=RunStatus.RUNNING))
            assert open_store().find_run("91c2").status is RunStatus.RUNNING

    def test_a_run_nobody_holds_is_interrupted(self, store: History) -> None:
        store.start_run(replace(make_run(["a", "b"]), status=RunStatus.RUNNING))
        store.save_trial("91c2", make_trial("a"))
        run = store.find_run("91c2")
        assert (run.status, run.is_interrupted) == (RunStatus.INCOMPLETE, True)
        (line,) = store.list_runs()
        assert (line.status, line.is_interrupted) == (RunStatus.INCOMPLETE, True)
        assert (line.prompts, line.measured, line.passed) == (2, 1, 1)

    def test_a_prompt_counts_as_measured_with_all_its_trials(self, store: History) -> None:
        store.start_run(replace(make_run(["a", "b"], trials=2), status=RunStatus.RUNNING))
        for prompt_id, number, passed in (("a", 0, True), ("a", 1, False), ("b", 0, True)):
            store.save_trial("91c2", make_trial(prompt_id, trial=number, passed=passed))
        (line,) = store.list_runs()
        assert (line.measured, line.passed) == (1, 0)

    def test_a_held_run_cannot_be_held_again(self, store: History, open_store: Opener) -> None:
        other = open_store()
        with (
            store.hold_run("91c2"),
            pytest.raises(HistoryError, match="under way in another process"),
            other.hold_run("91c2"),
        ):
            pass

    def test_a_run_is_free_after_it_was_held(self, store: History, open_store: Opener) -> None:
        with store.hold_run("91c2"):
            pass
        with open_store().hold_run("91c2"):
            pass

    def test_two_runs_can_be_held_at_once(self, store: History) -> None:
        with store.hold_run("91c2"), store.hold_run("5be0"):
            pass


class TestBaselines:
    """The current baseline of a series, and how it moves."""

    def test_a_baseline_comes_back_with_its_number(self, store: History) -> None:
        given = baseline_of(make_run(["b", "a"]))
        saved = store.save_baseline(given, expected_id=None, how=BaselineMove.SET)
        assert saved is not None
        assert replace(saved, baseline_id=None) == given
        assert list(saved.prompts) == ["b", "a"]
        assert store.find_baseline("acme.faq", "support-bot", "deterministic") == saved

    def test_the_newest_version_is_current_and_older_ones_stay(self, store: History) -> None:
        first = store.save_baseline(baseline_of(make_run()), expected_id=None, how=BaselineMove.SET)
        assert first is not None
        second = store.save_baseline(
            baseline_of(make_run(["a"])), expected_id=first.baseline_id, how=BaselineMove.REPLACED
        )
        assert store.find_baseline("acme.faq", "support-bot", "deterministic") == second
        assert store.load_baseline(first.baseline_id or 0) == first

    def test_two_that_expect_the_same_baseline_do_not_both_move_it(
        self, store: History, open_store: Opener
    ) -> None:
        other = open_store()
        given = baseline_of(make_run())
        won = store.save_baseline(given, expected_id=None, how=BaselineMove.SET)
        lost = other.save_baseline(given, expected_id=None, how=BaselineMove.SET)
        assert won is not None
        assert lost is None
        assert other.newest_baseline_id() == won.baseline_id

    def test_accepting_takes_the_place_of_whatever_is_current(self, store: History) -> None:
        given = baseline_of(make_run())
        store.save_baseline(given, expected_id=None, how=BaselineMove.SET)
        assert store.save_baseline(given, expected_id=..., how=BaselineMove.ACCEPTED) is not None

    @pytest.mark.parametrize(
        "series",
        [
            ("acme.other", "support-bot", "deterministic"),
            ("acme.faq", "other-bot", "deterministic"),
            ("acme.faq", "support-bot", "decision:a:b:v1"),
        ],
        ids=["set", "target", "grader"],
    )
    def test_series_do_not_share_a_baseline(
        self, store: History, series: tuple[str, str, str]
    ) -> None:
        store.save_baseline(baseline_of(make_run()), expected_id=None, how=BaselineMove.SET)
        assert store.find_baseline(*series) is None

    def test_what_counts_is_what_was_the_baseline_then(self, store: History) -> None:
        before = store.newest_baseline_id()
        first = store.save_baseline(baseline_of(make_run()), expected_id=None, how=BaselineMove.SET)
        then = store.newest_baseline_id()
        store.save_baseline(
            baseline_of(make_run(["a"])), expected_id=..., how=BaselineMove.ACCEPTED
        )
        series = ("acme.faq", "support-bot", "deterministic")
        assert store.find_baseline(*series, as_of=then) == first
        assert store.find_baseline(*series, as_of=before) is None

    def test_all_judges_of_one_kind_are_found_newest_first(self, store: History) -> None:
        for grader in ("decision:p:old:v1", "decision:p:new:v1", "deterministic"):
            store.save_baseline(
                baseline_of(make_run(), grader), expected_id=None, how=BaselineMove.SET
            )
        found = store.find_baselines_of_kind("acme.faq", "support-bot", "decision")
        assert [baseline.grader for baseline in found] == ["decision:p:new:v1", "decision:p:old:v1"]
        as_of = found[1].baseline_id
        earlier = store.find_baselines_of_kind("acme.faq", "support-bot", "decision", as_of=as_of)
        assert [baseline.grader for baseline in earlier] == ["decision:p:old:v1"]

    def test_the_list_has_the_current_baseline_of_each_series(self, store: History) -> None:
        for identifier in ("acme.faq", "acme.faq", "acme.other"):
            given = replace(baseline_of(make_run()), set_identifier=identifier)
            store.save_baseline(given, expected_id=..., how=BaselineMove.ACCEPTED)
        assert [b.set_identifier for b in store.list_baselines()] == ["acme.other", "acme.faq"]
        assert [b.baseline_id for b in store.list_baselines("acme.faq")] == [2]

    def test_an_unknown_number_is_an_error(self, store: History) -> None:
        with pytest.raises(HistoryError, match="baseline 7 is not in this history"):
            store.load_baseline(7)


class TestPruning:
    """Old runs go; what a baseline rests on stays."""

    cutoff = STARTED_AT + timedelta(hours=100)

    def test_old_runs_go_with_their_trials(self, store: History) -> None:
        old = finish(store, make_run(["a", "b"]), (True, True))
        new = finish(store, make_run(run_id="5be0", started_at=self.cutoff))
        report = store.prune(older_than=self.cutoff)
        assert (report.run_ids, report.trials, report.kept) == ((old.run_id,), 2, 0)
        assert [line.run_id for line in store.list_runs()] == [new.run_id]
        assert store.load_trials(old.run_id) == ()

    def test_a_dry_run_says_the_same_and_removes_nothing(self, store: History) -> None:
        first, second = (finish(store, run) for run in numbered(2))
        store.save_baseline(baseline_of(second), expected_id=None, how=BaselineMove.SET)
        planned = store.prune(older_than=self.cutoff, dry_run=True)
        assert (planned.run_ids, planned.kept, planned.is_dry_run) == ((first.run_id,), 1, True)
        assert len(store.list_runs()) == 2
        assert replace(planned, is_dry_run=False) == store.prune(older_than=self.cutoff)

    def test_every_run_a_current_baseline_rests_on_stays(self, store: History) -> None:
        first, second, third = (finish(store, run) for run in numbered(3))
        rests = baseline_of(second)
        extended = {
            **rests.prompts,
            "new": replace(rests.prompts["opening-hours"], prompt_id="new", run_id=first.run_id),
        }
        store.save_baseline(
            replace(rests, prompts=extended), expected_id=None, how=BaselineMove.EXTENDED
        )
        report = store.prune(older_than=self.cutoff)
        assert (report.run_ids, report.kept) == ((third.run_id,), 2)

    def test_what_only_an_older_baseline_rests_on_goes(self, store: History) -> None:
        first, second = (finish(store, run) for run in numbered(2))
        for run in (first, second):
            given = replace(baseline_of(run), set_at=STARTED_AT)
            store.save_baseline(given, expected_id=..., how=BaselineMove.ACCEPTED)
        report = store.prune(older_than=self.cutoff)
        assert (report.run_ids, report.baselines) == ((first.run_id,), 1)
        with pytest.raises(HistoryError):
            store.load_baseline(1)

    def test_the_baseline_a_kept_run_was_compared_with_stays(self, store: History) -> None:
        first, second = numbered(2)
        for run in (first, second):
            given = replace(baseline_of(run), set_at=STARTED_AT)
            store.save_baseline(given, expected_id=..., how=BaselineMove.ACCEPTED)
        compared = make_run(run_id="5be0", started_at=self.cutoff)
        finish(store, replace(compared, baseline_id=1))
        assert store.prune(older_than=self.cutoff).baselines == 0
        assert store.load_baseline(1).run_id == first.run_id

    def test_the_baseline_an_unfinished_run_will_be_compared_with_stays(
        self, store: History
    ) -> None:
        for run in numbered(2):
            given = replace(baseline_of(run), set_at=STARTED_AT)
            store.save_baseline(given, expected_id=..., how=BaselineMove.ACCEPTED)
        unfinished = make_run(run_id="5be0", started_at=self.cutoff)
        store.start_run(replace(unfinished, status=RunStatus.RUNNING, baseline_as_of=1))
        assert store.prune(older_than=self.cutoff).baselines == 0

    def test_a_run_whose_answers_were_graded_again_stays_with_its_regrading(
        self, store: History
    ) -> None:
        first, second, third = numbered(3)
        finish(store, first)
        finish(store, replace(second, regraded_from=first.run_id))
        finish(store, replace(third, regraded_from=second.run_id))
        store.save_baseline(baseline_of(third), expected_id=None, how=BaselineMove.SET)
        assert store.prune(older_than=self.cutoff).run_ids == ()

    def test_regradings_go_with_what_they_graded(self, store: History) -> None:
        first, second = numbered(2)
        finish(store, first)
        finish(store, replace(second, regraded_from=first.run_id))
        assert store.prune(older_than=self.cutoff).removed == 2

    def test_a_run_under_way_stays(self, store: History, open_store: Opener) -> None:
        other = open_store()
        with other.hold_run("91c2"):
            other.start_run(replace(make_run(), status=RunStatus.RUNNING))
            report = store.prune(older_than=self.cutoff)
        assert (report.removed, report.kept) == (0, 1)

    def test_a_killed_run_goes(self, store: History) -> None:
        store.start_run(replace(make_run(), status=RunStatus.RUNNING))
        assert store.prune(older_than=self.cutoff).removed == 1

    def test_many_runs_go(self, store: History) -> None:
        for run in numbered(25):
            finish(store, run)
        assert store.prune(older_than=self.cutoff).removed == 25
        assert store.list_runs() == ()


class TestExport:
    """A run as JSON lines."""

    def test_the_run_comes_first_then_its_trials_in_order(self, store: History) -> None:
        finish(store, make_run(["b", "a"]), (True, False))
        rows = list(store.export_run("91c2"))
        assert [row["type"] for row in rows] == ["run", "trial", "trial"]
        assert (rows[0]["schema_version"], rows[0]["run_id"]) == (1, "91c2")
        assert [row["prompt_id"] for row in rows[1:]] == ["b", "a"]

    def test_a_trial_has_what_replay_needs(self, store: History) -> None:
        store.start_run(make_run())
        store.save_trial("91c2", replace(make_trial(), request_sha256="0a" * 32))
        _, row = store.export_run("91c2")
        answer = row["answer"]
        assert isinstance(answer, dict)
        assert row["request_sha256"] == "0a" * 32
        assert (answer["text"], answer["finish"]) == ("Monday to Friday.", "stop")
        assert (answer["refusal"], answer["reasoning"]) == (None, None)
        assert (answer["model"], answer["usage"]["input_tokens"]) == ("gpt-6-luna", 150)


class TestContent:
    """Texts are kept, or they are not."""

    def test_texts_are_kept_by_default(self, store: History) -> None:
        finish(store, make_run())
        assert store.has_texts("91c2")

    def test_without_texts_the_answer_has_none_and_the_run_says_so(
        self, open_store: Opener
    ) -> None:
        store = open_store(content="metadata")
        finish(store, make_run())
        (trial,) = store.load_trials("91c2")
        assert trial.answer is not None
        assert trial.answer.text is None
        assert not store.has_texts("91c2")

    def test_an_answer_without_text_is_no_missing_text(self, store: History) -> None:
        store.start_run(make_run())
        store.save_trial("91c2", make_trial(answer=make_answer(None, refusal="No.")))
        assert store.has_texts("91c2")

    def test_grades_and_numbers_are_kept_without_texts(self, open_store: Opener) -> None:
        store = open_store(content="metadata")
        store.start_run(make_run())
        given = make_trial(passed=False, score="1/2")
        store.save_trial("91c2", given)
        (kept,) = store.load_trials("91c2")
        assert (kept.grade, kept.call) == (given.grade, given.call)


class TestQuestions:
    """What runs of questions have beyond those of prompts."""

    def test_every_trial_of_a_run_of_questions_comes_back(self, store: History) -> None:
        outcome = hostile_questions()
        store.start_run(outcome.run)
        for trial in outcome.trials:
            store.save_trial(outcome.run.run_id, trial)
        assert store.load_trials(outcome.run.run_id) == outcome.trials

    def test_limits_class_drops_rank_changes_and_notes_come_back(self, store: History) -> None:
        outcome = class_regression()
        store.start_run(outcome.run)
        notes = ("a corpus that changed", "\ud800 odd")
        store.finish_run(
            outcome.run, outcome.summary, outcome.comparison, outcome.verdict, notes=notes
        )
        stored = store.load_outcome("91c2")
        assert stored is not None
        assert stored.comparison.class_drops == outcome.comparison.class_drops
        assert stored.comparison.rank_changes == outcome.comparison.rank_changes
        assert stored.notes == notes
        assert store.find_run("91c2").limits.max_class_drop == Fraction(1, 10)

    def test_scores_of_named_questions_are_found(self, store: History) -> None:
        outcome = questions_unmeasured()
        store.start_run(outcome.run)
        for trial in outcome.trials:
            store.save_trial(outcome.run.run_id, trial)
        wanted = {"umzug-melden", "weltmeister", "frage-43", "nobody"}
        found = store.load_question_scores("40d7", wanted)
        grades = {trial.prompt_id: trial.grade for trial in outcome.trials}
        assert set(found) == {"umzug-melden", "weltmeister"}
        for prompt_id, score in found.items():
            grade = grades[prompt_id]
            assert grade is not None
            assert score == grade.question

    def test_without_texts_a_ranking_has_its_documents_and_no_passages(
        self, open_store: Opener
    ) -> None:
        store = open_store(content="metadata")
        outcome = hostile_questions()
        store.start_run(outcome.run)
        store.save_trial(outcome.run.run_id, outcome.trials[0])
        (kept,) = store.load_trials(outcome.run.run_id)
        given = outcome.trials[0]
        assert kept.ranking is not None
        assert given.ranking is not None
        assert [one.text for one in kept.ranking.documents] == [None]
        assert [one.id for one in kept.ranking.documents] == [
            one.id for one in given.ranking.documents
        ]
        assert kept.grade == given.grade
