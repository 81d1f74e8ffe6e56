"""YAML text to nodes: places, keys, aliases, merges, tags, bounds; the same with both parsers."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from evalcli.loading import yaml_text
from evalcli.loading.nodes import MappingNode, Place, ScalarNode, SequenceNode, find_node
from evalcli.loading.source_text import decode_source
from evalcli.loading.yaml_text import ParserClass, parse_yaml, read_yaml
from tests.support.yaml_text import PARSERS, fault_lines, read_text, texts_of, values_of

both_parsers = pytest.mark.parametrize(
    "parser", [pytest.param(parser, id=parser.__name__) for parser in PARSERS]
)


def node_at(text: str, *path: str | int) -> object:
    document = read_text(text)
    assert document.root is not None
    assert not document.faults
    return find_node(document.root, path)


def test_c_parser_serves_where_there_is_one() -> None:
    assert yaml_text.FAST_PARSER is yaml.CSafeLoader


# --- scalars --------------------------------------------------------------------------------------


@both_parsers
@pytest.mark.parametrize(
    "text", ["234_0", "007", "1e3", "0x1F", "2026-11-30", "12:30", "1.10", "yes", "a b", "x:y"]
)
def test_source_text_is_kept(parser: ParserClass, text: str) -> None:
    root = read_text(f"{text}: [{text}]\nb: {text}  # comment\n", parser).root

    assert texts_of(root) == {text: [text], "b": text}


@both_parsers
def test_quoted_scalars_are_text(parser: ParserClass) -> None:
    root = read_text(""" a: '12'\n b: "true"\n c: ''\n d: "null"\n e: ! 12\n""", parser).root

    assert values_of(root) == {"a": "12", "b": "true", "c": "", "d": "null", "e": "12"}


@both_parsers
def test_block_scalars_are_text_with_lf(parser: ParserClass) -> None:
    data = b"a: |\r\n  x\r\n  12\r\nb: >-\r\n  y\r\n  z\r\nc: |-\r\n  12\r\n"

    assert values_of(read_yaml(data, parser=parser).root) == {"a": "x\n12\n", "b": "y z", "c": "12"}


@both_parsers
def test_words_as_keys_are_text(parser: ParserClass) -> None:
    root = read_text("yes: 1\nno: 2\non: 3\n1.0: 4\n2026-01-01: 5\nnull: 6\n'': 7\n", parser).root

    assert isinstance(root, MappingNode)
    assert list(root.entries) == ["yes", "no", "on", "1.0", "2026-01-01", "null", ""]


@both_parsers
@pytest.mark.parametrize(
    ("tagged", "value"),
    [
        ("!!str 12", "12"),
        ("!!str null", "null"),
        ("!!int 12", 12),
        ("!!int '12'", 12),
        ("!!float 12", 12),
        ("!!bool true", True),
        ("!!null ''", None),
    ],
)
def test_core_tags_are_read(parser: ParserClass, tagged: str, value: object) -> None:
    assert values_of(read_text(f"a: {tagged}\n", parser).root) == {"a": value}


@both_parsers
@pytest.mark.parametrize(
    "tagged",
    [
        "!custom x",
        "!!python/name:os.system x",
        "!!python/object/apply:os.system [echo]",
        "!!binary aGk=",
        "!!timestamp 2026-01-01",
        "!!set {x}",
        "!!omap [x: 1]",
        "!<tag:yaml.org,2002:python/tuple> [1]",
        "!undefined!x y",
    ],
)
def test_other_tags_are_refused(parser: ParserClass, tagged: str) -> None:
    lines = fault_lines(read_text(f"b: 1\na: {tagged}\n", parser))

    assert lines == [
        "2:4: a: has a tag, and tags such as !custom or !!python/name are not read; "
        'remove it, or put a text that begins with "!" in quotes'
    ]


@both_parsers
@pytest.mark.parametrize(
    "tagged", ["!!int x", "!!bool yes", "!!float .x", "!!null x", "!!int true"]
)
def test_core_tags_must_fit(parser: ParserClass, tagged: str) -> None:
    name = tagged[2:].split()[0]

    assert fault_lines(read_text(f"a: {tagged}\n", parser)) == [
        f"1:4: a: is no value of the type !!{name}; remove the tag, or the value"
    ]


@both_parsers
def test_half_characters_are_refused(parser: ParserClass) -> None:
    lines = fault_lines(read_text('a: "x\\ud83d\\ude00"\n', parser))

    assert len(lines) == 1
    assert lines[0].startswith("1:")


@both_parsers
def test_escape_beyond_unicode_is_refused(parser: ParserClass) -> None:
    document = read_text('b: 1\na: "x\\U00110000"\n', parser)

    assert document.root is None
    assert document.faults[0].place.line == 2
    assert "a backslash in double quotes" in document.faults[0].message


# --- places ---------------------------------------------------------------------------------------


@both_parsers
def test_places_count_lines_and_characters(parser: ParserClass) -> None:
    root = read_yaml("\ufeffä: {ö: 😀, x: y}\r\nlist:\r\n  - a\r\n".encode(), parser=parser).root

    assert isinstance(root, MappingNode)
    assert root.place == Place(1, 1)
    inner = root.entries["ä"]
    assert isinstance(inner, MappingNode)
    assert inner.place == Place(1, 4)
    assert inner.keys["x"].place == Place(1, 11)
    assert inner.entries["x"].place == Place(1, 14)
    items = root.entries["list"]
    assert isinstance(items, SequenceNode)
    assert items.items[0].place == Place(3, 5)


# --- keys -----------------------------------------------------------------------------------------


@both_parsers
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\nb: 2\na: 3\n", "3:1: a: is written twice, first at line 1; keep one of them"),
        ("b: {x: 1, x: 1}\n", "1:11: b.x: is written twice, first at line 1; keep one of them"),
        ("1: a\n'1': b\n", "2:1: 1: is written twice, first at line 1; keep one of them"),
        (
            "p:\n  - id: x\n    c d: 1\n    c d: 2\n",
            '4:5: p[0]["c d"]: is written twice, first at line 3; keep one of them',
        ),
    ],
)
def test_repeated_keys_name_both_lines(parser: ParserClass, text: str, line: str) -> None:
    assert fault_lines(read_text(text, parser)) == [line]


@both_parsers
def test_all_repeated_keys_are_named(parser: ParserClass) -> None:
    document = read_text("a: 1\na: 2\nb: {c: 1, c: 2}\na: 3\n", parser)

    assert [fault.place for fault in document.faults] == [Place(2, 1), Place(3, 11), Place(4, 1)]
    assert values_of(document.root) == {"a": 1, "b": {"c": 1}}


@both_parsers
@pytest.mark.parametrize("key", ["? [a]\n", "? {a: b}\n", "[a, b]"])
def test_keys_must_be_text(parser: ParserClass, key: str) -> None:
    document = read_text(f"x: 1\n{key}: 1\ny: 2\n", parser)

    assert [fault.message for fault in document.faults] == ["a key must be text"]
    assert document.faults[0].place.line == 2
    assert values_of(document.root) == {"x": 1, "y": 2}


@both_parsers
def test_empty_key_is_refused(parser: ParserClass) -> None:
    assert fault_lines(read_text("a: 1\n? \n: 2\n", parser)) == [
        '2:2: ["?"]: a key is empty; write a word before the colon'
    ]


# --- aliases and merges ---------------------------------------------------------------------------


@both_parsers
def test_aliases_stand_for_their_values(parser: ParserClass) -> None:
    root = read_text("a: &x {k: &y v}\nb: *x\nc: [*y, *x]\n*y : z\n", parser).root

    assert values_of(root) == {"a": {"k": "v"}, "b": {"k": "v"}, "c": ["v", {"k": "v"}], "v": "z"}


@both_parsers
def test_anchor_may_be_used_again(parser: ParserClass) -> None:
    root = read_text("a: &x 1\nb: *x\nc: &x {d: &x 2, e: *x}\n", parser).root

    assert values_of(root) == {"a": 1, "b": 1, "c": {"d": 2, "e": 2}}


@both_parsers
@pytest.mark.parametrize("text", ["b: 1\na: &x [1, *x]\n", "b: 1\na: &x {k: {k: *x}}\n"])
def test_alias_inside_its_value_is_refused(parser: ParserClass, text: str) -> None:
    document = read_text(text, parser)

    assert document.root is None
    assert document.faults[0].place.line == 2
    assert document.faults[0].message == "an alias stands inside the value it names"


@both_parsers
def test_alias_without_anchor_is_refused_and_not_repeated(parser: ParserClass) -> None:
    lines = fault_lines(read_text("a: *secret\nb: &secret 1\n", parser))

    assert lines == [
        "1:4: a: an alias names no anchor that stands before it; write the anchor (&name) first, "
        'or put a text that begins with "*" in quotes'
    ]


@both_parsers
def test_merge_adds_what_is_not_there(parser: ParserClass) -> None:
    root = read_text(
        """
        one: &one {a: 1, b: 1}
        two: &two {b: 2, c: 2}
        mapped: {a: 0, <<: *one}
        listed:
          <<: [*one, *two, {d: 3}]
          c: 0
        nested: &nested {<<: *one, e: 5}
        deep: {<<: *nested}
        """,
        parser,
    ).root
    values = values_of(root)

    assert isinstance(values, dict)
    assert values["mapped"] == {"a": 0, "b": 1}
    assert values["listed"] == {"c": 0, "a": 1, "b": 1, "d": 3}
    assert values["deep"] == {"e": 5, "a": 1, "b": 1}


@both_parsers
def test_quoted_merge_sign_is_a_key(parser: ParserClass) -> None:
    assert values_of(read_text("a: {'<<': 1}\n", parser).root) == {"a": {"<<": 1}}


@both_parsers
@pytest.mark.parametrize("value", ["1", "[1]", "*x", "[*x]", ""])
def test_merge_needs_mappings(parser: ParserClass, value: str) -> None:
    lines = fault_lines(read_text(f"x: &x [1]\na: {{<<: {value}}}\n", parser))

    assert lines[0].startswith('2:5: a: "<<" needs mappings; write `<<: *name`')


@both_parsers
def test_second_merge_is_refused(parser: ParserClass) -> None:
    lines = fault_lines(read_text("x: &x {b: 1}\na:\n  <<: *x\n  <<: *x\n", parser))

    assert lines == [
        '4:3: a: "<<" is written twice, first at line 3; write one `<<: [*one, *other]`'
    ]


# --- bounds ---------------------------------------------------------------------------------------


@both_parsers
@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("[" * 101, "is nested deeper than 100 levels", id="lists"),
        pytest.param("{a: " * 5000, "is nested deeper than 100 levels", id="mappings"),
        pytest.param("- " * 101 + "a", "is nested deeper than 100 levels", id="block"),
        pytest.param(
            f"a: &x {'[' * 60}{']' * 60}\nb: {'[' * 60}*x{']' * 60}\n",
            "is nested deeper than 100 levels",
            id="nesting-by-alias",
        ),
        pytest.param(
            "".join(
                f"a{n}: &a{n} [{', '.join([f'*a{n - 1}' if n else 'lol'] * 10)}]\n"
                for n in range(10)
            ),
            "aliases repeat more than 100,000 values",
            id="billion-laughs",
        ),
        pytest.param(
            f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 101)}]\n",
            "aliases repeat more than 10,000,000 characters",
            id="long-text-by-alias",
        ),
    ],
)
def test_bound_is_named(parser: ParserClass, text: str, message: str) -> None:
    document = parse_yaml(text, parser=parser)

    assert document.root is None or message.startswith("aliases")
    assert [fault.message for fault in document.faults] == [message]


@pytest.mark.slow
def test_number_of_values_is_bounded() -> None:
    document = parse_yaml("- a\n" * 250_001)

    assert document.root is None
    assert document.faults[0].message == "the file holds more than 250,000 values"


@both_parsers
def test_a_hundred_levels_are_read(parser: ParserClass) -> None:
    document = parse_yaml("[" * 100 + "]" * 100, parser=parser)

    assert not document.faults


# --- whole files ----------------------------------------------------------------------------------


@both_parsers
@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n...\n"])
def test_empty_file(parser: ParserClass, text: str) -> None:
    document = read_text(text, parser)

    if document.root is None:
        assert fault_lines(document) == [
            "1:1: : the file is empty; write a declaration, or delete it"
        ]
    else:
        assert values_of(document.root) is None


@both_parsers
def test_second_document_is_refused(parser: ParserClass) -> None:
    assert fault_lines(read_text("---\na: 1\n---\nb: 1\n", parser)) == [
        "3:1: : a second document begins here; write one declaration a file and remove this `---`"
    ]


@both_parsers
def test_document_marks_are_read(parser: ParserClass) -> None:
    assert values_of(read_text("%YAML 1.2\n---\na: no\n...\n", parser).root) == {"a": "no"}


@both_parsers
@pytest.mark.parametrize("line", ["%YAML 1.1", "%YAML 1.3", "%TAG ! tag:x,2000:", "%FOO bar"])
def test_other_directives_are_refused(parser: ParserClass, line: str) -> None:
    assert fault_lines(read_text(f"# comment\n{line}\n---\na: 1\n", parser)) == [
        "2:1: : a line begins with %, and only %YAML 1.2 may; remove the line, or indent it"
    ]


@both_parsers
def test_other_encoding_is_a_fault_with_a_place(parser: ParserClass) -> None:
    document = read_yaml("a: 1\nb: Größe\n".encode("latin-1"), parser=parser)

    assert document.root is None
    assert document.faults[0].place == Place(2, 6)


# --- syntax errors --------------------------------------------------------------------------------


@both_parsers
@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a: b: c\n", "1:5", 'no "key: value" can begin; put a text that holds ": " in quotes'),
        ("a: 1\n  b: 2\n", "2:4", "line the key up with its neighbours"),
        ("a:\n\t- b\n", "2:1", "a tab stands where YAML takes spaces only; indent with spaces"),
        ("a: @x\n", "1:4", 'a text without quotes cannot begin with "@"; put it in quotes'),
        ("a: `x`\n", "1:4", 'cannot begin with "`"; put it in quotes'),
        ("a: %x\n", "1:4", 'cannot begin with "%"; put it in quotes'),
        ('a: "x\\d+y"\n', "1:6", r"write \\ for a backslash, or put the text in single quotes"),
        ("a: 'x\nb: 1\n", "1:4", "a quote is opened here and never closed"),
        ('a: "x\n', "1:4", "a quote is opened here and never closed"),
        ("a: [1, 2\nb: 3\n", "1:4", "lacks a comma or its ]"),
        ("a: {b: 1\n", "1:4", "lacks a comma or its }"),
        ("a: 1\nbroken line\nc: 2\n", "2:1", 'a key has no colon and space after it; write "key:'),
        ("a: *\n", "1:4", "a * or & begins an alias or an anchor, and no name follows"),
        ("- a\nb: c\n", "2:1", "the line does not continue what stands above it"),
        ('a: "b" c\n', "1:8", "the line does not continue what stands above it"),
        ("a: | x\n", "1:4", "the sign | or > begins a text in lines of its own"),
        ("a: }\n", "1:4", "is no YAML; put texts with special characters in quotes"),
    ],
)
def test_syntax_errors_say_what_to_write(
    parser: ParserClass, text: str, place: str, words: str
) -> None:
    document = read_text(text, parser)

    assert document.root is None
    [line] = fault_lines(document)
    assert line.startswith(f"{place}: ")
    assert words in line


@both_parsers
@pytest.mark.parametrize(
    "text",
    ["key: 'sk-4711", 'key: "sk-4711\\q"', "key: [sk-4711", "sk-4711\nkey: 1", "key: a: sk-4711"],
)
def test_syntax_errors_repeat_no_text(parser: ParserClass, text: str) -> None:
    assert "4711" not in "".join(fault_lines(read_text(text, parser)))


def test_faults_before_a_syntax_error_are_kept() -> None:
    document = read_text("a: 1\na: 2\nb: 'x\n")

    assert [fault.place for fault in document.faults] == [Place(2, 1), Place(3, 4)]


# --- properties -----------------------------------------------------------------------------------

printable = st.text(
    st.characters(
        exclude_categories=["Cs", "Cc"], exclude_characters="\u2028\u2029\ufeff\ufffe\uffff"
    )
)

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | printable
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(printable, inner, max_size=4),
    max_leaves=12,
)


@given(json_values)
def test_json_is_yaml(value: object) -> None:
    text = json.dumps({"a": value}, ensure_ascii=False)

    for parser in PARSERS:
        document = parse_yaml(text, parser=parser)
        assert not document.faults
        assert values_of(document.root) == {"a": value}


@given(printable)
def test_any_text_can_be_quoted(text: str) -> None:
    single = text.replace("'", "''")

    for parser in PARSERS:
        document = parse_yaml(f"a: '{single}'\n", parser=parser)
        assert texts_of(document.root) == {"a": text}


@given(printable.filter(lambda text: text == text.strip()))
def test_any_plain_scalar_keeps_its_source(text: str) -> None:
    found = [parse_yaml(f"- {text}\n- end\n", parser=parser) for parser in PARSERS]

    if isinstance(found[0].root, SequenceNode) and isinstance(found[0].root.items[0], ScalarNode):
        scalar = found[0].root.items[0]
        if scalar.is_plain and not found[0].faults and " #" not in text and text[:1] not in "*&!#":
            assert scalar.text == text
    assert texts_of(found[0].root) == texts_of(found[1].root)


@given(st.binary(max_size=120))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for parser in PARSERS:
        document = read_yaml(data, parser=parser)
        assert document.root is not None or document.faults


yaml_like = st.lists(
    st.sampled_from(
        [
            *"ab:-?[]{},&*!|>'\"%@`#~ \n",
            ": ",
            "- ",
            "\n  ",
            "\n- ",
            "&x ",
            "*x",
            "<<: ",
            "!!str ",
            "\\x",
            "...",
            "---\n",
        ]
    ),
    max_size=25,
).map("".join)


@given(yaml_like)
def test_both_parsers_mean_the_same(text: str) -> None:
    found = [parse_yaml(decode_source(text.encode()), parser=parser) for parser in PARSERS]

    # They differ in what malformed text they let pass, never in what text means.
    if not found[0].faults and not found[1].faults:
        assert texts_of(found[0].root) == texts_of(found[1].root)
    for fault in (*found[0].faults, *found[1].faults):
        assert 1 <= fault.place.line <= text.count("\n") + 1
