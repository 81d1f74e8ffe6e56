"""The workspace file `evalcli.yaml`: providers, models, configurations, gates, history."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    Tag,
    WithJsonSchema,
    model_validator,
)

from evalcli.declarations.scalars import (
    AsList,
    Declaration,
    Exact,
    Flag,
    LongText,
    NonEmptyText,
    TakeText,
    Text,
    ValueFaultError,
    Whole,
)


class TrustZone(StrEnum):
    """Where a provider runs, most trusted first."""

    LOCAL = "local"
    PRIVATE_HOSTED = "private_hosted"
    EXTERNAL_EU = "external_eu"
    EXTERNAL_GLOBAL = "external_global"


# --- secrets: references only, and no message repeats a value ------------------------------------

_REFERENCE = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*|file:.+", re.DOTALL)
_SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie|password|credential", re.I)
_NO_SECRETS = "must be a reference: a secret never stands in a file"
_WRITE_REFERENCE = "write env:NAME_OF_A_VARIABLE or file:/path/of/the/secret"
_NO_ADDRESS = "is no address of a server"
_WRITE_ADDRESS = "write a URL such as https://llm.example/v1"
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def is_secret_reference(text: str) -> bool:
    """Say whether a text names where a secret is (`env:NAME`, `file:PATH`)."""
    return _REFERENCE.fullmatch(text) is not None


def is_secret_header(name: str) -> bool:
    """Say whether a header of this name carries a secret, by its name."""
    return _SECRET_HEADER.search(name) is not None


def secret_reference_fault(text: str) -> ValueFaultError | None:
    """Give the fault of a text that is no reference and may be a secret; it is not repeated."""
    if is_secret_reference(text):
        return None
    return ValueFaultError(_NO_SECRETS, advice=_WRITE_REFERENCE)


def _check_secret_reference(text: str) -> str:
    fault = secret_reference_fault(text)
    if fault is not None:
        raise fault
    return text


SecretReference = Annotated[
    str,
    TakeText,
    AfterValidator(_check_secret_reference),
    WithJsonSchema({"type": "string", "pattern": "^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$"}),
]
"""Where a secret is (`env:NAME`, `file:PATH`), never the secret."""


def header_faults(headers: Mapping[str, str]) -> list[ValueFaultError]:
    """Find header names and values that cannot be sent, and secrets among them.

    Shapes: the `path` of each fault is the header's name.
    """
    faults = []
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            faults.append(ValueFaultError("is no name of an HTTP header", path=(name,)))
        elif is_secret_header(name) and not is_secret_reference(value):
            faults.append(ValueFaultError(_NO_SECRETS, advice=_WRITE_REFERENCE, path=(name,)))
        elif not value.isprintable():
            message = "holds a character that a header cannot carry"
            faults.append(ValueFaultError(message, path=(name,)))
    return faults


def _check_headers(headers: dict[str, str]) -> dict[str, str]:
    faults = header_faults(headers)
    if faults:
        raise ValueFaultError.of(faults)
    return headers


def _check_base_url(text: str) -> str:
    """Refuse an address that cannot work or that carries a secret, without repeating it."""
    try:
        parts = urlsplit(text)
        has_host = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        raise ValueFaultError(_NO_ADDRESS, advice=_WRITE_ADDRESS) from None
    if "@" in parts.netloc:
        raise ValueFaultError(
            "holds a user name or password, and a secret never stands in a file",
            advice="write the address alone, and the secret as api_key: env:NAME",
        )
    if not has_host or parts.scheme not in ("http", "https"):
        raise ValueFaultError(_NO_ADDRESS, advice=_WRITE_ADDRESS)
    if any(sign in text for sign in "?# ") or not text.isprintable():
        raise ValueFaultError(
            'cannot hold a space, "?" or "#"', advice="write the address up to its path"
        )
    return text


# --- providers and models -------------------------------------------------------------------------


class RetrySettings(Declaration):
    """How often and how long a call is tried again.

    Units: `delay_s` and `total_s` in seconds; `tries` counts requests, the first one included.
    """

    tries: Whole = Field(default=3, ge=1, le=20)
    delay_s: Exact = Field(default=Decimal("0.5"), ge=0, le=120)
    total_s: Exact = Field(default=Decimal(120), gt=0, le=3600)


_DEFAULTS_OF_TYPE: Mapping[str, Mapping[str, object]] = {
    "local": {
        "trust_zone": TrustZone.LOCAL,
        "concurrency": 4,  # the slots of the loaded model; more would only wait, and time out
        "timeout_s": Decimal(600),
    },
    "replay": {"trust_zone": TrustZone.LOCAL},
}
"""What an entry has instead of the general defaults: these adapters never leave the machine."""


class ProviderEntry(Declaration):
    """Where to ask: an adapter with its address, key reference, trust zone and limits.

    `api_key` is a reference (`env:NAME` or `file:PATH`), never a key; so is the value of a header
    whose name says that it carries a secret. `path` is a file the adapter reads: recorded answers
    for `replay`, a GGUF model for `local`. `threads` is how many a `local` model computes with.
    `probabilities` says what those of a decision server are worth where the adapter cannot know.
    `allow_plain_http` lists host names that may be reached without TLS beside loopback.
    """

    type: NonEmptyText
    base_url: Annotated[NonEmptyText, AfterValidator(_check_base_url)] | None = None
    api_key: SecretReference | None = None
    headers: Annotated[dict[Text, NonEmptyText], AfterValidator(_check_headers)] = Field(
        default_factory=dict
    )
    trust_zone: Annotated[TrustZone, Field(strict=False), TakeText] = TrustZone.EXTERNAL_GLOBAL
    concurrency: Whole = Field(default=16, ge=1, le=1024)
    requests_per_minute: Whole | None = Field(default=None, ge=1)
    timeout_s: Exact = Field(default=Decimal(60), gt=0, le=3600)
    retry: RetrySettings = RetrySettings()
    allow_plain_http: Annotated[tuple[NonEmptyText, ...], AsList] = ()
    path: NonEmptyText | None = None
    threads: Whole | None = Field(default=None, ge=1, le=1024)
    probabilities: Annotated[Literal["calibrated", "distribution"], TakeText] | None = None
    active: Flag = True

    @model_validator(mode="after")
    def _take_defaults_of_type(self) -> ProviderEntry:
        for name, value in _DEFAULTS_OF_TYPE.get(self.type, {}).items():
            if name not in self.model_fields_set:
                object.__setattr__(self, name, value)
        return self


class Prices(Declaration):
    """Prices of a model in USD per million tokens; None where unknown."""

    input: Exact | None = Field(default=None, ge=0)
    cached_input: Exact | None = Field(default=None, ge=0)
    output: Exact | None = Field(default=None, ge=0)
    as_of: Text | None = None


Capability = Literal["chat", "decision", "embedding", "structured_output"]


class ModelEntry(Declaration):
    """What answers: a model of a provider, with capabilities, context and prices."""

    provider: NonEmptyText
    id: NonEmptyText | None = None
    capabilities: Annotated[tuple[Annotated[Capability, TakeText], ...], AsList] = ()
    context_tokens: Whole | None = Field(default=None, ge=1)
    prices: Prices | None = None
    path: NonEmptyText | None = None
    active: Flag = True


# --- configurations and settings ------------------------------------------------------------------


class ModelCriteria(Declaration):
    """What a model must offer; a price or a context length that is not declared meets no limit.

    Units: prices in USD per million tokens.
    """

    capabilities: Annotated[tuple[Annotated[Capability, TakeText], ...], AsList] = ()
    max_input_price: Exact | None = Field(default=None, ge=0)
    max_output_price: Exact | None = Field(default=None, ge=0)
    min_context: Whole | None = Field(default=None, ge=1)


class ModelChoice(Declaration):
    """A model that is chosen: the first declared one that meets the criteria."""

    criteria: ModelCriteria


def _form_of_model(raw: object) -> str:
    return "(criteria)" if isinstance(raw, Mapping | ModelChoice) else "(name)"


ModelReference = Annotated[
    Annotated[NonEmptyText, Tag("(name)")] | Annotated[ModelChoice, Tag("(criteria)")],
    Discriminator(_form_of_model),
]
"""A model by its name, or the criteria for choosing one."""


class ConfigurationEntry(Declaration):
    """A named use of a model: what a team ships.

    `fallback` names other configurations, in order; they lend model and provider only.
    """

    model: ModelReference
    system: LongText | None = None
    temperature: Exact | None = Field(default=None, ge=0, le=2)
    max_output_tokens: Whole | None = Field(default=None, ge=1)
    seed: Whole | None = None
    fallback: Annotated[tuple[NonEmptyText, ...], AsList] = ()
    active: Flag = True


class EvalSettings(Declaration):
    """Defaults of `evalcli eval`; rates and drops are in 0..1.

    Those with top1, top3 or class in their name are of runs of questions, the other rates and
    drops of runs of prompts.
    """

    configuration: NonEmptyText | None = None
    max_pass_rate_drop: Exact = Field(default=Decimal("0.1"), ge=0, le=1)
    max_mean_score_drop: Exact = Field(default=Decimal("0.1"), ge=0, le=1)
    min_pass_rate: Exact | None = Field(default=None, ge=0, le=1)
    min_mean_score: Exact | None = Field(default=None, ge=0, le=1)
    max_top1_drop: Exact = Field(default=Decimal("0.1"), ge=0, le=1)
    max_top3_drop: Exact = Field(default=Decimal("0.1"), ge=0, le=1)
    max_class_drop: Exact | None = Field(default=None, ge=0, le=1)
    min_top1_rate: Exact | None = Field(default=None, ge=0, le=1)
    min_top3_rate: Exact | None = Field(default=None, ge=0, le=1)
    require_baseline: Flag = False
    baseline_branch: NonEmptyText | None = None


class DecisionSettings(Declaration):
    """Defaults of decisions."""

    configuration: NonEmptyText | None = None


class HistorySettings(Declaration):
    """Where runs are kept, and whether texts are kept with them."""

    path: NonEmptyText = ".evalcli/history.db"
    content: Annotated[Literal["full", "metadata"], TakeText] = "full"


class WorkspaceFile(Declaration):
    """All of `evalcli.yaml`.

    `retrievers` is kept raw, because only a retriever's type knows its options.
    """

    providers: dict[Text, ProviderEntry] = Field(default_factory=dict)
    models: dict[Text, ModelEntry] = Field(default_factory=dict)
    configurations: dict[Text, ConfigurationEntry] = Field(default_factory=dict)
    eval: EvalSettings = EvalSettings()
    decision: DecisionSettings = DecisionSettings()
    retrievers: dict[Text, dict[str, Any]] = Field(default_factory=dict)
    history: HistorySettings = HistorySettings()
