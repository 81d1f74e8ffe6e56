"""Recorded answers: what is found again, in which order, and what a broken file says."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.declarations.workspace import ProviderEntry, TrustZone
from evalcli.errors import ConfigurationError, ProviderReplyError
from evalcli.protocols import ChatModel, ProviderSetup
from evalcli.providers.replay import Replay, load_recorded_answers
from evalcli.records import Answer, ChatRequest, FinishReason, Usage, request_sha256


def write_lines(folder: Path, *rows: object) -> Path:
    path = folder / "answers.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def make_replay(path: Path) -> Replay:
    entry = ProviderEntry(type="replay", path=path.name)
    return Replay(ProviderSetup(name="recorded", entry=entry, root=path.parent))


def ask(replay: ChatModel, prompt: str, system: str | None = None) -> Answer:
    return asyncio.run(replay.ask_chat(ChatRequest(model="m", prompt=prompt, system=system)))


def trial_row(prompt: str, text: str | None, trial: int = 0, **answer: object) -> dict[str, object]:
    return {
        "type": "trial",
        "prompt_id": "p",
        "trial": trial,
        "request_sha256": request_sha256(None, prompt),
        "answer": {"text": text, **answer},
    }


def test_hand_written_answer_is_found_by_its_prompt(tmp_path: Path) -> None:
    path = write_lines(tmp_path, {"prompt": "One?", "text": "1"}, {"prompt": "Two?", "text": "2"})
    assert ask(make_replay(path), "Two?").text == "2"


def test_system_prompt_is_part_of_what_was_asked(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path,
        {"prompt": "Hi", "text": "plain"},
        {"prompt": "Hi", "system": "Shout.", "text": "LOUD"},
    )
    replay = make_replay(path)
    assert (ask(replay, "Hi").text, ask(replay, "Hi", "Shout.").text) == ("plain", "LOUD")


def test_unknown_prompt_is_a_provider_error_and_not_an_empty_answer(tmp_path: Path) -> None:
    path = write_lines(tmp_path, {"prompt": "One?", "text": "1"})
    with pytest.raises(ProviderReplyError, match=r"no recorded answer.*answers\.jsonl") as raised:
        ask(make_replay(path), "Three?")
    assert not raised.value.is_retryable


def test_trials_are_given_in_trial_order_and_then_again(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path,
        {"type": "run", "run_id": "7f3a"},
        trial_row("Hi", "second", trial=1),
        trial_row("Hi", "first", trial=0),
    )
    replay = make_replay(path)
    assert [ask(replay, "Hi").text for _ in range(3)] == ["first", "second", "first"]


def test_exported_answer_comes_back_whole(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path,
        trial_row(
            "Hi",
            "Hel",
            finish="length",
            finish_raw="max_tokens",
            reasoning="hm",
            refusal=None,
            model="model-a-2026",
            usage={"input_tokens": 3, "output_tokens": 0, "reasoning_tokens": None},
        ),
    )
    assert ask(make_replay(path), "Hi") == Answer(
        text="Hel",
        finish=FinishReason.LENGTH,
        finish_raw="max_tokens",
        reasoning="hm",
        model="model-a-2026",
        usage=Usage(input_tokens=3, output_tokens=0),
    )


def test_unknown_finish_word_is_kept_beside_other(tmp_path: Path) -> None:
    answer = ask(make_replay(write_lines(tmp_path, trial_row("Hi", "a", finish="tired"))), "Hi")
    assert (answer.finish, answer.finish_raw) == (FinishReason.OTHER, "tired")


def test_answer_without_text_stays_without_text(tmp_path: Path) -> None:
    path = write_lines(tmp_path, trial_row("Hi", None, refusal="I will not."))
    answer = ask(make_replay(path), "Hi")
    assert (answer.text, answer.refusal) == (None, "I will not.")


def test_trial_that_was_not_answered_is_not_recorded(tmp_path: Path) -> None:
    unanswered = {**trial_row("Hi", "x"), "answer": None}
    path = write_lines(tmp_path, unanswered, trial_row("Ho", "y"))
    with pytest.raises(ProviderReplyError):
        ask(make_replay(path), "Hi")


def test_models_are_the_recorded_ones(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path,
        trial_row("a", "x", model="model-b"),
        trial_row("b", "x", model="model-a"),
        trial_row("c", "x"),
    )
    assert asyncio.run(make_replay(path).list_models()) == ("model-a", "model-b")


def test_replay_never_leaves_the_machine() -> None:
    assert ProviderEntry(type="replay").trust_zone is TrustZone.LOCAL


def test_entry_without_path_says_what_to_write() -> None:
    setup = ProviderSetup(name="recorded", entry=ProviderEntry(type="replay"))
    with pytest.raises(ConfigurationError, match=r"recorded.*history export"):
        Replay(setup)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"gone\.jsonl cannot be read: No such file"):
        load_recorded_answers(tmp_path / "gone.jsonl")


def test_byte_order_mark_and_crlf_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"prompt": "a", "text": "b"}\r\n\r\n')
    assert load_recorded_answers(path)[0].answer.text == "b"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param("{", "not JSON", id="not-json"),
        pytest.param("[" * 200_000, "nested too deeply", id="deep"),
        pytest.param('"hello"', "neither a line of", id="no-mapping"),
        pytest.param('{"id": 1}', "neither a line of", id="no-known-form"),
        pytest.param('{"type": "call"}', "neither a line of", id="other-type"),
        pytest.param('{"prompt": "a"}', '"prompt" and "text" must be texts', id="no-text"),
        pytest.param('{"prompt": 1, "text": "a"}', "must be texts", id="number"),
        pytest.param('{"prompt": "a", "text": "b", "txt": 1}', 'unknown key "txt"', id="key"),
        pytest.param('{"prompt": "a", "text": "b", "system": 3}', "system: must", id="system"),
        pytest.param('{"type": "trial", "answer": 3}', "answer: must", id="answer"),
        pytest.param('{"type": "trial", "answer": {}}', "needs request_sha256", id="no-request"),
        pytest.param(
            '{"type":"trial","request_sha256":"a","answer":{"usage":{"input_tokens":-1}}}',
            "answer.usage.input_tokens: must",
            id="negative-tokens",
        ),
        pytest.param(
            '{"type":"trial","request_sha256":"a","answer":{"usage":[]}}',
            "answer.usage: must",
            id="usage",
        ),
    ],
)
def test_line_that_cannot_be_used_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = write_lines(tmp_path, {"prompt": "a", "text": "b"}, line)
    with pytest.raises(ConfigurationError) as raised:
        load_recorded_answers(path)
    assert f"{path}:2: " in str(raised.value)
    assert message in str(raised.value)


def test_line_in_another_encoding_is_named(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(b'{"prompt": "a", "text": "\xe4"}\n')
    with pytest.raises(ConfigurationError, match=r"answers\.jsonl:1: not UTF-8 at byte 26"):
        load_recorded_answers(path)


def test_recording_without_texts_says_why(tmp_path: Path) -> None:
    path = write_lines(tmp_path, {"type": "run"}, {**trial_row("Hi", "x"), "answer": None})
    with pytest.raises(ConfigurationError, match=r"no recorded answer.*history\.content"):
        load_recorded_answers(path)


@given(
    prompt=st.text(),
    system=st.none() | st.text(),
    text=st.text(),
)
def test_any_text_is_found_again_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, prompt: str, system: str | None, text: str
) -> None:
    path = write_lines(
        tmp_path_factory.mktemp("replay"), {"prompt": prompt, "system": system, "text": text}
    )
    assert ask(make_replay(path), prompt, system).text == text
