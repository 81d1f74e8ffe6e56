"""The baseline as a file that lives beside the golden set and is read in review like code.

One prompt a line, in order of id, exact numbers as fractions, no answers and no system prompts.
A checksum over the content tells a file that was edited by hand or badly merged.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from evalcli.errors import DeclarationError, Fault
from evalcli.history.cells import exact_cell, need_time, time_cell
from evalcli.records import Baseline, BaselinePrompt, Fingerprints, GitState, Treatment

FILE_KIND = "evalcli.baseline"
FILE_SCHEMA_VERSION = 1

_MAX_BYTES = 50_000_000
_EXPORT = "write it anew with `evalcli baseline export SET > FILE`"


def _check_share(text: str) -> str:
    if Fraction(text) > 1:
        raise ValueError("more than 1/1")
    return text


def _check_not_empty(text: str) -> str:
    if not text:
        raise ValueError("empty")
    return text


def _check_time(text: str) -> str:
    datetime.fromisoformat(text)
    return text


Share = Annotated[str, Field(pattern=r"^[0-9]+/[1-9][0-9]*$"), AfterValidator(_check_share)]
Instant = Annotated[
    str,
    Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$"),
    AfterValidator(_check_time),
]
# Not Field(min_length=1), which refuses the lone surrogates a model's name can hold.
Identifier = Annotated[
    str, AfterValidator(_check_not_empty), Field(json_schema_extra={"minLength": 1})
]


class _Part(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        hide_input_in_errors=True,
        defer_build=True,  # most runs read no baseline from a file
    )


class GitPart(_Part):
    """The commit that the baseline's run was made on."""

    commit: str | None
    branch: str | None
    is_dirty: bool | None


class TreatmentPart(_Part):
    """What the baseline was measured with; of the system prompt only its fingerprint."""

    provider: str | None
    model: str | None
    reported_models: list[str]
    system_fingerprint: str | None
    settings: dict[str, str]
    trials: Annotated[int, Field(ge=1)]


class PromptPart(_Part):
    """One prompt: fingerprints, share of passed trials and score as fractions, and the run."""

    pass_share: Share
    score: Share
    run: Identifier
    asked: str | None
    graded: str | None


