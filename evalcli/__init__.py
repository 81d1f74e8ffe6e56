"""evalcli: quality of LLM features, measured before the merge.

The names below are the public Python API. Each is loaded when it is first used, so that
`import evalcli` costs nothing.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"

_PUBLIC: dict[str, str] = {
    "accept_baseline": "evalcli.api.baselines",
    "ask_retriever": "evalcli.api.question_runs",
    "compare_stored_runs": "evalcli.api.stored_runs",
    "ComparisonState": "evalcli.records",
    "current_baseline": "evalcli.api.baselines",
    "decide": "evalcli.api.decisions",
    "decide_batch": "evalcli.api.decisions",
    "DecisionError": "evalcli.errors",
    "EvalcliError": "evalcli.errors",
    "exit_status_of": "evalcli.comparison.gate",
    "ExitStatus": "evalcli.errors",
    "export_run": "evalcli.api.stored_runs",
    "GoldenPrompt": "evalcli.declarations.prompt_set",
    "GoldenQuestion": "evalcli.declarations.question_set",
    "import_set": "evalcli.api.golden_sets",
    "ImportOptions": "evalcli.importers.importing",
    "JudgedDecision": "evalcli.records",
    "list_runs": "evalcli.api.stored_runs",
    "open_history": "evalcli.api.workspaces",
    "PromptSet": "evalcli.declarations.prompt_set",
    "prune_history": "evalcli.api.stored_runs",
    "QuestionSet": "evalcli.declarations.question_set",
    "regrade_run": "evalcli.api.prompt_runs",
    "RetrievalOptions": "evalcli.runs.retrieval_options",
    "run_prompts": "evalcli.api.prompt_runs",
    "run_retrieval": "evalcli.api.question_runs",
    "RunOptions": "evalcli.runs.options",
    "RunOutcome": "evalcli.records",
    "RunStatus": "evalcli.records",
    "show_run": "evalcli.api.stored_runs",
    "Subject": "evalcli.records",
    "VerdictWord": "evalcli.records",
}
"""Public name to the module that has it; `__init__.pyi` says the same to type checkers."""


def __getattr__(name: str) -> object:
    module = _PUBLIC.get(name)
    if module is None:
        raise AttributeError(f"module 'evalcli' has no attribute {name!r}")
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
