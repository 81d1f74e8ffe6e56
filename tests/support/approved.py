"""Approved outputs: plain files in `tests/expected/`, rewritten by `pytest --approve`."""

from __future__ import annotations

from pathlib import Path

EXPECTED = Path(__file__).parent.parent / "expected"


class Approved:
    """Compares text with the file that was approved, or approves it."""

    def __init__(self, *, is_approving: bool) -> None:
        self._is_approving = is_approving

    def check(self, name: str, text: str) -> None:
        """Compare `text` with `tests/expected/<name>`.

        Raises:
            AssertionError: they differ; pytest shows how.
        """
        path = EXPECTED / name
        if self._is_approving:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        approved = path.read_text(encoding="utf-8") if path.exists() else ""
        assert text == approved, f"{path.name} is not as approved; look, then pytest --approve"