class BaselineDocument(_Part):
    """A baseline of evalcli, as `evalcli baseline export` writes it."""

    kind: Literal["evalcli.baseline"]
    schema_version: Literal[1]
    set_identifier: Identifier
    target: Identifier
    grader: Identifier
    measures: Literal["prompts", "questions"]
    run: Identifier
    set_at: Instant
    evalcli_version: str
    scoring_version: Annotated[int, Field(ge=1)]
    git: GitPart
    treatment: TreatmentPart
    prompts: Annotated[dict[Identifier, PromptPart], Field(min_length=1)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


def baseline_document(baseline: Baseline) -> dict[str, object]:
    """Turn a baseline into its document. Equal baselines give equal documents."""
    git, treatment = baseline.git, baseline.treatment
    document: dict[str, object] = {
        "kind": FILE_KIND,
        "schema_version": FILE_SCHEMA_VERSION,
        "set_identifier": baseline.set_identifier,
        "target": baseline.target,
        "grader": baseline.grader,
        "measures": baseline.kind,
        "run": baseline.run_id,
        "set_at": time_cell(baseline.set_at),
        "evalcli_version": baseline.evalcli_version,
        "scoring_version": baseline.scoring_version,
        "git": {"commit": git.commit, "branch": git.branch, "is_dirty": git.is_dirty},
        "treatment": {
            "provider": treatment.provider,
            "model": treatment.model,
            "reported_models": list(treatment.reported_models),
            "system_fingerprint": treatment.system_fingerprint,
            "settings": dict(sorted(treatment.settings.items())),
            "trials": treatment.trials,
        },
        "prompts": {
            prompt_id: {
                "pass_share": exact_cell(prompt.pass_share),
                "score": exact_cell(prompt.score),
                "run": prompt.run_id,
                "asked": prompt.fingerprints.asked,
                "graded": prompt.fingerprints.graded,
            }
            for prompt_id, prompt in sorted(baseline.prompts.items())
        },
    }
    document["sha256"] = _checksum(document)
    return document


def dump_baseline(baseline: Baseline) -> str:
    """Write a baseline's document as the text of its file."""
    document = baseline_document(baseline)
    lines = []
    for key, value in document.items():
        if key == "prompts" and isinstance(value, dict):
            prompts = [f"    {_line(i)}: {_line(prompt)}" for i, prompt in value.items()]
            lines.append('  "prompts": {\n' + ",\n".join(prompts) + "\n  }")
        else:
            lines.append(f"  {_line(key)}: {_line(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _line(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    # Lone surrogates are no UTF-8; what a terminal would obey or hide is no text to review.
    return text if text.isprintable() else json.dumps(value, ensure_ascii=True)


def _checksum(document: Mapping[str, object]) -> str:
    """Hash the content, so that line ends and indentation do not count."""
    content = {key: value for key, value in document.items() if key != "sha256"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


# --- reading ----------------------------------------------------------------------------------


def read_baseline_file(path: Path) -> Baseline:
    """Read a baseline file; its `source` is the file's name as given.

    Raises:
        DeclarationError: it cannot be read, is no such file, or was changed by hand.
    """
    name = str(path)
    text = _read_text(path, name)
    document = _parse(text, name)
    _check_kind(document, name)
    try:
        checked = BaselineDocument.model_validate(document)
    except ValidationError as exc:
        raise _refusal(name, list(_field_faults(exc, text, name))) from None
    if checked.sha256 != _checksum(document):
        line, column = _find_place(text, ("sha256",))
        fault = Fault(
            name,
            line,
            column,
            "sha256",
            "the checksum is not that of the content: the file was changed by hand, or merged",
            _EXPORT,
        )
        raise _refusal(name, [fault])
    return _as_baseline(checked, name)


def _read_text(path: Path, name: str) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as exc:
        raise DeclarationError(
            f"baseline file {name} cannot be read ({exc.strerror or exc})", advice=_EXPORT
        ) from exc
    if len(data) > _MAX_BYTES:
        raise DeclarationError(f"baseline file {name} is over {_MAX_BYTES // 1_000_000} MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        line = data.count(b"\n", 0, exc.start) + 1
        column = exc.start - data.rfind(b"\n", 0, exc.start)
        fault = Fault(name, line, column, "", "not UTF-8", _EXPORT)
        raise _refusal(name, [fault]) from exc


def _parse(text: str, name: str) -> dict[str, object]:
    try:
        document = json.loads(
            text, object_pairs_hook=_unique_pairs, parse_constant=_refuse_constant
        )
    except json.JSONDecodeError as exc:
        fault = Fault(name, exc.lineno, exc.colno, "", f"not JSON: {exc.msg}", _EXPORT)
        raise _refusal(name, [fault]) from exc
    except (ValueError, RecursionError) as exc:
        reason = str(exc) if isinstance(exc, ValueError) else "nested too deeply"
        raise _refusal(name, [Fault(name, 1, 1, "", reason, _EXPORT)]) from exc
    return document if isinstance(document, dict) else {}


def _unique_pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {json.dumps(key)} is there twice")
        found[key] = value
    return found


def _refuse_constant(text: str) -> object:
    raise ValueError(f"{text} is no JSON")


def _check_kind(document: Mapping[str, object], name: str) -> None:
    if document.get("kind") != FILE_KIND:
        raise DeclarationError(f"{name} is no baseline file of evalcli", advice=_EXPORT)
    version = document.get("schema_version")
    if isinstance(version, int) and version > FILE_SCHEMA_VERSION:
        raise DeclarationError(
            f"baseline file {name} has schema version {version}, this evalcli knows up to "
            f"version {FILE_SCHEMA_VERSION}",
            advice="use the newer evalcli that wrote it",
        )


def _field_faults(exc: ValidationError, text: str, name: str) -> Iterator[Fault]:
    for error in exc.errors(include_url=False, include_input=False):
        path = [str(part) for part in error["loc"]]
        line, column = _find_place(text, path)
        yield Fault(name, line, column, ".".join(path), error["msg"], _EXPORT)


def _find_place(text: str, path: Sequence[str]) -> tuple[int, int]:
    """Find a key by looking for the keys that lead to it, each behind the one before."""
    at = 0
    for part in path:
        found = text.find(f"{_line(part)}:", at)
        if found < 0:
            break
        at = found
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def _refusal(name: str, faults: Sequence[Fault]) -> DeclarationError:
    count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
    return DeclarationError(f"baseline file {name} cannot be used: {count}", faults=faults)


def _as_baseline(document: BaselineDocument, source: str) -> Baseline:
    treatment = document.treatment
    return Baseline(
        set_identifier=document.set_identifier,
        target=document.target,
        grader=document.grader,
        kind=document.measures,
        prompts={
            prompt_id: BaselinePrompt(
                prompt_id=prompt_id,
                fingerprints=Fingerprints(asked=prompt.asked, graded=prompt.graded),
                pass_share=Fraction(prompt.pass_share),
                score=Fraction(prompt.score),
                run_id=prompt.run,
            )
            for prompt_id, prompt in document.prompts.items()
        },
        run_id=document.run,
        set_at=need_time(document.set_at),
        treatment=Treatment(
            provider=treatment.provider,
            model=treatment.model,
            reported_models=tuple(treatment.reported_models),
            system_fingerprint=treatment.system_fingerprint,
            settings=treatment.settings,
            trials=treatment.trials,
        ),
        scoring_version=document.scoring_version,
        git=GitState(document.git.commit, document.git.branch, document.git.is_dirty),
        source=source,
        evalcli_version=document.evalcli_version,
    )


def baseline_schema() -> dict[str, object]:
    """Give the JSON Schema of the baseline file, as published in docs/schemas."""
    schema = BaselineDocument.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
