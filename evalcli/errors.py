"""The exception tree, the places of faults, and the exit statuses.

    EvalcliError                      exit  code
    ├── UsageError                       2  usage
    ├── DeclarationError                 2  declaration       (carries every Fault)
    ├── ConfigurationError               2  configuration
    ├── TrustZoneError                   2  trust_zone
    ├── HistoryError                     2  history           (3 once something was sent)
    ├── BudgetError                      2  budget            (3 once something was sent)
    ├── ProviderError                    3  provider
    │   ├── ProviderConnectionError      3  provider_connection
    │   ├── ProviderTimeoutError         3  provider_timeout
    │   ├── ProviderStatusError          3  provider_status
    │   └── ProviderReplyError           3  provider_reply
    ├── DecisionError              2 or 3  its DecisionCode
    ├── OutputError                      3  output
    └── InterruptedRunError            130  interrupted

A failed gate is no exception: it is a `records.Verdict`. Anything that is not an `EvalcliError`
is a bug and ends in exit status 70.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum, StrEnum


class ExitStatus(IntEnum):
    """What the process tells its caller. A promise: add, never redefine."""

    OK = 0
    GATE_FAILED = 1
    USAGE = 2
    INCOMPLETE = 3
    BUG = 70
    INTERRUPTED = 130


EXIT_STATUS_MEANINGS: dict[ExitStatus, str] = {
    ExitStatus.OK: "done, and no gate failed",
    ExitStatus.GATE_FAILED: (
        "a gate looked and said no, or could not compare while --fail-on-regression was given"
    ),
    ExitStatus.USAGE: (
        "wrong usage, or an invalid declaration or configuration: nothing was sent, nothing spent"
    ),
    ExitStatus.INCOMPLETE: "a provider or a decision failed: the run is incomplete",
    ExitStatus.BUG: "a bug in evalcli: two lines, what happened and where the log is",
    ExitStatus.INTERRUPTED: (
        "interrupted (SIGINT, SIGTERM): what was measured is kept, the command to resume is printed"
    ),
}

_PRECEDENCE = (
    ExitStatus.BUG,
    ExitStatus.INTERRUPTED,
    ExitStatus.INCOMPLETE,
    ExitStatus.USAGE,
    ExitStatus.GATE_FAILED,
    ExitStatus.OK,
)


def strongest_status(statuses: Iterable[ExitStatus]) -> ExitStatus:
    """Choose the status to report where several apply; OK where there is none."""
    present = set(statuses)
    return next((status for status in _PRECEDENCE if status in present), ExitStatus.OK)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong in one file, with its place and what to write instead.

    Units: `line` and `column` count from 1, and are 0 where the fault is in no line (a package);
    `column` counts characters. `path` is the dotted
    place in the document (`prompts[0].assertions[1]`), empty where the fault is the whole file's.
    """

    file: str
    line: int
    column: int
    path: str
    message: str
    advice: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: " if self.line else f"{self.file}: "
        where = f"{self.path}: " if self.path else ""
        advice = f"; {self.advice}" if self.advice else ""
        return f"{place}{where}{self.message}{advice}"


class EvalcliError(Exception):
    """Base of every error a person can act on.

    `message` says what is wrong, `advice` what to do about it (may be empty).
    """

    exit_status: ExitStatus = ExitStatus.USAGE
    code: str = "error"

    def __init__(self, message: str, *, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.message}; {self.advice}" if self.advice else self.message


class UsageError(EvalcliError):
    """The call's words are off: an unknown name, an option value out of range."""

    code = "usage"


class DeclarationError(EvalcliError):
    """A declaration cannot be used. `faults` has every fault found, in file order."""

    code = "declaration"

    def __init__(self, message: str, *, faults: Iterable[Fault] = (), advice: str = "") -> None:
        super().__init__(message, advice=advice)
        self.faults = tuple(faults)

    def __str__(self) -> str:
        return "\n".join([super().__str__(), *(str(fault) for fault in self.faults)])


class ConfigurationError(EvalcliError):
    """The workspace's providers, models or configurations do not give what was asked for."""

    code = "configuration"


class TrustZoneError(EvalcliError):
    """A provider that the call can reach may not receive this class of data."""

    code = "trust_zone"


class HistoryError(EvalcliError):
    """The history cannot be opened, read or written."""

    code = "history"

    def __init__(self, message: str, *, advice: str = "", was_sent: bool = False) -> None:
        super().__init__(message, advice=advice)
        if was_sent:
            self.exit_status = ExitStatus.INCOMPLETE


class BudgetError(EvalcliError):
    """A budget does not allow the call."""

    code = "budget"

    def __init__(self, message: str, *, advice: str = "", was_sent: bool = False) -> None:
        super().__init__(message, advice=advice)
        if was_sent:
            self.exit_status = ExitStatus.INCOMPLETE


class ProviderError(EvalcliError):
    """A provider did not give a usable answer.

    `detail` is the provider's own message: at most 200 characters, without keys and prompt text.
    `retry_after_s` is the wait the server asked for, in seconds, None where it named none.
    `tries` counts requests sent; it is filled in by the call pipeline.
    """

    exit_status = ExitStatus.INCOMPLETE
    code = "provider"

    def __init__(
        self,
        provider: str,
        message: str,
        *,
        status: int | None = None,
        detail: str = "",
        is_retryable: bool = False,
        retry_after_s: float | None = None,
        advice: str = "",
    ) -> None:
        super().__init__(message, advice=advice)
        self.provider = provider
        self.status = status
        self.detail = detail
        self.is_retryable = is_retryable
        self.retry_after_s = retry_after_s
        self.tries = 1


