"""Files to declarations: every rule of golden sets with its place and its words."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcli.declarations.prompt_set import DataClass, PromptSet
from evalcli.declarations.scalars import ValueFaultError
from evalcli.loading.nodes import Place
from evalcli.loading.reader import read_declaration
from tests.support.yaml_text import read_set, set_faults

ROWS = "prompts: [{id: a, prompt: b, reference: c}]\n"
HEAD = "kind: prompts\nidentifier: acme.faq\nname: FAQ\n"


def prompts_faults(prompts: str) -> list[str]:
    """Faults of a set with these prompts, without the file's name; they begin at line 5."""
    text = f"{HEAD}prompts:\n{dedent(prompts).strip(chr(10))}\n"
    return [str(fault).removeprefix("sets/x.yaml:") for fault in read_set(text).faults]


def accepted(text: str) -> PromptSet:
    reading = read_set(text)
    assert reading.faults == ()
    assert isinstance(reading.declaration, PromptSet)
    return reading.declaration


# --- what is read ---------------------------------------------------------------------------------


def test_everything_that_may_be_declared() -> None:
    declared = accepted(
        """
        kind: prompts
        identifier: acme.faq
        name: FAQ answers
        description: Common questions are answered correctly.
        data_class: source_code
        prompts:
          - id: opening-hours
            prompt: When is the office open? Answer with the days.
            system: You are a concise assistant.
            reference: Monday to Friday, 9am to 5pm.
            assertions:
              - contains: Monday
              - regex: '/9(:00)?\\s*(am|–|-)/i'
          - id: contact-json
            prompt: Return the contact as JSON with an "email" field.
            skip: the model cannot
            assertions:
              - json_schema: {type: object, properties: {email: {type: string}}}
                unwrap: fence
        """
    )

    assert declared.identifier == "acme.faq"
    assert declared.data_class is DataClass.SOURCE_CODE
    first, second = declared.prompts
    assert first.system == "You are a concise assistant."
    assert first.reference == "Monday to Friday, 9am to 5pm."
    assert len(first.assertions) == 2
    assert second.skip == "the model cannot"


@pytest.mark.parametrize(
    "source",
    [
        "234_0",
        "007",
        "1e3",
        "0x1F",
        "2026-11-30",
        "12:30",
        "1.10",
        "yes",
        "off",
        "true",
        "1.0",
        "~x",
    ],
)
def test_scalars_keep_their_source_text(source: str) -> None:
    declared = accepted(
        f"""
        kind: prompts
        identifier: a.b
        name: {source}
        description: {source}
        prompts:
          - id: {source}
            prompt: {source}
            system: {source}
            reference: {source}
            skip: {source}
        """
    )
    prompt = declared.prompts[0]
    found = {declared.name, declared.description, prompt.id, prompt.prompt}

    assert found | {prompt.system, prompt.reference, prompt.skip} == {source}


def test_quoted_empty_text_is_text() -> None:
    declared = accepted(
        """
        kind: prompts
        identifier: a.b
        name: x
        description: ""
        prompts: [{id: a, prompt: b, reference: c, system: ''}]
        """
    )

    assert declared.description == ""
    assert declared.prompts[0].system == ""


def test_long_texts_come_from_files() -> None:
    declared = accepted(
        f"{HEAD}prompts: [{{id: a, prompt: {{file: x.md}}, reference: {{file: y.md}}}}]"
    )

    assert declared.prompts[0].prompt == "x.md"
    assert declared.prompts[0].reference == "y.md"


def test_merges_and_aliases_are_used() -> None:
    declared = accepted(
        f"""{HEAD}prompts:
  - &first {{id: a, prompt: P, assertions: &checks [contains: x]}}
  - {{<<: *first, id: b}}
  - {{id: c, prompt: Q, assertions: *checks}}
"""
    )

    assert [prompt.prompt for prompt in declared.prompts] == ["P", "P", "Q"]


def test_reading_knows_its_identifier_and_place() -> None:
    reading = read_set("kind: prompts\nidentifier: acme.faq\n")

    assert reading.identifier == "acme.faq"
    assert reading.place == Place(2, 13)
    assert reading.declaration is None


@pytest.mark.parametrize(
    "line", ["identifier: a.b", "identifier: 'a.b'", 'identifier:  "a.b"  # x']
)
def test_identifier_of_a_file_that_is_no_yaml(line: str) -> None:
    reading = read_set(f"kind: prompts\n{line}\nname: 'x\n")

    assert reading.identifier == "a.b"
    assert reading.place.line == 2
    assert len(reading.faults) == 1


def test_identifier_of_a_file_in_another_encoding() -> None:
    data = "kind: prompts\r\nidentifier: a.b\r\nname: Größe\r\n".encode("latin-1")
    reading = read_declaration(data, "x", folder="sets", read_text=str)

    assert reading.identifier == "a.b"


