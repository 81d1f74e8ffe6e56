# What `__init__.py` loads on first use, for type checkers.
from evalcli.api.baselines import accept_baseline as accept_baseline
from evalcli.api.baselines import current_baseline as current_baseline
from evalcli.api.decisions import decide as decide
from evalcli.api.decisions import decide_batch as decide_batch
from evalcli.api.golden_sets import import_set as import_set
from evalcli.api.prompt_runs import regrade_run as regrade_run
from evalcli.api.prompt_runs import run_prompts as run_prompts
from evalcli.api.question_runs import ask_retriever as ask_retriever
from evalcli.api.question_runs import run_retrieval as run_retrieval
from evalcli.api.stored_runs import compare_stored_runs as compare_stored_runs
from evalcli.api.stored_runs import export_run as export_run
from evalcli.api.stored_runs import list_runs as list_runs
from evalcli.api.stored_runs import prune_history as prune_history
from evalcli.api.stored_runs import show_run as show_run
from evalcli.api.workspaces import open_history as open_history
from evalcli.comparison.gate import exit_status_of as exit_status_of
from evalcli.declarations.prompt_set import GoldenPrompt as GoldenPrompt
from evalcli.declarations.prompt_set import PromptSet as PromptSet
from evalcli.declarations.question_set import GoldenQuestion as GoldenQuestion
from evalcli.declarations.question_set import QuestionSet as QuestionSet
from evalcli.errors import DecisionError as DecisionError
from evalcli.errors import EvalcliError as EvalcliError
from evalcli.errors import ExitStatus as ExitStatus
from evalcli.importers.importing import ImportOptions as ImportOptions
from evalcli.records import ComparisonState as ComparisonState
from evalcli.records import JudgedDecision as JudgedDecision
from evalcli.records import RunOutcome as RunOutcome
from evalcli.records import RunStatus as RunStatus
from evalcli.records import Subject as Subject
from evalcli.records import VerdictWord as VerdictWord
from evalcli.runs.options import RunOptions as RunOptions
from evalcli.runs.retrieval_options import RetrievalOptions as RetrievalOptions

_PUBLIC: dict[str, str]
__version__: str
