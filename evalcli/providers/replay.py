"""The `replay` adapter: answers recorded from an earlier run, or written by hand.

`path` names a JSON Lines file in one of two forms, which may be mixed:

- what `evalcli history export RUN` writes: a line `{"type": "run", …}`, then one line
  `{"type": "trial", "request_sha256": …, "trial": 0, "answer": {"text": …, …}, …}` a trial;
- by hand, one line an answer: `{"prompt": …, "text": …}`, with `"system": …` where there is one.

An answer is found by what was asked (system prompt and prompt), not by a prompt's id.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

from evalcli.errors import ConfigurationError, ProviderReplyError
from evalcli.protocols import ProviderSetup
from evalcli.records import Answer, ChatRequest, FinishReason, Usage, request_sha256

_HAND_WRITTEN_KEYS = frozenset({"prompt", "system", "text", "model"})
_KNOWN_FORMS = (
    'neither a line of `evalcli history export` nor {"prompt": …, "text": …} with an optional '
    '"system"'
)


class Replay:
    """Answers from a file. Several answers to one request are given in turn."""

    def __init__(self, setup: ProviderSetup) -> None:
        """Read the recorded answers.

        Raises:
            ConfigurationError: there is no such file, or a line of it cannot be used.
        """
        self._provider = setup.name
        if setup.entry.path is None:
            raise ConfigurationError(
                f'provider "{setup.name}" (type replay) names no file of answers',
                advice="write `path: answers.jsonl`, made with `evalcli history export RUN`",
            )
        self._path = Path(setup.root or ".") / setup.entry.path
        recorded = load_recorded_answers(self._path)
        self._models = tuple(sorted({r.answer.model for r in recorded if r.answer.model}))
        by_request: dict[str, list[RecordedAnswer]] = {}
        for answer in recorded:
            by_request.setdefault(answer.request, []).append(answer)
        self._answers = {
            request: cycle([r.answer for r in sorted(answers, key=lambda r: r.trial)])
            for request, answers in by_request.items()
        }

    async def ask_chat(self, request: ChatRequest) -> Answer:
        """Give the next recorded answer to this request.

        Raises:
            ProviderReplyError: none was recorded.
        """
        answers = self._answers.get(request_sha256(request.system, request.prompt))
        if answers is None:
            raise ProviderReplyError(
                self._provider,
                f"{self._provider} has no recorded answer to this prompt in {self._path.name}",
                advice="record it: run it against a real provider, then `evalcli history export`",
            )
        return next(answers)

    async def list_models(self) -> tuple[str, ...]:
        """Name the models whose answers are recorded."""
        return self._models

    async def aclose(self) -> None:
        """Nothing is held."""


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """One line of a recording: the fingerprint of what was asked, which trial, the answer."""

    request: str
    trial: int
    answer: Answer


def load_recorded_answers(path: Path) -> tuple[RecordedAnswer, ...]:
    """Read all answers of a recording, in file order.

    Raises:
        ConfigurationError: the file cannot be read, holds no answer, or a line cannot be used.
    """
    try:
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except OSError as exc:
        raise ConfigurationError(
            f"recorded answers {path} cannot be read: {exc.strerror or exc}",
            advice="make the file with `evalcli history export RUN`",
        ) from exc
    recorded: list[RecordedAnswer] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            recorded.extend(_read_line(line))
        except ValueError as exc:
            raise ConfigurationError(f"{path}:{number}: {exc}") from exc
    if not recorded:
        raise ConfigurationError(
            f"{path} holds no recorded answer",
            advice="export a run whose answers were stored (history.content: full)",
        )
    return tuple(recorded)


def _read_line(line: bytes) -> Iterator[RecordedAnswer]:
    """Read one line; a run's header and a trial without an answer give nothing."""
    row = _read_json(line)
    if not isinstance(row, dict):
        raise ValueError(_KNOWN_FORMS)
    kind = row.get("type")
    if kind == "trial":
        yield from _read_trial(row)
    elif kind is None and "prompt" in row:
        yield _read_hand_written(row)
    elif kind != "run":
        raise ValueError(_KNOWN_FORMS)


def _read_json(line: bytes) -> object:
    try:
        return json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as exc:
        raise ValueError(f"not UTF-8 at byte {exc.start + 1} of the line") from exc
    except json.JSONDecodeError as exc:
        raise ValueError(f"not JSON: {exc.msg} at column {exc.colno}") from exc
    except RecursionError as exc:
        raise ValueError("JSON that is nested too deeply") from exc


def _read_trial(row: Mapping[str, object]) -> Iterator[RecordedAnswer]:
    answer = row.get("answer")
    if answer is None:
        return
    request, trial = row.get("request_sha256"), row.get("trial", 0)
    if not isinstance(answer, dict):
        raise ValueError("answer: must be a mapping or null")
    if not isinstance(request, str) or not isinstance(trial, int):
        raise ValueError("a trial needs request_sha256 (text) and trial (a whole number)")
    yield RecordedAnswer(request, trial, _read_answer(answer))


def _read_answer(row: Mapping[str, object]) -> Answer:
    finish_raw = _text_or_none(row, "finish_raw") or _text_or_none(row, "finish")
    return Answer(
        text=_text_or_none(row, "text"),
        finish=_finish_reason(_text_or_none(row, "finish")),
        finish_raw=finish_raw,
        reasoning=_text_or_none(row, "reasoning"),
        refusal=_text_or_none(row, "refusal"),
        has_tool_calls=row.get("has_tool_calls") is True,
        model=_text_or_none(row, "model"),
        usage=_read_usage(row.get("usage")),
        request_id=_text_or_none(row, "request_id"),
        system_fingerprint=_text_or_none(row, "system_fingerprint"),
    )


def _finish_reason(word: str | None) -> FinishReason:
    if word is None:
        return FinishReason.STOP
    try:
        return FinishReason(word)
    except ValueError:
        return FinishReason.OTHER


def _read_usage(usage: object) -> Usage:
    """Read the recorded tokens. The recorded cost is left out: a replay costs nobody anything."""
    if usage is None:
        return Usage()
    if not isinstance(usage, dict):
        raise ValueError("answer.usage: must be a mapping or null")
    return Usage(
        input_tokens=_tokens_or_none(usage, "input_tokens"),
        output_tokens=_tokens_or_none(usage, "output_tokens"),
        cached_input_tokens=_tokens_or_none(usage, "cached_input_tokens"),
        cache_write_tokens=_tokens_or_none(usage, "cache_write_tokens"),
        reasoning_tokens=_tokens_or_none(usage, "reasoning_tokens"),
    )


def _tokens_or_none(usage: Mapping[str, object], key: str) -> int | None:
    value = usage.get(key)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"answer.usage.{key}: must be a whole number of tokens or null")
    return value


def _read_hand_written(row: Mapping[str, object]) -> RecordedAnswer:
    unknown = sorted(row.keys() - _HAND_WRITTEN_KEYS)
    if unknown:
        raise ValueError(
            f'unknown key "{unknown[0]}"; known: {", ".join(sorted(_HAND_WRITTEN_KEYS))}'
        )
    prompt, text = row.get("prompt"), row.get("text")
    if not isinstance(prompt, str) or not isinstance(text, str):
        raise ValueError('"prompt" and "text" must be texts')
    system = _text_or_none(row, "system")
    return RecordedAnswer(
        request_sha256(system, prompt), 0, Answer(text=text, model=_text_or_none(row, "model"))
    )


def _text_or_none(row: Mapping[str, object], key: str) -> str | None:
    value = row.get(key)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{key}: must be a text or null")
    return value
