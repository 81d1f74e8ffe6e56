"""evalcli: quality of LLM features, measured before the merge.

The names below are the public Python API. Each is loaded when it is first used, so that
`import evalcli` costs nothing.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"

_PUBLIC: dict[str, str] = {
    **dict.fromkeys(
        (
            "ImportOptions",
            "RetrievalOptions",
            "RunOptions",
            "accept_baseline",
            "ask_retriever",
            "compare_stored_runs",
            "current_baseline",
            "decide",
            "decide_batch",
            "exit_status_of",
            "export_run",
            "import_set",
            "list_runs",
            "open_history",
            "prune_history",
            "run_prompts",
            "run_retrieval",
            "show_run",
        ),
        "evalcli.api",
    ),
    **dict.fromkeys(("GoldenPrompt", "PromptSet"), "evalcli.declarations.prompt_set"),
    **dict.fromkeys(("GoldenQuestion", "QuestionSet"), "evalcli.declarations.question_set"),
    **dict.fromkeys(("EvalcliError", "ExitStatus"), "evalcli.errors"),
    **dict.fromkeys(
        ("ComparisonState", "RunOutcome", "RunStatus", "VerdictWord"), "evalcli.records"
    ),
}
"""Public name to the module that has it; `__init__.pyi` says the same to type checkers."""


def __getattr__(name: str) -> object:
    module = _PUBLIC.get(name)
    if module is None:
        raise AttributeError(f"module 'evalcli' has no attribute {name!r}")
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
