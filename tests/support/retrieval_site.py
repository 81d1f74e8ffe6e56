"""A workspace with a scripted retriever `site`: a Python function that answers from a JSON file."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence

from tests.support.workspace import CliResult, CliWorkspace

_MODULE = '''\
import json, os, pathlib, time

_ANSWERS = pathlib.Path(__file__).with_suffix(".json")


def retrieve(question, limit):
    """Answer as scripted: a list of documents, or what happens instead."""
    answer = json.loads(_ANSWERS.read_text(encoding="utf-8"))[question.split("?")[0]]
    if isinstance(answer, dict):
        if "failure" in answer:
            raise RuntimeError(answer["failure"])
        if "exit" in answer:
            os._exit(answer["exit"])
        if "hang_s" in answer:
            time.sleep(answer["hang_s"])
        return answer.get("documents", [])
    return answer
'''

Answer = Sequence[object] | Mapping[str, object]


class RetrievalSite:
    """Question sets and a retriever in a workspace; `entry` is what it declares of `site`."""

    def __init__(self, workspace: CliWorkspace) -> None:
        self.workspace = workspace
        self.module = f"site_{uuid.uuid4().hex}"  # modules of other tests stay imported
        workspace.write(f"{self.module}.py", _MODULE)
        self.declare({"site": self.entry()})

    def entry(self, **options: object) -> dict[str, object]:
        """Give the entry of the scripted retriever."""
        return {
            "type": "python",
            "callable": f"{self.module}:retrieve",
            "revisions": {"corpus": "r1"},
            **options,
        }

    def declare(self, retrievers: Mapping[str, object], **settings: object) -> None:
        """Write `evalcli.yaml` with these retrievers, and settings of `eval`."""
        config = {"retrievers": retrievers, "eval": settings}
        self.workspace.write("evalcli.yaml", json.dumps(config))

    def ask(self, questions: Mapping[str, Mapping[str, object]]) -> None:
        """Write the set `help.search`: question id to its labels; the text is `<id>?`."""
        rows = [
            {"id": one, "question": f"{one}?", "form": "gap", **labels}
            for one, labels in questions.items()
        ]
        declared = {
            "kind": "questions",
            "identifier": "help.search",
            "name": "Example",
            "questions": rows,
        }
        self.workspace.write("sets/help.yaml", json.dumps(declared))

    def answer(self, answers: Mapping[str, Answer]) -> None:
        """Script what `site` returns, by question id."""
        self.workspace.write(f"{self.module}.json", json.dumps(dict(answers)))

    def run(self, *words: str) -> CliResult:
        """Run `evalcli eval retrieval help.search site`."""
        return self.workspace.run("eval", "retrieval", "help.search", "site", *words)
