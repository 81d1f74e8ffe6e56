"""Entries of the workspace made in Python: secrets are references here, too."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from evalcli.declarations.workspace import (
    ProviderEntry,
    TrustZone,
    WorkspaceFile,
    header_faults,
    is_secret_header,
    is_secret_reference,
    secret_reference_fault,
)

SECRET = "sk-4711"


@pytest.mark.parametrize(
    "name",
    ["Authorization", "x-api-key", "API-KEY", "X-Auth", "my-token", "Cookie", "client-secret"],
)
def test_headers_that_carry_secrets(name: str) -> None:
    assert is_secret_header(name)


@pytest.mark.parametrize("name", ["User-Agent", "X-Team", "OpenAI-Organization", "Accept"])
def test_headers_that_carry_none(name: str) -> None:
    assert not is_secret_header(name)


@pytest.mark.parametrize("text", ["env:A", "env:_a1", "file:x", "file:/run/secrets/key"])
def test_references(text: str) -> None:
    assert is_secret_reference(text)
    assert secret_reference_fault(text) is None


@pytest.mark.parametrize("text", ["", "env:", "env:1", "env:A B", "file:", SECRET, "x env:A"])
def test_no_references(text: str) -> None:
    fault = secret_reference_fault(text)

    assert fault is not None
    assert SECRET not in str(fault)


def test_faults_of_headers() -> None:
    headers = {"fine": "x", "x-key": SECRET, "a b": "x", "y": "a\nb", "auth": "env:A"}

    assert [fault.path for fault in header_faults(headers)] == [("x-key",), ("a b",), ("y",)]


@pytest.mark.parametrize(
    "entry",
    [
        {"api_key": SECRET},
        {"headers": {"Authorization": f"Bearer {SECRET}"}},
        {"base_url": f"https://user:{SECRET}@llm.example/v1"},
        {"timeout_s": SECRET},
    ],
)
def test_secrets_are_not_in_errors(entry: dict[str, object]) -> None:
    with pytest.raises(ValidationError) as caught:
        ProviderEntry.model_validate({"type": "openai", **entry})

    assert SECRET not in str(caught.value)


def test_words_are_taken_as_text_or_enum() -> None:
    assert (
        ProviderEntry.model_validate({"type": "x", "trust_zone": "local"}).trust_zone
        is TrustZone.LOCAL
    )
    assert ProviderEntry(type="x", trust_zone=TrustZone.LOCAL).trust_zone is TrustZone.LOCAL


def test_an_empty_workspace_declares_nothing() -> None:
    empty = WorkspaceFile()

    assert not empty.providers
    assert empty.eval.max_pass_rate_drop * 10 == 1
    assert empty.history.content == "full"