@pytest.mark.parametrize(
    "line", ["identifier: A.b", "  identifier: a.b", "identifier: a..b", "x: a.b"]
)
def test_no_identifier_to_be_found(line: str) -> None:
    assert read_set(f"kind: prompts\n{line}\nname: 'x\n").identifier is None


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "",
            ["1:1: the file is empty; write a declaration, or delete it"],
            id="empty",
        ),
        pytest.param(
            "- a\n",
            ["1:1: must be a mapping; write keys and values, one `key: value` a line"],
            id="list",
        ),
        pytest.param(
            "{}\n",
            [
                '1:1: the key "kind" is missing; add "kind:"',
                '1:1: the key "identifier" is missing; add "identifier:"',
                '1:1: the key "name" is missing; add "name:"',
                '1:1: the key "prompts" is missing; add "prompts:"',
            ],
            id="nothing",
        ),
        pytest.param(
            "kind: promts\nidentifier: a.b\nname: x\nprompts: []\n",
            [
                '1:7: kind: "promts" is not known here; write "prompts"; known: prompts',
                "4:10: prompts: is empty; add at least one",
            ],
            id="misspelt-kind",
        ),
        pytest.param(
            "kind: [prompts]\nidentifier: a.b\nname: x\nprompts: {}\n",
            [
                "1:7: kind: must be one word, and is a list; write prompts",
                "4:10: prompts: must be a list, and is a mapping; write one item a line, each "
                'after "- "',
            ],
            id="wrong-forms",
        ),
        pytest.param(
            f"kind: prompts\nidentifier: Acme FAQ\nname: ''\n{ROWS}",
            [
                '2:13: identifier: "Acme FAQ" is no identifier; write lower-case letters, digits '
                "and _ in parts joined by dots, such as acme.faq",
                "3:7: name: is empty; write the text",
            ],
            id="identifier",
        ),
        pytest.param(
            f"kind: prompts\nidentifier: a.b\nname:\ndescription: ~\ndata_class: secret\n{ROWS}",
            [
                '3:6: name: is empty where text is needed; write the text, in quotes: "…"',
                '4:14: description: is null where text is needed; quote it: "~"',
                '5:13: data_class: "secret" is not known here; write one of public_content, '
                "editor_content, source_code, internal_configuration, system_diagnostics, "
                "secret_adjacent",
            ],
            id="texts",
        ),
        pytest.param(
            f"kind: prompts\nidentifer: a.b\nname: x\n{ROWS}zzz: 1\n",
            [
                '2:1: unknown key "identifer"; write "identifier"',
                '5:1: unknown key "zzz"; known keys: kind, identifier, name, description, '
                "data_class, prompts",
            ],
            id="unknown-keys",
        ),
    ],
)
def test_fault_of_a_set(text: str, expected: list[str]) -> None:
    assert set_faults(text) == [f"sets/x.yaml:{line}" for line in expected]


@pytest.mark.parametrize("identifier", ["a", "a_b.c", "a.b.c", "007.x", "_._"])
def test_identifiers_that_fit(identifier: str) -> None:
    text = f"kind: prompts\nidentifier: {identifier}\nname: x\n{ROWS}"

    assert accepted(text).identifier == identifier


@pytest.mark.parametrize(
    "identifier", ["''", ".a", "a.", "a..b", "a-b", "A", "a b", "ä", "'a\n\n  b'"]
)
def test_identifiers_that_do_not_fit(identifier: str) -> None:
    text = f"kind: prompts\nidentifier: {identifier}\nname: x\n{ROWS}"

    assert "is no identifier" in set_faults(text)[0]


