"""How far a run is: a bar on a terminal, lines with -v, nothing else."""

from __future__ import annotations

import io
import sys
import time

import pytest

from evalcli.cli import console
from evalcli.cli.progress import ProgressListener, retry_line, trial_line
from evalcli.records import CallRetried, RunPreparing, RunStarted, Trial, TrialFinished
from tests.support.builders import make_run, make_trial, make_unmeasured_trial
from tests.support.question_outcomes import graded, handbook, ranked


class FakeTerminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def _finished(trial: Trial, done: int = 12, total: int = 40) -> TrialFinished:
    return TrialFinished("91c2", trial, done, total)


def _terminal(monkeypatch: pytest.MonkeyPatch) -> FakeTerminal:
    """Put a terminal at stderr."""
    stream = FakeTerminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    return stream


def test_finished_trial_is_a_line() -> None:
    trial = make_trial("refund-window", passed=False, score="1/2", reason="regex: not\nfound")
    assert trial_line(_finished(trial)) == (
        r"12/40  refund-window  FAIL  0.50  0.9 s  regex: not\nfound"
    )


def test_later_trials_say_their_number() -> None:
    assert trial_line(_finished(make_trial("a", trial=2), 3, 2000)) == (
        "    3/2,000  a  trial 3  pass  1.00  0.9 s"
    )


def test_unmeasured_trial_has_no_score() -> None:
    assert trial_line(_finished(make_unmeasured_trial("a"))) == (
        '12/40  a  unmeasured  openai said 503 "The server is overloaded"'
    )


def test_retry_is_a_line_that_names_the_provider() -> None:
    event = CallRetried("openai", "said 503 \x1b", tries=1, wait_s=1.5)
    assert retry_line(event) == r"openai: said 503 \x1b; try 2 in 1.5 s"
    named = CallRetried("openai", "openai said 503", tries=2, wait_s=0.02)
    assert retry_line(named) == "openai said 503; try 3 in 20 ms"


def test_pipe_gets_nothing_by_itself(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressListener() as listener:
        listener(RunStarted(make_run(("a",))))
        listener(CallRetried("openai", "said 503", 1, 1.0))
        listener(_finished(make_trial("a")))
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_pipe_gets_a_line_for_each_trial_and_retry_on_request(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with ProgressListener(verbosity=1) as listener:
        listener(RunStarted(make_run(("a",))))
        listener(CallRetried("openai", "said 503", 1, 1.0))
        listener(_finished(make_trial("a"), 1, 1))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "openai: said 503; try 2 in 1.0 s",
        "1/1  a  pass  1.00  0.9 s",
    ]


def test_terminal_gets_a_bar_that_is_gone_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = _terminal(monkeypatch)
    with ProgressListener() as listener:
        listener(RunStarted(make_run(("a", "b", "c")), done=1))
        listener(_finished(make_trial("b", passed=False), 2, 3))
        listener(_finished(make_unmeasured_trial("c"), 3, 3))
    drawn = terminal.getvalue()
    assert "acme.faq" in drawn
    assert "3/3" in drawn
    assert "1 fail, 1 unmeasured" in drawn
    assert drawn.endswith("\x1b[2K")


def test_lines_get_above_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = _terminal(monkeypatch)
    with ProgressListener() as listener:
        listener(RunStarted(make_run(("a",))))
        console.err("a warning with [brackets]")
        listener(_finished(make_trial("a"), 1, 1))
    assert "a warning with [brackets]\n" in terminal.getvalue()
    console.err("after it")
    assert terminal.getvalue().endswith("after it\n")


def test_bar_ends_when_the_run_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = _terminal(monkeypatch)
    with pytest.raises(ZeroDivisionError), ProgressListener() as listener:
        listener(RunStarted(make_run(("a",))))
        raise ZeroDivisionError
    console.err("after it")
    assert terminal.getvalue().endswith("after it\n")


def test_dumb_terminal_gets_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = _terminal(monkeypatch)
    monkeypatch.setenv("TERM", "dumb")
    with ProgressListener() as listener:
        listener(RunStarted(make_run(("a",))))
        listener(_finished(make_trial("a"), 1, 1))
    assert terminal.getvalue() == ""


def test_two_thousand_events_cost_little(monkeypatch: pytest.MonkeyPatch) -> None:
    _terminal(monkeypatch)
    ids = [f"p{number}" for number in range(2000)]
    events = [_finished(make_trial(i), number + 1, 2000) for number, i in enumerate(ids)]
    with ProgressListener() as listener:
        listener(RunStarted(make_run(ids)))
        started = time.process_time()
        for event in events:
            listener(event)
        spent_s = time.process_time() - started
    assert spent_s < 1.0


@pytest.mark.parametrize(
    ("rank", "words"),
    [(1, "hit  2.5 ms"), (2, "rank 2  2.5 ms"), (4, "rank 4  2.5 ms"), (None, "MISS  2.5 ms")],
)
def test_a_question_is_a_line_with_its_rank(rank: int | None, words: str) -> None:
    question = handbook()[0]
    line = trial_line(_finished(graded(question, ranked(question, rank))))
    assert line.startswith(f"12/40  umzug-melden  {words.replace('2.5', '2')}")


def test_notes_of_a_run_are_told_before_its_first_answer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with ProgressListener() as listener:
        listener(RunPreparing("preparing site"))
        listener(RunStarted(make_run(("a",)), notes=("one \x1b", "two")))
        assert listener.told == ("one \x1b", "two")
    assert capsys.readouterr().err == "one \\x1b\ntwo\n"


def test_preparing_pulses_on_a_terminal_until_the_run_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = _terminal(monkeypatch)
    with ProgressListener() as listener:
        listener(RunPreparing("preparing [b]site"))
        listener(RunStarted(make_run(("a", "b"))))
        listener(_finished(make_trial("a"), 1, 2))
    assert "preparing [b]site" in stream.getvalue()
    assert "acme.faq" in stream.getvalue()
