"""What a retriever returned to one question, for the person who labels."""

from __future__ import annotations

from functools import partial

from rich.cells import cell_len
from rich.text import Text

from evalcli.records import RetrieverReply
from evalcli.reports.number_words import count, duration
from evalcli.reports.plain_text import plain_text
from evalcli.reports.question_rows import document_name, shorten
from evalcli.reports.text_layout import Page, Report, wrap_text

_SNIPPET = 300
_SNIPPET_LINES = 3


def render_reply(reply: RetrieverReply) -> Report:
    """Render a ranking: rank, document, score, and a piece of the document under it."""
    return Report(partial(_write_reply, reply))


def _write_reply(reply: RetrieverReply, page: Page) -> None:
    ranking = reply.ranking
    parts = [plain_text(reply.retriever), shorten(reply.question, _SNIPPET)]
    parts.append(count(len(ranking.documents), "document"))
    if ranking.latency_ms is not None:
        parts.append(duration(ranking.latency_ms))
    page.heading(parts)
    page.blank()
    rank_width = len(str(len(ranking.documents)))
    for rank, document in enumerate(ranking.documents, start=1):
        score = "" if document.score is None else f"   {document.score:#.4g}"
        _say_document(page, f"  {rank:>{rank_width}}  ", document_name(document.id), score)
        _say_snippet(page, reply.passages.get(document.id, ""), indent=rank_width + 4)
    if not ranking.documents:
        page.say("Nothing came back.", indent=2)
    page.blank()
    if ranking.repeated:
        page.say(f"{count(ranking.repeated, 'result')} named a document that stood there already.")
    if ranking.below_min_score:
        page.say(f"{count(ranking.below_min_score, 'result')} had a score below min_score.")


def _say_document(page: Page, lead: str, name: str, score: str) -> None:
    room = None if page.width is None else page.width - len(lead)
    *above, last = [name] if room is None else wrap_text(name, room)
    for piece in above:
        page.lines.append(Text(lead).append(piece, style="bold"))
        lead = " " * len(lead)
    line = Text(lead).append(last, style="bold")
    if room is not None and cell_len(last) + cell_len(score) > room:
        page.lines.append(line)
        line = Text(" " * len(lead))
        score = score.strip()
    page.lines.append(line.append(score, style="dim"))


def _say_snippet(page: Page, text: str, *, indent: int) -> None:
    if not text.strip():
        return
    snippet = shorten(text, _SNIPPET)
    if page.width is None:
        page.lines.append(Text(" " * indent + snippet))
        return
    pieces = wrap_text(snippet, page.width - indent)
    for place, piece in enumerate(pieces[:_SNIPPET_LINES], start=1):
        is_cut = place == _SNIPPET_LINES and len(pieces) > _SNIPPET_LINES
        room = page.width - indent - cell_len(piece)
        page.lines.append(Text(" " * indent + piece + (" …" if is_cut and room >= 2 else "")))
