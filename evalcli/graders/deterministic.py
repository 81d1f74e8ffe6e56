"""The deterministic grader: assertions on the answer as it came, without tokens.

Assertions compare code point by code point. Cheap ones are evaluated at once; those that may be
slow get a short try first and then a thread, so that no answer holds up the others.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from evalcli.comparison.fingerprint import deterministic_graded_fingerprint
from evalcli.declarations.prompt_set import GoldenPrompt, PromptSet
from evalcli.errors import DeclarationError
from evalcli.graders.bounds import QuickFirst, Stoppable, cut, not_evaluated
from evalcli.graders.declared_assertion import LoadType, check_assertion, compile_assertion
from evalcli.graders.negation import NegatedAssertion
from evalcli.plugins import load_assertion_type
from evalcli.protocols import AssertionFaultError, CompiledAssertion
from evalcli.records import AssertionOutcome, Grade

__all__ = [
    "DeterministicGrader",
    "check_assertion",
    "compile_assertion",
    "grade_answer",
]

YARDSTICK = "deterministic"
MAX_REASON_CHARS = 1_000
_MAX_ONE_REASON_CHARS = 320

MAX_THREADS = 4
WAIT_LIMIT_S = 60.0
"""How long an answer waits for one assertion. Built-in ones stop long before; plug-ins may not."""


def grade_answer(assertions: Sequence[CompiledAssertion], answer: str) -> Grade:
    """Grade one answer here and now: passed when all assertions hold, scored by their share.

    Raises:
        ValueError: there is no assertion, so that nothing can be said.
    """
    return grade_of([assertion.evaluate(answer) for assertion in assertions])


def grade_of(outcomes: Sequence[AssertionOutcome]) -> Grade:
    """Sum up the outcomes of all assertions on one answer.

    Raises:
        ValueError: there is none.
    """
    if not outcomes:
        raise ValueError("a grade needs at least one assertion")
    failed = [outcome for outcome in outcomes if not outcome.passed]
    return Grade(
        passed=not failed,
        score=Fraction(len(outcomes) - len(failed), len(outcomes)),
        reason=_join_reasons([outcome.reason for outcome in failed]) if failed else "",
        yardstick=YARDSTICK,
        outcomes=tuple(outcomes),
    )


def _join_reasons(reasons: Sequence[str]) -> str:
    """Name each failing assertion, within `MAX_REASON_CHARS`."""
    text = ""
    for done, reason in enumerate(reasons):
        short = cut(reason, _MAX_ONE_REASON_CHARS)
        rest = f"; … and {len(reasons) - done} more"
        if len(text) + len(short) + len(rest) > MAX_REASON_CHARS:
            return text + rest
        text = f"{text}; {short}" if text else short
    return text


@dataclass(frozen=True, slots=True)
class _Prepared:
    """One assertion of a run; the lock keeps it from running in two threads at once."""

    assertion: CompiledAssertion
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class DeterministicGrader:
    """Grades the answers of one run; each assertion is compiled once.

    Assertions that mean the same are one in a run, so that a pattern which was stopped three
    times is not tried again, wherever it stands.
    """

    def __init__(
        self,
        prompts: PromptSet | Iterable[GoldenPrompt] = (),
        *,
        load_type: LoadType = load_assertion_type,
        max_threads: int = MAX_THREADS,
        wait_limit_s: float = WAIT_LIMIT_S,
    ) -> None:
        """Compile the assertions of `prompts`; those of others when they are first needed.

        Raises:
            DeclarationError: an assertion cannot be used.
        """
        self._load_type = load_type
        self._wait_limit_s = wait_limit_s
        self._threads = asyncio.Semaphore(max_threads)
        self._by_canonical: dict[str, _Prepared] = {}
        # By identity: a prompt cannot be hashed. It is kept, so that its identity stays its own.
        self._by_prompt: dict[int, tuple[GoldenPrompt, tuple[_Prepared, ...]]] = {}
        for prompt in prompts.prompts if isinstance(prompts, PromptSet) else prompts:
            self._prepare(prompt)

    async def grade(
        self,
        prompt: GoldenPrompt,
        answer_text: str,
        *,
        system: str | None,
    ) -> Grade:
        """Grade one answer; see `Grader.grade`.

        Raises:
            ValueError: the prompt has no assertion.
            DeclarationError: one of its assertions cannot be used.
        """
        outcomes = []
        for prepared in self._prepare(prompt):
            assertion = prepared.assertion
            outcome = None
            if not assertion.may_be_slow:
                outcome = assertion.evaluate(answer_text)
            elif isinstance(assertion, QuickFirst):
                # Other answers get their turn between two of these.
                await asyncio.sleep(0)
                outcome = assertion.try_quickly(answer_text)
            if outcome is None:
                outcome = await self._evaluate_aside(prepared, answer_text)
            outcomes.append(outcome)
        return grade_of(outcomes)

    def graded_fingerprint(self, prompt: GoldenPrompt) -> str | None:
        """Fingerprint the assertions of a prompt; None where it has none."""
        canonicals = [prepared.assertion.canonical for prepared in self._prepare(prompt)]
        return deterministic_graded_fingerprint(canonicals) if canonicals else None

    async def aclose(self) -> None:
        """Let go of what was compiled. A thread that still searches ends by its own limit."""
        self._by_prompt.clear()
        self._by_canonical.clear()

    def _prepare(self, prompt: GoldenPrompt) -> tuple[_Prepared, ...]:
        known = self._by_prompt.get(id(prompt))
        if known is not None:
            return known[1]
        prepared = []
        for number, declaration in enumerate(prompt.assertions):
            try:
                compiled = compile_assertion(declaration.body, load_type=self._load_type)
            except AssertionFaultError as fault:
                raise DeclarationError(
                    f'prompt "{prompt.id}", assertions[{number}]: {fault.message}',
                    advice=fault.advice,
                ) from fault
            prepared.append(self._share(compiled))
        self._by_prompt[id(prompt)] = (prompt, tuple(prepared))
        return tuple(prepared)

    def _share(self, assertion: CompiledAssertion) -> _Prepared:
        """Find what means the same in this run, so that its stops are counted together."""
        if isinstance(assertion, NegatedAssertion):
            inner = self._share(assertion.inner)
            return _Prepared(NegatedAssertion(inner.assertion), inner.lock)
        return self._by_canonical.setdefault(assertion.canonical, _Prepared(assertion))

    # Threads.

    async def _evaluate_aside(self, prepared: _Prepared, answer: str) -> AssertionOutcome:
        """Evaluate in a thread; one at a time of each assertion, some at a time of all."""
        assertion = prepared.assertion
        async with prepared.lock, self._threads:
            try:
                async with asyncio.timeout(self._wait_limit_s):
                    return await _run_in_thread(lambda: assertion.evaluate(answer))
            except TimeoutError:
                why = f"it did not end within {self._wait_limit_s:g} s"
                if isinstance(assertion, Stoppable):
                    return assertion.note_stop(why)
                return not_evaluated("assertion", "assertion", why)


async def _run_in_thread(evaluate: Callable[[], AssertionOutcome]) -> AssertionOutcome:
    """Run in a thread of its own, which keeps neither the loop nor the process waiting.

    A pool would be joined when the process ends, however long a plug-in still takes.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[AssertionOutcome] = loop.create_future()

    def settle(outcome: AssertionOutcome | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        elif outcome is not None:
            done.set_result(outcome)

    def work() -> None:
        outcome, error = None, None
        try:
            outcome = evaluate()
        except BaseException as exc:  # noqa: BLE001 - raised again where it is waited for
            error = exc
        try:
            loop.call_soon_threadsafe(settle, outcome, error)
        except RuntimeError:
            # The loop was closed meanwhile: nobody waits any more.
            return

    threading.Thread(target=work, name="evalcli-assertion", daemon=True).start()
    return await done
