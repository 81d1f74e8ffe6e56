"""One call of a retriever's code: whatever a package that is not ours does becomes an error."""

from __future__ import annotations

from collections.abc import Sequence

from evalcli.errors import EvalcliError, ProviderError, describe_foreign
from evalcli.plugins import BUILTIN
from evalcli.protocols import LabelledRetriever, Retriever
from evalcli.retrieval.scoring import ResultFaultError


async def ask_once(
    name: str,
    kind: str,
    retriever: Retriever,
    question_id: str | None,
    question: str,
    limit: int,
) -> Sequence[object]:
    """Ask a retriever of the type `kind`: by the question's id where it goes by ids.

    Raises:
        ProviderError: it failed.
        ResultFaultError: it returned something that is no list.
    """
    found: object
    try:
        if question_id is not None and isinstance(retriever, LabelledRetriever):
            found = await retriever.retrieve_question(question_id, question, limit)
        else:
            found = await retriever.retrieve(question, limit)
    except EvalcliError:
        raise
    except (Exception, SystemExit) as exc:  # an exit with 0 would pass for a run without a fault
        if kind in BUILTIN["retrievers"]:
            raise  # a bug of ours, not a failure of theirs
        line = describe_foreign(exc)
        raise ProviderError(name, f"{name} failed: {line}", detail=line) from exc
    if isinstance(found, str | bytes) or not isinstance(found, Sequence):
        what = "nothing" if found is None else f"something of type {type(found).__name__}"
        raise ResultFaultError(f"returned {what} instead of a list of documents")
    return found
