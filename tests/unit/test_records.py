"""What records say of themselves."""

from __future__ import annotations

import pytest

from evalcli.records import resume_command


@pytest.mark.parametrize(
    ("kind", "target", "command"),
    [
        ("prompts", "bot", "evalcli eval run acme.faq --resume 91c2"),
        ("questions", "site", "evalcli eval retrieval acme.faq site --resume 91c2"),
        (
            "questions",
            "my site's",
            "evalcli eval retrieval acme.faq 'my site'\"'\"'s' --resume 91c2",
        ),
    ],
)
def test_a_run_is_resumed_by_the_command_that_started_it(
    kind: str, target: str, command: str
) -> None:
    assert resume_command(kind, "acme.faq", target, "91c2") == command
