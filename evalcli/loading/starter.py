"""A first workspace: commented files that work as they stand."""

from __future__ import annotations

import os
from pathlib import Path

from evalcli.errors import ConfigurationError, UsageError
from evalcli.loading.workspace_folder import WORKSPACE_FILE
from evalcli.reports.plain_text import plain_text

_WORKSPACE = """\
# The workspace of evalcli: what to ask, and when a run is worse than its baseline.
# Check this file with `evalcli config validate`; `evalcli config schema` prints a JSON Schema that
# gives editors completion.

# Where to ask. Keys never stand here: name a variable (env:NAME) or a file (file:/path).
providers:
  local: {type: local}                  # a small model in this process, for trying evalcli out
  # openai:
  #   type: openai                      # every server that speaks this API: set its base_url
  #   base_url: https://api.openai.com/v1
  #   api_key: env:OPENAI_API_KEY
  #   trust_zone: external_global       # local | private_hosted | external_eu | external_global
  #   concurrency: 16
  #   timeout_s: 60

# What answers. The name is the id that is sent, unless `id:` says otherwise.
models:
  smollm2-135m: {provider: local, capabilities: [chat]}
  # gpt-6-luna:
  #   provider: openai
  #   capabilities: [chat, structured_output]
  #   prices: {input: 0.10, cached_input: 0.01, output: 0.50, as_of: 2026-10-14}

# How a model is used: what a team ships, and what runs are compared by.
configurations:
  local: {model: smollm2-135m, temperature: 0}
  # support-bot:
  #   model: gpt-6-luna
  #   system: You are the support assistant of ACME.
  #   temperature: 0
  #   max_output_tokens: 400

eval:
  configuration: local                  # what `evalcli eval run SET` asks
  max_pass_rate_drop: 0.1               # a drop of exactly this much is no regression
  max_mean_score_drop: 0.1

decision:
  configuration: local                  # who judges: `evalcli decide`, --grader decision

history: {path: .evalcli/history.db, content: full}
"""

_SET = """\
# A golden prompt set: prompts, and what a right answer must satisfy.
# Run it with `evalcli eval run example.faq`; check it with `evalcli sets validate`.
kind: prompts
identifier: example.faq
name: Example
description: Shows the four kinds of assertion.
prompts:
  - id: capital-of-italy
    prompt: What is the capital of Italy? Answer with the name of the city only.
    assertions:
      - contains: Rome                  # a part of the answer; case matters
  - id: opening-hours
    prompt: >-
      The office is open from Monday to Friday, 9am to 5pm.
      On which days is the office open?
    reference: Monday to Friday.        # a right answer, for graders that read one
    assertions:
      - regex: '/monday\\s*(to|through|-|–)\\s*friday/i'
      - not: {contains: Saturday}       # turns an assertion round
  - id: yes-or-no
    prompt: Is ice colder than steam? Answer with yes or no, in lower case and without a full stop.
    assertions:
      - exact: yes                      # the whole answer, without space around it
  - id: contact-json
    prompt: Return a JSON object with the one key "email" and the value "info@acme.example".
    assertions:
      - json_schema:
          type: object
          required: [email]
          properties: {email: {type: string}}
        unwrap: fence                   # accept a code fence around the JSON
"""

_IGNORED = ".evalcli/"
_FILES = {WORKSPACE_FILE: _WORKSPACE, "sets/example.yaml": _SET}


def write_starter(folder: Path) -> tuple[str, ...]:
    """Write a first workspace; gives the names of what was written, relative to `folder`.

    Raises:
        UsageError: one of the files exists; nothing was written.
        ConfigurationError: the folder cannot be written.
    """
    present = [name for name in _FILES if os.path.lexists(folder / name)]
    if present:
        verb = "exists" if len(present) == 1 else "exist"
        raise UsageError(
            f"{' and '.join(present)} {verb} already, and nothing is overwritten",
            advice="run `evalcli init` in another folder, or move the file away",
        )
    try:
        for name, text in _FILES.items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            with path.open("x", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
        is_added = _ignore_history(folder / ".gitignore")
    except OSError as exc:
        name = plain_text(str(exc.filename or folder))
        raise ConfigurationError(
            f"{name} cannot be written: {exc.strerror or type(exc).__name__}",
            advice="check the folder's permissions",
        ) from exc
    return (*_FILES, ".gitignore") if is_added else tuple(_FILES)


def _ignore_history(path: Path) -> bool:
    """Keep the history out of git; says whether a line had to be added."""
    present = path.read_bytes() if path.exists() else b""
    lines = {line.strip().strip(b"/") for line in present.splitlines()}
    if _IGNORED.strip("/").encode() in lines:
        return False
    separator = b"" if not present or present.endswith(b"\n") else b"\n"
    with path.open("ab") as stream:
        stream.write(separator + _IGNORED.encode() + b"\n")
    return True
