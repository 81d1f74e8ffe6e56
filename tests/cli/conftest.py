"""The labelled collections are no part of this project; without them their tests do not exist."""

from __future__ import annotations

import os

collect_ignore = (
    [] if os.environ.get("EVALCLI_COLLECTIONS") else ["test_eval_retrieval_collections.py"]
)
