"""Keys and prompts never survive in what a provider said."""

from __future__ import annotations

import base64
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.redaction import DETAIL_CHARACTERS, Redactor

KEY = "sk-proj-Ab12Cd34Ef56Gh78/+x"
REDACTOR = Redactor((KEY,))


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(f"Incorrect API key provided: {KEY}. Check it.", id="whole"),
        pytest.param(f"key {KEY[3:11]} is wrong", id="piece"),
        pytest.param(f"key {KEY.upper()} is wrong", id="other-case"),
        pytest.param(f"key {quote(KEY, safe='')} is wrong", id="percent"),
        pytest.param(f"key {KEY.encode().hex()} is wrong", id="hex"),
        pytest.param(f"Basic {base64.b64encode(KEY.encode()).decode()}", id="base64"),
        pytest.param(
            f"Basic {base64.b64encode(b':' + KEY.encode()).decode()}", id="base64-shift-1"
        ),
        pytest.param(
            f"Basic {base64.b64encode(b'u:' + KEY.encode()).decode()}", id="base64-shift-2"
        ),
        pytest.param("Incorrect API key: sk-pr*********************/+x.", id="stars"),
        pytest.param("Incorrect API key: sk-p…/+x", id="ellipsis"),
        pytest.param("Incorrect API key: sk-pxxxxxxxx/+x", id="crosses"),
    ],
)
def test_key_is_taken_out_in_every_form(said: str) -> None:
    cleaned = REDACTOR.clean(said)

    assert "[key]" in cleaned
    for size in range(6, len(KEY) + 1):
        for start in range(len(KEY) - size + 1):
            assert KEY[start : start + size].lower() not in cleaned.lower()


@pytest.mark.parametrize("said", ["it ends in 4711.", "…4711 is no key", "(4711)"])
def test_last_digits_of_a_key_are_taken_out(said: str) -> None:
    assert "4711" not in Redactor(("key-main-4711",)).clean(said)


def test_rest_of_the_message_stays() -> None:
    said = f"Incorrect API key provided: {KEY}. Check it."

    assert REDACTOR.clean(said) == "Incorrect API key provided: [key]. Check it."


def test_short_key_is_taken_out_as_a_word_only() -> None:
    assert Redactor(("abc",)).clean("abc is no key, abcdef is") == "[key] is no key, abcdef is"


def test_prompt_is_taken_out() -> None:
    prompt = "Translate this contract of ACME into German"

    cleaned = REDACTOR.clean(f"bad input: {prompt}!", [prompt])

    assert cleaned == "bad input: [prompt]!"


def test_piece_of_a_prompt_is_taken_out_whatever_its_white_space() -> None:
    prompt = "Line one of the secret text\n\tline two of the secret text\nline three"

    cleaned = REDACTOR.clean("at 'of the secret text line two of the' of input", [prompt])

    assert cleaned == "at '[prompt]' of input"


@pytest.mark.parametrize("form", [r"say \"hello\" to everybody\nnow", "say &quot;hello&quot; to"])
def test_escaped_prompt_is_taken_out(form: str) -> None:
    cleaned = REDACTOR.clean(f"input <{form}> refused", ['Please say "hello" to everybody\nnow'])

    assert "hello" not in cleaned


def test_short_prompt_is_taken_out_whole() -> None:
    assert REDACTOR.clean("cannot answer 'Who am I?' now", ["Who am I?"]) == (
        "cannot answer '[prompt]' now"
    )


def test_prompt_across_the_end_of_the_window_is_taken_out() -> None:
    prompt = " ".join(f"word{number}" for number in range(400))

    cleaned = REDACTOR.clean("x " + prompt, [prompt])

    assert cleaned == "x [prompt]"


def test_message_is_one_bounded_line_without_control_characters() -> None:
    cleaned = REDACTOR.clean("a\x1b[31mred\r\n\u202eback\ud800 " + "word " * 200)

    assert cleaned.startswith("a [31mred back word")
    assert len(cleaned) == DETAIL_CHARACTERS
    assert cleaned.endswith("…")
    assert cleaned.isprintable()


@given(st.text(max_size=300), st.text(max_size=60), st.text(max_size=60))
def test_no_piece_of_the_key_survives_any_surroundings(said: str, before: str, after: str) -> None:
    cleaned = REDACTOR.clean(f"{said[:100]}{before}{KEY}{after}{said}", [before, after])

    assert KEY not in cleaned
    assert KEY[4:14] not in cleaned


@given(
    st.text(alphabet="ab c*.x…", max_size=400),
    st.text(alphabet="ab c*.x…", min_size=1, max_size=30),
)
def test_repetitive_text_is_cleaned_without_error(said: str, key: str) -> None:
    assert len(Redactor((key,)).clean(said, [key, said])) <= DETAIL_CHARACTERS