@pytest.mark.parametrize(
    ("prompts", "expected"),
    [
        pytest.param(
            "- id: a\n  prompt: p\n  assertion:\n    - {contains: x}\n",
            ['7:3: prompts[0]: unknown key "assertion" (prompt "a"); write "assertions"'],
            id="misspelt-assertions-are-one-fault",
        ),
        pytest.param(
            "- id: a\n  prompt: p\n  asserts: []\n  refrence: x\n",
            [
                '7:3: prompts[0]: unknown key "asserts" (prompt "a"); write "assertions"',
                '8:3: prompts[0]: unknown key "refrence" (prompt "a"); write "reference"',
            ],
            id="two-misspelt-keys",
        ),
        pytest.param(
            "- id: a\n  promt: p\n  reference: x\n",
            ['6:3: prompts[0]: unknown key "promt" (prompt "a"); write "prompt"'],
            id="misspelt-key-is-not-missing-too",
        ),
        pytest.param(
            "- prompt: p\n  reference: x\n",
            ['5:3: prompts[0]: the key "id" is missing; add "id:"'],
            id="no-id",
        ),
        pytest.param(
            "- id: ''\n  prompt: p\n  reference: x\n- id: ' '\n  prompt: p\n  reference: x\n",
            [
                "5:7: prompts[0].id: is empty; write the text",
                "8:7: prompts[1].id: is empty; write the text",
            ],
            id="empty-ids",
        ),
        pytest.param(
            "- id: a\n  reference: x\n",
            ['5:3: prompts[0]: the key "prompt" is missing (prompt "a"); add "prompt:"'],
            id="no-prompt",
        ),
        pytest.param(
            "- id: a\n  prompt: ' '\n  reference: ''\n  skip: ''\n",
            [
                '6:11: prompts[0].prompt: is empty (prompt "a"); write the text',
                '7:14: prompts[0].reference: is empty (prompt "a"); write the text',
                '8:9: prompts[0].skip: is empty (prompt "a"); write the text',
            ],
            id="empty-texts",
        ),
        pytest.param(
            "- id: a\n  prompt: p\n",
            [
                "5:3: prompts[0]: has neither assertions nor a reference, so nothing would be "
                'checked (prompt "a"); add at least one assertion, or a reference'
            ],
            id="nothing-to-check",
        ),
        pytest.param(
            "- id: a\n  prompt: p\n  reference: x\n  assertions: []\n",
            [
                '8:15: prompts[0].assertions: is empty (prompt "a"); add an assertion, or leave '
                "the key out and give a reference"
            ],
            id="empty-assertions",
        ),
        pytest.param(
            "- id: a\n  prompt: p\n  assertions:\n  system: [x]\n",
            [
                '7:14: prompts[0].assertions: must be a list, and is empty (prompt "a"); write one '
                'item a line, each after "- "',
                '8:11: prompts[0].system: must be text, and is a list (prompt "a"); write one text',
            ],
            id="wrong-forms",
        ),
        pytest.param(
            "- id: a\n  prompt: p\n  assertions: [contains, 3]\n",
            [
                '7:16: prompts[0].assertions[0]: must be a mapping (prompt "a"); write a type and '
                'its value, such as "contains: Monday"',
                '7:26: prompts[0].assertions[1]: must be a mapping (prompt "a"); write a type and '
                'its value, such as "contains: Monday"',
            ],
            id="assertions-are-mappings",
        ),
        pytest.param(
            "- id: a\n  prompt: {fil: x}\n  reference: {file: x, b: c}\n  system: {file: [x]}\n",
            [
                "6:11: prompts[0].prompt: must be text, or a mapping with the one key `file` "
                '(prompt "a"); write the text, or {file: path/in/the/workspace.md}',
                "7:14: prompts[0].reference: must be text, or a mapping with the one key `file` "
                '(prompt "a"); write the text, or {file: path/in/the/workspace.md}',
                '8:18: prompts[0].system.file: must be the path of a file (prompt "a")',
            ],
            id="long-texts",
        ),
        pytest.param(
            "- a\n- [x]\n-\n",
            [
                "5:3: prompts[0]: must be a mapping, and is text; write keys and values below it",
                "6:3: prompts[1]: must be a mapping, and is a list; write keys and values below it",
                "7:2: prompts[2]: must be a mapping, and is empty; write keys and values below it",
            ],
            id="prompts-are-mappings",
        ),
    ],
)
def test_fault_of_a_prompt(prompts: str, expected: list[str]) -> None:
    assert prompts_faults(prompts) == expected


def test_block_list_is_placed_at_its_key() -> None:
    faults = set_faults(
        "kind: prompts\nidentifier: a.b\nname:\n  - x\nprompts: [{id: a, prompt: b, reference: c}]"
    )

    assert faults == ["sets/x.yaml:3:1: name: must be text, and is a list; write one text"]


def test_repeated_ids_name_the_first_line() -> None:
    prompts = "".join(f"- {{id: {name}, prompt: p, reference: r}}\n" for name in "abaca")

    assert prompts_faults(prompts) == [
        '7:8: prompts[2].id: "a" is used twice, first at sets/x.yaml:5; give it another id',
        '9:8: prompts[4].id: "a" is used twice, first at sets/x.yaml:5; give it another id',
    ]


def test_ids_are_compared_as_written() -> None:
    assert (
        prompts_faults("- {id: 1, prompt: p, reference: r}\n- {id: 1.0, prompt: p, reference: r}")
        == []
    )
    assert (
        "is used twice"
        in prompts_faults(
            "- {id: 1, prompt: p, reference: r}\n- {id: '1', prompt: p, reference: r}"
        )[0]
    )


def test_repetition_by_alias_is_at_the_alias() -> None:
    assert prompts_faults(
        """
        - &x {id: a, prompt: p, reference: r}
        - *x
        - <<: *x
          prompt: q
        """
    ) == [
        '6:3: prompts[1].id: "a" is used twice, first at sets/x.yaml:5; give it another id',
        '7:3: prompts[2].id: "a" is used twice, first at sets/x.yaml:5; give it another id',
    ]


