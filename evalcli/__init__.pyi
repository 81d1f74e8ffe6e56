# What `__init__.py` loads on first use, for type checkers.
from evalcli.api import ImportOptions as ImportOptions
from evalcli.api import RetrievalOptions as RetrievalOptions
from evalcli.api import RunOptions as RunOptions
from evalcli.api import accept_baseline as accept_baseline
from evalcli.api import ask_retriever as ask_retriever
from evalcli.api import compare_stored_runs as compare_stored_runs
from evalcli.api import current_baseline as current_baseline
from evalcli.api import decide as decide
from evalcli.api import decide_batch as decide_batch
from evalcli.api import exit_status_of as exit_status_of
from evalcli.api import export_run as export_run
from evalcli.api import import_set as import_set
from evalcli.api import list_runs as list_runs
from evalcli.api import open_history as open_history
from evalcli.api import prune_history as prune_history
from evalcli.api import run_prompts as run_prompts
from evalcli.api import run_retrieval as run_retrieval
from evalcli.api import show_run as show_run
from evalcli.declarations.prompt_set import GoldenPrompt as GoldenPrompt
from evalcli.declarations.prompt_set import PromptSet as PromptSet
from evalcli.declarations.question_set import GoldenQuestion as GoldenQuestion
from evalcli.declarations.question_set import QuestionSet as QuestionSet
from evalcli.errors import EvalcliError as EvalcliError
from evalcli.errors import ExitStatus as ExitStatus
from evalcli.records import ComparisonState as ComparisonState
from evalcli.records import RunOutcome as RunOutcome
from evalcli.records import RunStatus as RunStatus
from evalcli.records import VerdictWord as VerdictWord

_PUBLIC: dict[str, str]
__version__: str
