"""The baseline file: written for review, read strictly."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from evalcli.errors import DeclarationError
from evalcli.history.baselines import (
    baseline_document,
    baseline_schema,
    dump_baseline,
    read_baseline_file,
)
from evalcli.records import Baseline, BaselinePrompt, Treatment
from tests.support.builders import make_baseline, make_run, make_trial
from tests.support.record_strategies import any_text, records_of

_SCHEMA = Path(__file__).parents[3] / "docs" / "schemas" / "baseline.schema.json"

names = any_text.filter(bool)
# A lone surrogate is kept; two that meet are one character in JSON.
_json_names = names.filter(lambda text: json.loads(json.dumps(text)) == text)


@st.composite
def baselines(draw: st.DrawFn) -> Baseline:
    """Make any baseline that a history can hold."""
    rows = draw(
        st.lists(
            records_of(BaselinePrompt, {"prompt_id": _json_names, "run_id": names}),
            min_size=1,
            max_size=3,
            unique_by=lambda prompt: prompt.prompt_id,
        )
    )
    return draw(
        records_of(
            Baseline,
            {
                "set_identifier": names,
                "target": names,
                "grader": names,
                "run_id": names,
                "kind": st.sampled_from(["prompts", "questions"]),
                "prompts": st.just({prompt.prompt_id: prompt for prompt in rows}),
                "treatment": records_of(
                    Treatment, {"system": st.none(), "trials": st.integers(1, 1000)}
                ),
                "scoring_version": st.integers(1, 9),
            },
        )
    )


def example() -> Baseline:
    run = make_run(["refund-window", "opening-hours"], run_id="5be0a1b2")
    return make_baseline(run, [make_trial("refund-window"), make_trial("opening-hours")])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "faq.json"


def refusal(path: Path, text: str) -> str:
    """Write and read a file; give all that the refusal says."""
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DeclarationError) as caught:
        read_baseline_file(path)
    return "\n".join([str(caught.value), *(str(fault) for fault in caught.value.faults)])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(baseline=baselines())
def test_a_baseline_comes_back_from_its_file(path: Path, baseline: Baseline) -> None:
    document = baseline_document(baseline)
    # Two lone surrogates that meet are one character in JSON; no model can send them apart.
    assume(json.loads(json.dumps(document)) == document)
    path.write_text(dump_baseline(baseline), encoding="utf-8")
    treatment = replace(baseline.treatment, provider_type=None)  # no file says how it was asked
    expected = replace(baseline, baseline_id=None, source=str(path), treatment=treatment)
    assert read_baseline_file(path) == expected


def test_the_file_has_a_line_for_each_prompt_in_order_of_id() -> None:
    lines = dump_baseline(example()).splitlines()
    prompts = [line for line in lines if '"pass_share"' in line]
    assert [line.split(":")[0] for line in prompts] == [
        '    "opening-hours"',
        '    "refund-window"',
    ]
    assert '"pass_share": "1/1", "score": "1/1", "run": "5be0a1b2"' in prompts[0]


def test_the_file_ends_with_a_line_end() -> None:
    assert dump_baseline(example()).endswith("}\n")


def test_equal_baselines_give_equal_files() -> None:
    turned = replace(example(), prompts=dict(reversed(list(example().prompts.items()))))
    assert dump_baseline(turned) == dump_baseline(example())


def test_the_file_has_no_system_prompt() -> None:
    treatment = Treatment(system="You are ACME's secret.", system_fingerprint="v1:1")
    text = dump_baseline(replace(example(), treatment=treatment))
    assert "secret" not in text
    assert '"system_fingerprint": "v1:1"' in text


def test_what_a_terminal_would_obey_is_escaped() -> None:
    text = dump_baseline(replace(example(), target="\x1b[31mred\u202e"))
    assert '"target": "\\u001b[31mred\\u202e"' in text


def test_line_ends_and_a_byte_order_mark_do_not_count(path: Path) -> None:
    text = "\ufeff" + dump_baseline(example()).replace("\n", "\r\n")
    path.write_bytes(text.encode("utf-8"))
    assert read_baseline_file(path).prompts == example().prompts


def test_the_document_satisfies_the_published_schema() -> None:
    schema = json.loads(_SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(json.loads(dump_baseline(example())))


def test_the_published_schema_is_that_of_the_code() -> None:
    assert json.loads(_SCHEMA.read_text(encoding="utf-8")) == baseline_schema()


class TestRefusals:
    """What is not a baseline as evalcli wrote it is refused, with its place and reason."""

    def test_a_share_that_was_edited(self, path: Path) -> None:
        text = dump_baseline(example()).replace('"pass_share": "1/1"', '"pass_share": "1/2"', 1)
        said = refusal(path, text)
        assert "the checksum is not that of the content: the file was changed by hand" in said
        assert "evalcli baseline export" in said

    def test_a_prompt_that_was_taken_out(self, path: Path) -> None:
        lines = dump_baseline(example()).splitlines()
        kept = [line for line in lines if not line.startswith('    "opening-hours"')]
        assert "checksum" in refusal(path, "\n".join(kept))

    def test_the_place_of_the_checksum_is_named(self, path: Path) -> None:
        text = dump_baseline(example()).replace("support-bot", "other-bot")
        line = next(n for n, row in enumerate(text.splitlines(), 1) if '"sha256"' in row)
        assert f"faq.json:{line}:3: sha256:" in refusal(path, text)

    @pytest.mark.parametrize("text", ["[]", "{}", "null", '{"kind": "evalcli.run"}'])
    def test_a_foreign_file(self, path: Path, text: str) -> None:
        assert "is no baseline file of evalcli" in refusal(path, text)

    def test_a_file_of_a_newer_evalcli(self, path: Path) -> None:
        text = dump_baseline(example()).replace('"schema_version": 1', '"schema_version": 2')
        assert "schema version 2, this evalcli knows up to version 1" in refusal(path, text)

    def test_a_merge_conflict(self, path: Path) -> None:
        text = "<<<<<<< HEAD\n" + dump_baseline(example())
        assert "faq.json:1:1: not JSON" in refusal(path, text)

    def test_a_key_that_is_there_twice(self, path: Path) -> None:
        text = dump_baseline(example()).replace("{\n", '{\n  "kind": "evalcli.baseline",\n', 1)
        assert 'the key "kind" is there twice' in refusal(path, text)

    def test_a_number_that_json_does_not_have(self, path: Path) -> None:
        text = dump_baseline(example()).replace('"scoring_version": 1', '"scoring_version": NaN')
        assert "NaN is no JSON" in refusal(path, text)

    def test_a_file_that_is_nested_too_deeply(self, path: Path) -> None:
        assert "nested too deeply" in refusal(path, "[" * 200_000)

    def test_all_faults_of_the_fields_with_their_places(self, path: Path) -> None:
        text = (
            dump_baseline(example())
            .replace('"pass_share": "1/1"', '"pass_share": "3/2"')
            .replace('"measures": "prompts"', '"measures": "tokens"')
        )
        said = refusal(path, text)
        assert "3 faults" in said
        assert "measures: Input should be 'prompts' or 'questions'" in said
        assert "prompts.opening-hours.pass_share: Value error, more than 1/1" in said
        place = next(n for n, row in enumerate(text.splitlines(), 1) if '"refund-window"' in row)
        assert f"faq.json:{place}:" in said

    @pytest.mark.parametrize("share", ["1/0", "-1/2", "0.5", "1", "٣/٤", "9" * 9999 + "/1"])
    def test_a_share_that_is_no_fraction(self, path: Path, share: str) -> None:
        text = dump_baseline(example()).replace('"score": "1/1"', f'"score": "{share}"', 1)
        assert "prompts.opening-hours.score" in refusal(path, text)

    def test_an_unknown_key(self, path: Path) -> None:
        text = dump_baseline(example()).replace('"run":', '"ran":', 1)
        assert "Extra inputs are not permitted" in refusal(path, text)

    def test_a_baseline_without_prompts(self, path: Path) -> None:
        assert "prompts" in refusal(path, dump_baseline(replace(example(), prompts={})))

    def test_a_file_in_another_encoding(self, path: Path) -> None:
        path.write_bytes(dump_baseline(replace(example(), target="Grüße")).encode("latin-1"))
        with pytest.raises(DeclarationError) as caught:
            read_baseline_file(path)
        (fault,) = caught.value.faults
        assert (fault.message, fault.line) == ("not UTF-8", 5)

    def test_a_file_that_is_missing(self, path: Path) -> None:
        with pytest.raises(DeclarationError, match="cannot be read"):
            read_baseline_file(path)
