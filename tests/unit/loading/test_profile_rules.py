"""Profiles in files: faults have places, and what the author wrote is what is used."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.declarations.profile import ChoiceQuestion, Profile, ScoreQuestion
from evalcli.loading.reader import Reading, read_declaration

HEAD = "kind: profile\nidentifier: a.b\nversion: 1\nquestions:\n"


def read(text: str, folder: str = "profiles") -> Reading:
    return read_declaration(text.encode(), "p.yaml", folder=folder, read_text=lambda path: path)


def faults(text: str, folder: str = "profiles") -> list[str]:
    return [str(fault).removeprefix("p.yaml:") for fault in read(text, folder).faults]


def options(text: str) -> tuple[str, ...]:
    """The options of a choice whose list is written as `text`."""
    reading = read(f"{HEAD}  q: {{type: choice, instructions: x, options: {text}}}\n")
    assert reading.faults == ()
    assert isinstance(reading.declaration, Profile)
    question = reading.declaration.questions["q"]
    assert isinstance(question, ChoiceQuestion)
    return question.options


def test_the_example_of_the_manual() -> None:
    reading = read(
        dedent("""\
        kind: profile
        identifier: my_ext.rag_answer
        version: 1
        description: Is a RAG answer fit to show?
        data_class: editor_content
        requires: [task, candidate, evidence]
        questions:
          verdict:
            type: choice
            instructions: What should happen to `candidate`?
            options: [publish, revise, discard]
            descriptions: {revise: 'Right in substance, needs rework'}
          supported:
            type: yes_no
            instructions: Is every claim in `candidate` supported by `evidence`?
            yes: Every claim is backed by a passage.     # optional criteria
            no: At least one claim has no passage behind it.
          answers_task:
            type: score
            instructions: How completely does `candidate` answer `task`?
            levels: [Not at all, Partly, Completely]
        """)
    )

    assert reading.faults == ()
    assert isinstance(reading.declaration, Profile)
    assert list(reading.declaration.questions) == ["verdict", "supported", "answers_task"]


@pytest.mark.parametrize("name", ["0", "1", "yes", "no", "on", "007", "1e3", "0x1F", "2026-11-30"])
def test_options_keep_their_source_text(name: str) -> None:
    assert options(f"[{name}, other]") == (name, "other")


def test_a_quoted_null_is_an_option() -> None:
    assert options("['null', \"~\"]") == ("null", "~")


def test_a_plain_null_is_none() -> None:
    text = f"{HEAD}  q: {{type: choice, instructions: x, options: [null, b]}}\n"

    assert faults(text) == [
        '5:48: questions.q.options[0]: is null where text is needed; quote it: "null"'
    ]


def test_descriptions_are_found_by_source_text() -> None:
    text = (
        f"{HEAD}  q: {{type: choice, instructions: x, options: [0, yes], "
        "descriptions: {0: zero, yes: indeed}}\n"
    )
    reading = read(text)

    assert reading.faults == ()
    assert isinstance(reading.declaration, Profile)
    question = reading.declaration.questions["q"]
    assert isinstance(question, ChoiceQuestion)
    assert question.descriptions == {"0": "zero", "yes": "indeed"}


def test_yes_and_no_are_keys_of_a_question() -> None:
    reading = read(f"{HEAD}  q: {{type: yes_no, instructions: x, yes: a, no: b}}\n")

    assert reading.faults == ()


@given(st.lists(st.text(min_size=1).filter(str.strip), min_size=2, max_size=10, unique=True))
def test_any_levels_are_read_back(levels: list[str]) -> None:
    from json import dumps

    reading = read(f"{HEAD}  q: {{type: score, instructions: x, levels: {dumps(levels)}}}\n")

    if not reading.faults:  # a control character is a fault of the file
        assert isinstance(reading.declaration, Profile)
        question = reading.declaration.questions["q"]
        assert isinstance(question, ScoreQuestion)
        assert list(question.levels) == levels


def test_instructions_may_stand_in_a_file() -> None:
    reading = read(f"{HEAD}  q: {{type: yes_no, instructions: {{file: long.md}}}}\n")

    assert isinstance(reading.declaration, Profile)
    assert reading.declaration.questions["q"].instructions == "long.md"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        pytest.param(
            "q:\n    type: choice\n    instructions: x\n    options: [publish]\n",
            "8:14: questions.q.options: needs 2 to 255 options, has 1; add another",
            id="options",
        ),
        pytest.param(
            "q: {type: score, instructions: x, levels: [a, b, a]}\n",
            '5:52: questions.q.levels[2]: "a" is the same level twice, first at p.yaml:5; '
            "give each level a text of its own",
            id="levels",
        ),
        pytest.param(
            "q:\n    type: choice\n    instructions: x\n    options: [a, b]\n    levels: [a, b]\n",
            '9:5: questions.q: unknown key "levels"; known keys: type, instructions, options, '
            "descriptions",
            id="key-of-another-type",
        ),
        pytest.param(
            "q:\n    type: score\n    instructions: x\n    levles: [a, b]\n",
            '8:5: questions.q: unknown key "levles"; write "levels"',
            id="misspelt-key-is-one-fault",
        ),
        pytest.param(
            "q:\n    type: boolean\n    instructions: x\n",
            '6:11: questions.q.type: "boolean" is no type of question; write one of yes_no, '
            "choice, score",
            id="type",
        ),
        pytest.param(
            "Q: {type: yes_no, instructions: x}\n",
            '5:6: questions.Q: "Q" is no key of a question; begin with a lower-case letter, go on '
            "with those, digits and _",
            id="key",
        ),
        pytest.param(
            "q: {type: yes_no, instructions: ''}\n",
            "5:35: questions.q.instructions: is empty; write the text",
            id="instructions",
        ),
        pytest.param(
            "q: {type: yes_no, instructions: x}\n  q: {type: yes_no, instructions: y}\n",
            "6:3: questions.q: is written twice, first at p.yaml:5; keep one of them",
            id="key-twice",
        ),
    ],
)
def test_faults_have_places(question: str, expected: str) -> None:
    assert faults(f"{HEAD}  {question}") == [expected]


def test_a_missing_version() -> None:
    text = "kind: profile\nidentifier: a.b\nquestions: {q: {type: yes_no, instructions: x}}\n"

    assert faults(text) == ['1:1: the key "version" is missing; add "version:"']


def test_a_set_among_profiles() -> None:
    assert faults("kind: prompts\nidentifier: a.b\n") == [
        '1:7: kind: "prompts" is no kind of declaration in profiles/; move the file to sets/'
    ]


def test_a_profile_among_sets() -> None:
    assert faults(f"{HEAD}  q: {{type: yes_no, instructions: x}}\n", "sets") == [
        '1:7: kind: "profile" is no kind of declaration in sets/; move the file to profiles/'
    ]