class ProviderConnectionError(ProviderError):
    """No connection, or it broke: refused, reset, DNS, TLS."""

    code = "provider_connection"


class ProviderTimeoutError(ProviderError):
    """The whole call did not end within `timeout_s`."""

    code = "provider_timeout"


class ProviderStatusError(ProviderError):
    """The provider answered with an HTTP status that is not a success."""

    code = "provider_status"


class ProviderReplyError(ProviderError):
    """The provider answered 200 with something that is not an answer of its own form."""

    code = "provider_reply"


class DecisionCode(StrEnum):
    """Why there is no decision. A promise: add, never redefine."""

    UNKNOWN_PROFILE = "UNKNOWN_PROFILE"
    INVALID_PROFILE = "INVALID_PROFILE"
    MISSING_SUBJECT_FIELD = "MISSING_SUBJECT_FIELD"
    NO_CONFIGURATION = "NO_CONFIGURATION"
    UNKNOWN_CONFIGURATION = "UNKNOWN_CONFIGURATION"
    DATA_CLASS_NOT_PERMITTED = "DATA_CLASS_NOT_PERMITTED"
    MODEL_CANNOT_DECIDE = "MODEL_CANNOT_DECIDE"
    REJECTED = "REJECTED"
    INVALID_ANSWER = "INVALID_ANSWER"
    FAILED = "FAILED"
    NO_SUCH_ANSWER = "NO_SUCH_ANSWER"

    @property
    def meaning(self) -> str:
        """What it tells a person."""
        return _DECISION_MEANINGS[self][0]

    @property
    def exit_status(self) -> ExitStatus | None:
        """What a command ends with; None for a fault of the calling program only."""
        return _DECISION_MEANINGS[self][1]


_DECISION_MEANINGS: dict[DecisionCode, tuple[str, ExitStatus | None]] = {
    DecisionCode.UNKNOWN_PROFILE: ("no such profile is declared", ExitStatus.USAGE),
    DecisionCode.INVALID_PROFILE: (
        "the profile is declared invalid, twice, or changed without a new version",
        ExitStatus.USAGE,
    ),
    DecisionCode.MISSING_SUBJECT_FIELD: (
        "the subject lacks a field that the profile requires",
        ExitStatus.USAGE,
    ),
    DecisionCode.NO_CONFIGURATION: (
        "neither the request nor `decision.configuration` names a configuration",
        ExitStatus.USAGE,
    ),
    DecisionCode.UNKNOWN_CONFIGURATION: (
        "there is no such configuration, or it is inactive",
        ExitStatus.USAGE,
    ),
    DecisionCode.DATA_CLASS_NOT_PERMITTED: (
        "a provider that the call can reach may not receive this class of data",
        ExitStatus.USAGE,
    ),
    DecisionCode.MODEL_CANNOT_DECIDE: (
        "there is no model that can answer, or it declares `decision` on an adapter that makes "
        "none",
        ExitStatus.USAGE,
    ),
    DecisionCode.REJECTED: (
        "the provider refused the request; asking again unchanged does not help",
        ExitStatus.INCOMPLETE,
    ),
    DecisionCode.INVALID_ANSWER: (
        "the model answered, but not with one valid answer to each question",
        ExitStatus.INCOMPLETE,
    ),
    DecisionCode.FAILED: (
        "everything else: outage, time-out, rate limit, no money, exhausted fallbacks",
        ExitStatus.INCOMPLETE,
    ),
    DecisionCode.NO_SUCH_ANSWER: (
        "the result was asked for a key that the profile has no question for",
        None,
    ),
}


class DecisionError(EvalcliError):
    """There is no decision, for the reason that `code` names; the cause is chained.

    Its text begins with the code, so that a person finds it in the manual.
    """

    def __init__(self, code: DecisionCode, message: str, *, advice: str = "") -> None:
        super().__init__(f"{code}: {message}", advice=advice)
        self.code: DecisionCode = code
        self.exit_status = code.exit_status or ExitStatus.USAGE


class OutputError(EvalcliError):
    """A result was made and could not be written where it was to go."""

    exit_status = ExitStatus.INCOMPLETE
    code = "output"


class InterruptedRunError(EvalcliError):
    """A person or the system stopped the run; what was measured is kept."""

    exit_status = ExitStatus.INTERRUPTED
    code = "interrupted"

    def __init__(self, message: str, *, run_id: str, advice: str = "") -> None:
        super().__init__(message, advice=advice)
        self.run_id = run_id


def describe_foreign(exc: BaseException) -> str:
    """Describe in one line an exception that code which is not ours raised, whatever it is."""
    name = type(exc).__name__
    try:
        said = str(exc)
    except Exception:  # noqa: BLE001 - one that cannot say what it is must not hide that it came
        said = ""
    return " ".join((f"{name}: {said}" if said else name).split())[:200]
