"""Builders for decisions: a profile with every type of question, a judge, its service."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from evalcli.calls.pipeline import Pipeline
from evalcli.decisions.service import DecisionService
from evalcli.declarations.profile import Profile
from evalcli.declarations.workspace import (
    ConfigurationEntry,
    DecisionSettings,
    ModelEntry,
    ProviderEntry,
    RetrySettings,
    WorkspaceFile,
)
from evalcli.errors import UsageError
from evalcli.history.store import History
from evalcli.records import Subject
from tests.support.calls import JumpingTime

KEY = "key-judge-4711"
ENVIRON = {"JUDGE_KEY": KEY, "BACKUP_KEY": "key-backup-4711"}

QUESTIONS: Mapping[str, Mapping[str, object]] = {
    "verdict": {
        "type": "choice",
        "instructions": "What should happen to `candidate`?",
        "options": ["publish", "revise", "discard"],
        "descriptions": {"revise": "Right in substance, needs rework"},
    },
    "supported": {
        "type": "yes_no",
        "instructions": "Is every claim in `candidate` supported by `evidence`?",
        "yes": "Every claim is backed by a passage.",
        "no": "At least one claim has no passage behind it.",
    },
    "answers_task": {
        "type": "score",
        "instructions": "How completely does `candidate` answer `task`?",
        "levels": ["Not at all", "Partly", "Completely"],
    },
}
SUBJECT = Subject(
    task="Name the opening hours of the office in Springfield.",
    candidate="It opens on Mondays, from nine to five, and closes for lunch.",
    evidence=("Monday to Friday, 9am to 5pm, without a break.",),
)
SYSTEM_ONE_ANSWERS: Mapping[str, Mapping[str, object]] = {
    "verdict": {
        "type": "choice",
        "choice": "revise",
        "confidence": 0.43,
        "probabilities": {"publish": 0.31, "revise": 0.62, "discard": 0.07},
    },
    "supported": {"type": "noul", "noul": 0.86},
    "answers_task": {
        "type": "score",
        "score": 1.72,
        "confidence": 0.61,
        "legend": {"0": "Not at all", "1": "Partly", "2": "Completely"},
        "probabilities": {"0": 0.04, "1": 0.2, "2": 0.76},
    },
}
LABELS = '{"verdict": "revise", "supported": "yes", "answers_task": "2"}'
"""What a chat model answers to the same questions."""


def make_profile(
    questions: Mapping[str, Mapping[str, object]] = QUESTIONS, /, **fields: object
) -> Profile:
    """Declare a profile; every type of question where none is named."""
    return Profile.model_validate(
        {
            "kind": "profile",
            "identifier": "acme.answer",
            "version": 1,
            "questions": questions,
            **fields,
        }
    )


def make_question(**fields: object) -> Profile:
    """Declare a profile with one question, `q`."""
    return make_profile({"q": {"instructions": "Is it?", **fields}})


def system_one_reply(
    answers: Mapping[str, object] = SYSTEM_ONE_ANSWERS, **fields: object
) -> dict[str, object]:
    """Write the reply of a System One server."""
    return {
        "model": "jev-1.14.0",
        "answers": answers,
        "usage": {"input_tokens": 318, "output_tokens": 0},
        **fields,
    }


def make_workspace(
    url: str,
    *,
    type: str = "typesafe",  # noqa: A002 - the key in YAML
    model: Mapping[str, object] | None = None,
    configuration: Mapping[str, object] | None = None,
    backup: Mapping[str, object] | None = None,
    backup_model: Mapping[str, object] | None = None,
    decision: str | None = "judge",
    **entry: object,
) -> WorkspaceFile:
    """Declare provider `judge` with `jev-1.14.0`; and `backup`, its fallback, where it is given."""
    providers: dict[str, Any] = {
        "judge": {
            "type": type,
            "base_url": f"{url}/v1",
            "api_key": "env:JUDGE_KEY",
            "timeout_s": 5,
            "retry": RetrySettings(tries=2, delay_s=0),  # type: ignore[arg-type]
            **entry,
        }
    }
    models: dict[str, Any] = {
        "jev-1.14.0": {
            "provider": "judge",
            "capabilities": ("decision",),
            "prices": {"input": "0.042", "output": 0},
            **(model or {}),
        }
    }
    settings: dict[str, Any] = {"model": "jev-1.14.0", **(configuration or {})}
    configurations: dict[str, Any] = {}
    if backup is not None:
        providers["backup"] = {"retry": {"tries": 1}, **backup}
        models["backup-model"] = {
            "provider": "backup",
            "capabilities": ("decision",),
            **(backup_model or {}),
        }
        configurations["backup"] = {"model": "backup-model", "system": "Not lent."}
        settings.setdefault("fallback", ("backup",))
    return WorkspaceFile(
        providers={name: ProviderEntry.model_validate(one) for name, one in providers.items()},
        models={name: ModelEntry.model_validate(one) for name, one in models.items()},
        configurations={
            "judge": ConfigurationEntry.model_validate(settings),
            **{
                name: ConfigurationEntry.model_validate(one) for name, one in configurations.items()
            },
        },
        decision=DecisionSettings(configuration=decision),
    )


@asynccontextmanager
async def open_service(
    workspace: WorkspaceFile,
    *profiles: Profile,
    history: History | None = None,
    environ: Mapping[str, str] = ENVIRON,
    find_profile: Callable[[str], Profile] | None = None,
) -> AsyncIterator[DecisionService]:
    """Open a service on a pipeline that never sleeps; it knows the given profiles."""
    known = {profile.identifier: profile for profile in profiles or (make_profile(),)}

    def find(identifier: str) -> Profile:
        if identifier not in known:
            raise UsageError(f'unknown profile "{identifier}"')
        return known[identifier]

    time = JumpingTime()
    pipeline = Pipeline(
        workspace,
        root=None,
        environ=environ,
        clock=time.clock,
        sleep=time.sleep,
        random=lambda: 0.0,
    )
    async with pipeline:
        yield DecisionService(workspace, pipeline, find_profile or find, history=history)