def test_fault_of_an_anchor_is_said_once() -> None:
    assert prompts_faults(
        """
        - &x {id: a, prompt: p, foo: 1, reference: r}
        - {<<: *x, id: b}
        - {<<: *x, id: c}
        """
    ) == [
        '5:25: prompts[0]: unknown key "foo" (prompt "a"); known keys: id, prompt, system, '
        "reference, assertions, skip"
    ]


def test_yaml_faults_stand_among_the_others_in_order() -> None:
    faults = prompts_faults(
        """
        - id: a
          prompt: !x p
          prompt: q
          foo: 1
          reference: *nope
        """
    )

    assert [line.split(": ")[0] for line in faults] == ["6:11", "7:3", "8:3", "9:14"]


def test_all_faults_are_found_at_once() -> None:
    prompts = "".join(f"- {{id: p{n}, prompt: '', foo: 1}}\n" for n in range(30))

    assert len(prompts_faults(prompts)) == 90


def test_number_of_faults_is_bounded() -> None:
    assert len(prompts_faults("- 1\n" * 5000)) == 1000


def test_kind_of_another_tool() -> None:
    assert set_faults("kind: deployment\nidentifier: a.b\n") == [
        'sets/x.yaml:1:7: kind: "deployment" is no kind of declaration in sets/; '
        "write one of prompts, questions"
    ]


def test_kind_that_belongs_elsewhere() -> None:
    data = b"kind: prompts\nidentifier: a.b\n"
    reading = read_declaration(data, "x", folder="elsewhere", read_text=str)

    assert [fault.message for fault in reading.faults] == [
        '"prompts" is no kind of declaration in elsewhere/'
    ]
    assert reading.faults[0].advice == "move the file to sets/"


# --- hostile text ---------------------------------------------------------------------------------


def test_messages_are_bounded_and_harmless() -> None:
    name = "x\\e[31m" + "y" * 900
    [fault] = read_set(f'{HEAD}"{name}": 1\nprompts: [{{id: a, prompt: b, reference: c}}]').faults

    assert len(str(fault)) < 400
    assert "\x1b" not in str(fault)
    assert r"\x1b[31m" in str(fault)


def test_faults_of_long_texts_are_placed_at_the_name() -> None:
    def refuse(name: str) -> str:
        raise ValueFaultError(f"no {name}", advice="write another", path=("file",))

    data = f"{HEAD}prompts:\n  - id: a\n    reference: r\n    prompt:\n      file: x.md\n".encode()
    reading = read_declaration(data, "x", folder="sets", read_text=refuse)

    assert [str(fault) for fault in reading.faults] == [
        'x:8:13: prompts[0].prompt.file: no x.md (prompt "a"); write another'
    ]


@given(st.binary(max_size=300))
def test_any_bytes_give_a_reading(data: bytes) -> None:
    reading = read_declaration(data, "x", folder="sets", read_text=str)

    assert reading.declaration is None
    assert reading.faults


scalar = st.sampled_from(
    ["a", "''", "", "1", "null", "true", "[]", "{}", "[a]", "{b: c}", "*x", "&x a", "!y z"]
)
row = st.dictionaries(
    st.sampled_from(["id", "prompt", "system", "reference", "assertions", "skip", "foo", "<<"]),
    scalar,
    max_size=5,
).map(lambda fields: "{" + ", ".join(f"{key}: {value}" for key, value in fields.items()) + "}")


@given(st.lists(row | scalar, max_size=4))
def test_any_rows_are_used_or_refused(rows: list[str]) -> None:
    text = HEAD + "prompts:\n" + "".join(f"  - {item}\n" for item in rows)
    reading = read_declaration(text.encode(), "x", folder="sets", read_text=str)

    assert (reading.declaration is None) == bool(reading.faults)
    places = [(fault.line, fault.column) for fault in reading.faults]
    assert places == sorted(places)
    assert len({str(fault) for fault in reading.faults}) == len(reading.faults)


ids = st.text(
    st.characters(
        exclude_categories=["Cs", "Cc"], exclude_characters="\u2028\u2029\ufeff\ufffe\uffff"
    ),
    min_size=1,
).filter(str.strip)


@given(st.lists(ids, min_size=1, max_size=5, unique=True))
def test_any_id_survives(names: list[str]) -> None:
    quoted = [name.replace("'", "''") for name in names]
    text = (
        HEAD
        + "prompts:\n"
        + "".join(f"  - {{id: '{q}', prompt: p, reference: r}}\n" for q in quoted)
    )

    assert [prompt.id for prompt in accepted(text).prompts] == names
