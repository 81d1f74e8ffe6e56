"""How many assertions a second the deterministic grader evaluates on one core.

python -m tests.bench.grading

Measured through the grader as a run uses it, one answer after the other, in CPU time of the
process. One in ten of the `contains` assertions fails, as in a set that is mostly right; failing
ones are dearer, because their reason is looked for.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence

from evalcli.declarations.prompt_set import AssertionDeclaration, GoldenPrompt
from evalcli.graders.deterministic import DeterministicGrader
from tests.bench.figures import Figure, median_of, show_and_exit

ANSWERS = 2_000
ASSERTIONS = 10
CONTAINS_PER_S = 100_000

_WORDS = "The office is open from Monday to Friday, nine to five, and closed on public holidays. "
_PROSE = _WORDS * 5
_JSON = '{"email": "office@acme.example", "days": ["Monday", "Friday"], "hours": {"from": 9}}'
_SCHEMA = {
    "type": "object",
    "required": ["email", "days"],
    "properties": {
        "email": {"type": "string"},
        "days": {"type": "array", "items": {"type": "string"}},
        "hours": {"type": "object", "additionalProperties": {"type": "integer"}},
    },
}


def bench_grading() -> list[Figure]:
    """Measure assertions a second, medians over five runs."""
    holding = [{"contains": word} for word in _WORDS.split()[: ASSERTIONS - 1]]
    contains = [*holding, {"contains": "Saturday"}]
    patterns = [{"regex": rf"/\b{word}\b/i"} for word in ("office", "monday", "nine", "public")]
    return [
        _figure("contains, 10 % failing", contains, _PROSE, ANSWERS, at_least=CONTAINS_PER_S),
        _figure("contains, all failing", [{"contains": "Saturday"}] * ASSERTIONS, _PROSE, ANSWERS),
        _figure("regex", patterns, _PROSE, ANSWERS),
        _figure("json_schema", [{"json_schema": _SCHEMA}], _JSON, ANSWERS // 4),
    ]


def _figure(
    name: str,
    bodies: Sequence[Mapping[str, object]],
    answer: str,
    answers: int,
    *,
    at_least: float | None = None,
) -> Figure:
    rate, _ = median_of(lambda: _measure(bodies, answer, answers), lambda each: each)
    return Figure(name, rate, "/s", at_least=at_least, note="assertions, one core")


def _measure(bodies: Sequence[Mapping[str, object]], answer: str, answers: int) -> float:
    prompt = GoldenPrompt(
        id="bench",
        prompt="When is the office open?",
        assertions=tuple(AssertionDeclaration.model_validate(body) for body in bodies),
    )
    # Answers differ, so that nothing can be remembered from one to the next.
    texts = [f"{answer} " if number % 2 else answer for number in range(answers)]

    async def grade_all() -> float:
        grader = DeterministicGrader([prompt])
        started = time.process_time()
        for text in texts:
            await grader.grade(prompt, text, system=None)
        return time.process_time() - started

    return len(bodies) * answers / asyncio.run(grade_all())


def main() -> None:
    """Show the figures; the exit status is 1 where one is missed."""
    show_and_exit(bench_grading())


if __name__ == "__main__":
    main()
