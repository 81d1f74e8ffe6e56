"""The local adapter: what is sent to llama.cpp, what comes back, and a real small model."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from evalcli.declarations.workspace import ModelEntry, ProviderEntry, TrustZone
from evalcli.errors import (
    ConfigurationError,
    ProviderError,
    ProviderReplyError,
    ProviderStatusError,
    ProviderTimeoutError,
)
from evalcli.protocols import ChatModel, ModelChecker, ProviderSetup
from evalcli.providers.llama import (
    AnswerPieces,
    LoadedModel,
    ModelKey,
    collect_answer,
    hold_model,
    release_model,
)
from evalcli.providers.local import (
    CONTEXT_TOKENS,
    MAX_OUTPUT_TOKENS,
    Local,
    chat_document,
    default_threads,
)
from evalcli.records import Answer, ChatRequest, FinishReason, Usage
from tests.support.llama import MODEL, model_file

REQUEST = ChatRequest(model=MODEL.model, prompt="What is the capital of France?")


def make_setup(root: Path | None = None, **entry: object) -> ProviderSetup:
    return ProviderSetup(
        name="here",
        entry=ProviderEntry.model_validate({"type": "local", "threads": 1, **entry}),
        root=root,
    )


# --- what is sent -----------------------------------------------------------------------------


def test_request_without_settings_is_bounded_and_at_temperature_0() -> None:
    document = chat_document(REQUEST)
    assert (document["temperature"], document["max_tokens"]) == (0.0, MAX_OUTPUT_TOKENS)
    assert document["messages"] == [{"role": "user", "content": REQUEST.prompt}]
    assert not document.keys() & {"seed", "response_format"}


def test_request_carries_the_settings_of_the_configuration() -> None:
    request = replace(
        REQUEST, system="Be brief.", temperature=Decimal("0.7"), max_output_tokens=9, seed=4
    )
    document = chat_document(request)
    assert (document["temperature"], document["max_tokens"], document["seed"]) == (0.7, 9, 4)
    assert document["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": REQUEST.prompt},
    ]


@pytest.mark.parametrize("seed", [-1, 2**32 - 1, 2**40])
def test_no_seed_means_random(seed: int) -> None:
    sent = chat_document(replace(REQUEST, seed=seed))["seed"]
    assert isinstance(sent, int)
    assert 0 <= sent < 2**32 - 1


def test_schema_asks_for_constrained_output() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert chat_document(replace(REQUEST, json_schema=schema))["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": schema},
    }


def test_threads_are_half_the_cores_and_at_least_one() -> None:
    assert default_threads() == max(1, (os.cpu_count() or 1) // 2)


def test_local_entry_stays_on_the_machine_and_waits_for_slots_rather_than_times_out() -> None:
    entry = ProviderEntry(type="local")
    assert (entry.trust_zone, entry.concurrency) == (TrustZone.LOCAL, 4)
    assert entry.timeout_s == Decimal(600)


def test_what_a_local_entry_says_itself_is_kept() -> None:
    entry = ProviderEntry(type="local", concurrency=16, timeout_s=Decimal(60))
    assert (entry.concurrency, entry.timeout_s) == (16, Decimal(60))


# --- what comes back --------------------------------------------------------------------------


class ScriptedLlama:
    """Gives pieces one by one until it is told to stop; counts them."""

    def __init__(self, *chunks: Mapping[str, object], error: Exception | None = None) -> None:
        self.chunks = chunks
        self.error = error
        self.given = 0

    def handle_chat_completions(
        self, document: dict[str, object], take: Callable[[Mapping[str, object]], bool]
    ) -> None:
        if self.error is not None:
            raise self.error
        for chunk in self.chunks:
            self.given += 1
            if take(chunk):
                return


def piece(finish: str | None = None, **delta: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], "model": "m"}


def collect(
    server: ScriptedLlama, stop: threading.Event | None = None, private: tuple[str, ...] = ()
) -> Answer:
    return collect_answer(
        "here", LoadedModel(server), {}, stop or threading.Event(), private=private
    )


def test_pieces_become_one_answer() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    answer = collect(
        ScriptedLlama(
            piece(role="assistant", content=None),
            piece(reasoning_content="hm"),
            piece(content="Par"),
            piece(content="is"),
            piece("stop"),
            {"choices": [], "usage": usage, "system_fingerprint": "b1"},
        )
    )
    assert answer == Answer(
        text="Paris",
        finish=FinishReason.STOP,
        finish_raw="stop",
        reasoning="hm",
        model="m",
        usage=Usage(input_tokens=3, output_tokens=2),
        system_fingerprint="b1",
    )


def test_answer_at_the_limit_is_cut_off() -> None:
    answer = collect(ScriptedLlama(piece(content="Par"), piece("length")))
    assert (answer.text, answer.finish) == ("Par", FinishReason.LENGTH)


def test_unknown_finish_word_is_kept_beside_other() -> None:
    pieces = AnswerPieces()
    pieces.take(piece("tired", content="a"))
    answer = pieces.answer()
    assert (answer.finish, answer.finish_raw) == (FinishReason.OTHER, "tired")


def test_stop_ends_the_answer_at_the_next_piece() -> None:
    stop = threading.Event()
    stop.set()
    server = ScriptedLlama(piece(content="a"), piece(content="b"), piece("stop"))
    with pytest.raises(ProviderReplyError, match="broke the answer off"):
        collect(server, stop)
    assert server.given == 1


def test_prompt_that_is_too_long_says_what_to_raise() -> None:
    refusal = {"code": 400, "message": "exceeds", "type": "exceed_context_size_error"}
    with pytest.raises(ProviderStatusError, match=r"exceeds; raise `context_tokens`") as raised:
        collect(ScriptedLlama({"error": refusal}))
    assert (raised.value.status, raised.value.is_retryable) == (400, False)


def test_error_of_llama_is_shown_without_the_prompt() -> None:
    prompt = "the secret plan of the whole company"
    server = ScriptedLlama(error=RuntimeError(f"cannot parse: {prompt}"))
    with pytest.raises(ProviderReplyError) as raised:
        collect(server, private=(prompt,))
    assert "cannot parse" in str(raised.value)
    assert "plan" not in str(raised.value)


# --- which file -------------------------------------------------------------------------------


def write_gguf(folder: Path, name: str = "own.gguf") -> Path:
    """Write a file that begins like a model and is none."""
    path = folder / name
    path.write_bytes(b"GGUF\x03\x00\x00\x00broken")
    return path


@pytest.fixture
def runtime() -> None:
    """Fail clearly where llama.cpp is not installed."""
    model_file()


@pytest.mark.slow
@pytest.mark.usefixtures("runtime")
class TestFile:
    def test_missing_file_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigurationError, match=r'gone\.gguf of provider "here".*No such'):
            Local(make_setup(tmp_path, path="gone.gguf"))

    def test_file_of_another_kind_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "notes.txt").write_text("hello", encoding="utf-8")
        with pytest.raises(ConfigurationError, match=r"notes\.txt .* is no GGUF file"):
            Local(make_setup(tmp_path, path="notes.txt"))

    def test_folder_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigurationError, match="cannot be read"):
            Local(make_setup(tmp_path.parent, path=tmp_path.name))

    def test_model_without_a_file_is_not_answered_by_another_one(self) -> None:
        with pytest.raises(ConfigurationError, match=r'"llama-9" .* names no file.*smollm2-135m'):
            Local(make_setup()).check_model("llama-9")

    def test_path_of_the_model_goes_before_the_path_of_the_provider(self, tmp_path: Path) -> None:
        write_gguf(tmp_path, "provider.gguf")
        setup = replace(
            make_setup(tmp_path, path="provider.gguf"),
            models={"mine": ModelEntry(provider="here", id="mine-1", path="model.gguf")},
        )
        adapter = Local(setup)
        adapter.check_model("any-other")
        with pytest.raises(ConfigurationError, match=r"model\.gguf"):
            adapter.check_model("mine-1")

    def test_damaged_file_is_a_provider_error_each_time(self, tmp_path: Path) -> None:
        write_gguf(tmp_path)

        async def ask_twice() -> None:
            adapter = Local(make_setup(tmp_path, path="own.gguf"))
            for _ in range(2):
                with pytest.raises(ProviderError, match=r"could not load own\.gguf") as raised:
                    await adapter.ask_chat(REQUEST)
                assert not raised.value.is_retryable
            await adapter.aclose()

        asyncio.run(ask_twice())

    def test_models_on_offer_are_those_with_a_file(self, tmp_path: Path) -> None:
        write_gguf(tmp_path)
        models = {
            "mine": ModelEntry(provider="here", path="own.gguf"),
            "gone": ModelEntry(provider="here", path="gone.gguf"),
        }
        adapter = Local(replace(make_setup(tmp_path), models=models))
        assert asyncio.run(adapter.list_models()) == (MODEL.model, "mine")


# --- a real model -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def loaded_model() -> Iterator[None]:
    """Keep the packaged model in memory, so that the adapters of these tests share it."""
    key = ModelKey(model_file(), CONTEXT_TOKENS, threads=1)
    hold_model(key)
    yield
    release_model(key)


def ask_all(*requests: ChatRequest) -> list[Answer]:
    async def ask() -> list[Answer]:
        adapter = Local(make_setup())
        try:
            return await asyncio.gather(*(adapter.ask_chat(request) for request in requests))
        finally:
            await adapter.aclose()

    return asyncio.run(ask())


@pytest.mark.slow
@pytest.mark.usefixtures("loaded_model")
class TestRealModel:
    def test_question_is_answered_with_usage_and_the_name_of_the_file(self) -> None:
        prompt = "What is the capital of France? Answer in one sentence."
        [answer] = ask_all(replace(REQUEST, prompt=prompt))
        assert "Paris" in (answer.text or "")
        assert answer.finish is FinishReason.STOP
        assert answer.model == model_file().stem
        assert answer.usage.input_tokens
        assert answer.usage.output_tokens
        assert answer.usage.cost_usd is None

    def test_answers_are_the_same_one_by_one_and_at_once(self) -> None:
        requests = [
            replace(REQUEST, prompt=prompt, max_output_tokens=30)
            for prompt in ("Tell me a story.", "List five fruits.", "Why is the sky blue?", "Hi")
        ]
        one_by_one = [ask_all(request)[0].text for request in requests]
        assert [answer.text for answer in ask_all(*reversed(requests))][::-1] == one_by_one

    def test_seed_repeats_a_hot_answer_and_another_seed_does_not(self) -> None:
        hot = replace(REQUEST, prompt="Tell me a story.", temperature=Decimal("1.5"), seed=7)
        first, again, other = (
            answer.text
            for answer in ask_all(*[replace(hot, seed=s, max_output_tokens=20) for s in (7, 7, 8)])
        )
        assert first == again
        assert first != other

    def test_limit_cuts_the_answer_off(self) -> None:
        [answer] = ask_all(replace(REQUEST, prompt="Tell me a story.", max_output_tokens=5))
        assert (answer.finish, answer.usage.output_tokens) == (FinishReason.LENGTH, 5)

    def test_schema_binds_the_answer(self) -> None:
        schema = {
            "type": "object",
            "properties": {"city": {"enum": ["Paris", "Rome"]}, "sure": {"type": "boolean"}},
            "required": ["city", "sure"],
            "additionalProperties": False,
        }
        [answer] = ask_all(replace(REQUEST, json_schema=schema))
        document = json.loads(answer.text or "")
        assert document.keys() == {"city", "sure"}
        assert document["city"] in {"Paris", "Rome"}

    def test_schema_that_llama_cannot_use_is_an_error_and_not_a_crash(self) -> None:
        with pytest.raises(ProviderReplyError, match="could not answer"):
            ask_all(replace(REQUEST, json_schema={"type": "banana"}))

    def test_prompt_longer_than_the_context_is_refused(self) -> None:
        with pytest.raises(ProviderStatusError, match="context_tokens"):
            ask_all(replace(REQUEST, prompt="hello " * 4000))

    def test_cancelled_answer_frees_the_model_at_once(self) -> None:
        endless = replace(REQUEST, prompt="Tell a long story.", max_output_tokens=1500)

        async def cancel() -> float:
            adapter = Local(make_setup())
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(adapter.ask_chat(endless), 0.5)
            loop = asyncio.get_running_loop()
            before = loop.time()
            await adapter.aclose()
            return loop.time() - before

        assert asyncio.run(cancel()) < 10  # the whole answer takes half a minute

    def test_answer_that_takes_too_long_is_a_time_out_that_is_not_tried_again(self) -> None:
        endless = replace(REQUEST, prompt="Tell a long story.", max_output_tokens=1500)

        async def ask() -> None:
            adapter = Local(make_setup(timeout_s=Decimal("0.3")))
            try:
                await adapter.ask_chat(endless)
            finally:
                await adapter.aclose()

        with pytest.raises(ProviderTimeoutError, match=r"timed out after 0\.3 s") as raised:
            asyncio.run(ask())
        assert not raised.value.is_retryable

    def test_adapter_is_a_chat_model(self) -> None:
        adapter = Local(make_setup())
        assert isinstance(adapter, ChatModel)
        assert isinstance(adapter, ModelChecker)


_QUIET = """
import asyncio
from evalcli.declarations.workspace import ProviderEntry
from evalcli.protocols import ProviderSetup
from evalcli.providers.local import Local
from evalcli.records import ChatRequest

async def main():
    adapter = Local(ProviderSetup("here", ProviderEntry(type="local", threads=1)))
    await adapter.ask_chat(ChatRequest("smollm2-135m", "Hi", max_output_tokens=3))
    late = adapter.ask_chat(ChatRequest("smollm2-135m", "Tell a story.", max_output_tokens=1500))
    await asyncio.wait_for(late, 0.5)

asyncio.run(main())
"""


@pytest.mark.slow
def test_process_that_ends_within_an_answer_ends_in_order_and_llama_says_nothing() -> None:
    model_file()
    done = subprocess.run(
        [sys.executable, "-c", _QUIET], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 1  # the time-out; a crash would be a negative number
    assert done.stdout == ""
    assert done.stderr.startswith("Traceback")
    assert done.stderr.splitlines()[-1].startswith("TimeoutError")
