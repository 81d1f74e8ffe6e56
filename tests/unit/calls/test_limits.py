"""How fast, and how often again."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.calls.limits import RateLimit, RetryPolicy
from evalcli.declarations.workspace import RetrySettings
from evalcli.errors import ProviderError
from tests.support.calls import JumpingTime

POLICY = RetryPolicy.of(RetrySettings())


def make_error(*, is_retryable: bool = True, retry_after_s: float | None = None) -> ProviderError:
    return ProviderError(
        "main", "main said 503", is_retryable=is_retryable, retry_after_s=retry_after_s
    )


def decide(
    error: ProviderError,
    *,
    policy: RetryPolicy = POLICY,
    tries: int = 1,
    elapsed_s: float = 0,
    chance: float = 0,
) -> float | None:
    return policy.decide(error, tries=tries, elapsed_s=elapsed_s, random=lambda: chance).wait_s


def test_backoff_doubles_up_to_eight_seconds() -> None:
    policy = RetryPolicy(tries=20, delay_s=0.5, total_s=120)

    waits = [decide(make_error(), policy=policy, tries=tries) for tries in range(1, 8)]

    assert waits == [0.5, 1, 2, 4, 8, 8, 8]


def test_chance_takes_up_to_a_quarter_off() -> None:
    assert decide(make_error(), chance=1.0) == 0.375


def test_delay_of_zero_is_no_wait() -> None:
    assert decide(make_error(), policy=RetryPolicy(3, 0, 120), tries=2) == 0


def test_delay_over_eight_seconds_is_kept() -> None:
    assert decide(make_error(), policy=RetryPolicy(3, 20, 120), tries=2) == 20


def test_wait_of_the_server_goes_before_the_backoff() -> None:
    assert decide(make_error(retry_after_s=2.5), chance=0.7) == 2.5


def test_error_that_does_not_pass_is_not_tried_again() -> None:
    assert decide(make_error(is_retryable=False, retry_after_s=1)) is None


def test_tries_are_bounded() -> None:
    assert decide(make_error(), tries=2) is not None
    assert decide(make_error(), tries=3) is None


def test_wait_of_two_minutes_is_waited() -> None:
    policy = RetryPolicy(3, 0.5, 600)

    assert decide(make_error(retry_after_s=120), policy=policy) == 120


def test_longer_wait_ends_the_attempt_with_a_note() -> None:
    decision = POLICY.decide(make_error(retry_after_s=3600), tries=1, elapsed_s=0, random=lambda: 0)

    assert decision.wait_s is None
    assert decision.note == "it asks to wait 3600 s, and evalcli waits 120 s at most"


def test_wait_beyond_the_total_is_not_started() -> None:
    decision = POLICY.decide(make_error(retry_after_s=30), tries=1, elapsed_s=90, random=lambda: 0)

    assert decision.wait_s is None
    assert "would exceed the 120 s" in decision.note
    assert decide(make_error(retry_after_s=30), elapsed_s=89) == 30


@given(
    st.integers(1, 25),
    st.floats(0, 10_000),
    st.none() | st.floats(0, 1e9),
    st.floats(0, 1, exclude_max=True),
    st.floats(0, 120),
)
def test_wait_never_exceeds_what_is_left(
    tries: int, elapsed_s: float, asked_s: float | None, chance: float, delay_s: float
) -> None:
    wait_s = decide(
        make_error(retry_after_s=asked_s),
        policy=RetryPolicy(20, delay_s, 300),
        tries=tries,
        elapsed_s=elapsed_s,
        chance=chance,
    )

    assert wait_s is None or (0 <= wait_s <= 120 and elapsed_s + wait_s < 300 and tries < 20)


def test_requests_are_spread_evenly() -> None:
    time = JumpingTime()
    limit = RateLimit(120, clock=time.clock, sleep=time.sleep)
    times: list[float] = []

    async def send() -> None:
        for _ in range(4):
            await limit.wait_for_turn()
            times.append(time.now - 1000)

    asyncio.run(send())

    assert times == [0, 0.5, 1.0, 1.5]


def test_requests_that_wait_together_get_a_turn_each() -> None:
    time = JumpingTime()
    limit = RateLimit(60, clock=time.clock, sleep=time.sleep)

    async def send() -> None:
        await asyncio.gather(*(limit.wait_for_turn() for _ in range(3)))

    asyncio.run(send())

    assert time.waits == [1.0, 1.0] or time.waits == [1.0, 2.0]


def test_quiet_time_is_not_saved_up() -> None:
    time = JumpingTime()
    limit = RateLimit(60, clock=time.clock, sleep=time.sleep)

    async def send() -> None:
        await limit.wait_for_turn()
        time.now += 100
        await limit.wait_for_turn()
        await limit.wait_for_turn()

    asyncio.run(send())

    assert time.waits == [1.0]


def test_without_a_limit_nobody_waits() -> None:
    time = JumpingTime()
    limit = RateLimit(None, clock=time.clock, sleep=time.sleep)

    async def send() -> None:
        for _ in range(100):
            await limit.wait_for_turn()

    asyncio.run(send())

    assert time.waits == []


@pytest.mark.parametrize("tries", [1, 20])
def test_settings_are_taken(tries: int) -> None:
    policy = RetryPolicy.of(RetrySettings(tries=tries))

    assert (policy.tries, policy.delay_s, policy.total_s) == (tries, 0.5, 120)
