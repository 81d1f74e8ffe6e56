"""What a person sees of declarations: lists of sets, one set, faults, providers and models."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial

from rich.cells import cell_len

from evalcli.cli.question_set_text import question_count, question_set_facts, write_questions
from evalcli.declarations.prompt_set import GoldenPrompt, PromptSet
from evalcli.declarations.question_set import QuestionSet
from evalcli.declarations.scalars import Declaration, plain_value, source_value
from evalcli.declarations.workspace import Prices, ProviderEntry, WorkspaceFile
from evalcli.errors import Fault
from evalcli.loading.catalog import Listing, Shelf, ValidationReport
from evalcli.loading.reader import KINDS
from evalcli.reports.number_words import count
from evalcli.reports.plain_text import plain_lines, plain_text
from evalcli.reports.text_layout import Page, Report, cut_to_width, fit_widths, pad_to_width

_TEXT_TYPES = ("exact", "contains", "regex")
_MAX_NAME = 60


# --- lists ----------------------------------------------------------------------------------------


def write_table(page: Page, titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Add rows of outside text in columns; on a narrow terminal all but the first are cut."""
    table = [list(titles), *([plain_text(cell) for cell in row] for row in rows)]
    widths = [max(cell_len(cell) for cell in column) for column in zip(*table, strict=True)]
    least = {number: cell_len(title) for number, title in enumerate(titles) if number}
    widths = fit_widths(widths, least, page.width)
    for number, row in enumerate(table):
        cells = [
            pad_to_width(cut_to_width(cell, width), width)
            for cell, width in zip(row, widths, strict=True)
        ]
        line = "  ".join(cells).rstrip()
        style = "dim" if number == 0 else ""
        page.say(line if page.width is None else cut_to_width(line, page.width), style=style)


def render_set_list(shelf: Shelf) -> Report:
    """Render the golden sets that can be used."""
    return Report(partial(_write_set_list, shelf.listings))


def _write_set_list(listings: Sequence[Listing], page: Page) -> None:
    if not listings:
        page.say("No set can be used.")
        return
    rows = [
        (
            listing.identifier,
            plain_text(_name_of(listing), limit=_MAX_NAME),
            _count_rows(listing),
            f"{listing.origin} ({listing.file})",
        )
        for listing in listings
    ]
    write_table(page, ("set", "name", "rows", "from"), rows)


def _name_of(listing: Listing) -> str:
    return str(getattr(listing.declaration, "name", ""))


def _rows(listing: Listing) -> tuple[str, int]:
    """Give what a set's rows are called, and how many it has."""
    kind = KINDS[str(getattr(listing.declaration, "kind", "prompts"))]
    return kind.rows, len(getattr(listing.declaration, kind.rows, ()))


def _count_rows(listing: Listing) -> str:
    rows, number = _rows(listing)
    return count(number, rows.removesuffix("s"))


def set_aside_lines(shelf: Shelf) -> list[str]:
    """Say what cannot be used, for a list that does not show it; empty where all can."""
    files = dict.fromkeys(fault.file for fault in shelf.faults)
    if not files:
        return []
    lines = [f"set aside: {file}" for file in files]
    return [*lines, f"`evalcli {shelf.folder} validate` says why."]


# --- one set --------------------------------------------------------------------------------------


def render_set(listing: Listing) -> Report:
    """Render one golden set with all its texts."""
    return Report(partial(_write_set, listing))


def _write_set(listing: Listing, page: Page) -> None:
    declared = listing.declaration
    if isinstance(declared, QuestionSet):
        _write_head(listing, declared, question_count(declared), page)
        write_questions(declared, page)
    elif isinstance(declared, PromptSet):
        _write_head(listing, declared, count(len(declared.prompts), "prompt"), page)
        for prompt in declared.prompts:
            page.blank()
            _write_prompt(prompt, page)


def _write_head(listing: Listing, declared: PromptSet | QuestionSet, rows: str, page: Page) -> None:
    page.heading(
        [
            declared.identifier,
            plain_text(declared.name),
            rows,
            str(declared.data_class),
            f"{listing.origin} ({plain_text(listing.file)})",
        ]
    )
    for line in plain_lines(declared.description):
        page.say(line)


def _write_prompt(prompt: GoldenPrompt, page: Page) -> None:
    page.say(plain_text(prompt.id), style="bold")
    if prompt.skip is not None:
        page.label("skipped", plain_text(prompt.skip))
    texts = {"prompt": prompt.prompt, "system": prompt.system, "reference": prompt.reference}
    for name, text in texts.items():
        for number, line in enumerate(plain_lines(text) if text is not None else []):
            page.label("" if number else name, line)
    for assertion in prompt.assertions:
        page.label("assertion", plain_text(assertion_words(assertion.body)))


def assertion_words(body: Mapping[object, object]) -> str:
    """Say an assertion on one line: its type, its value, its options."""
    described = assertion_values(body)
    negated = described.get("not")
    if isinstance(negated, Mapping):
        return f"not {assertion_words(negated)}"
    return ", ".join(f"{name} {_value_words(value)}" for name, value in described.items())


def _value_words(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def assertion_values(body: Mapping[object, object]) -> dict[str, object]:
    """Give an assertion as it reads: texts as written, schemas and options as values."""
    described: dict[str, object] = {}
    for key, value in body.items():
        name = str(key)
        if name == "not" and isinstance(value, Mapping):
            described[name] = assertion_values(value)
        else:
            described[name] = source_value(value) if name in _TEXT_TYPES else plain_value(value)
    return described


# --- faults ---------------------------------------------------------------------------------------


def report_lines(report: ValidationReport) -> list[str]:
    """Say every fault on a line, then how many there are and what they leave usable."""
    lines = [plain_text(str(fault)) for fault in report.faults]
    if not report.faults:
        fine = "1 file is fine." if report.files == 1 else f"All {report.files} files are fine."
        return [fine if report.files else "There is no file to check."]
    count = len(report.faults)
    summary = (
        f"{count} {'fault' if count == 1 else 'faults'} in {report.faulty} of {report.files} "
        f"{'file' if report.files == 1 else 'files'}"
    )
    rest = report.files - report.faulty
    if rest == 1:
        summary += "; the other file can be used"
    elif rest > 1:
        summary += f"; the other {rest} files can be used"
    return [*lines, f"{summary}."]


def fault_document(fault: Fault) -> dict[str, object]:
    """Describe a fault as a JSON object."""
    return {
        "file": fault.file,
        "line": fault.line,
        "column": fault.column,
        "path": fault.path,
        "message": fault.message,
        "advice": fault.advice,
    }


# --- providers and models -------------------------------------------------------------------------


def render_providers(workspace: WorkspaceFile) -> Report:
    """Render the declared providers."""
    rows = [
        (name, entry.type, entry.trust_zone.value, entry.api_key or "-", _address(entry))
        for name, entry in workspace.providers.items()
    ]
    titles = ("provider", "type", "trust zone", "key", "address")
    return Report(lambda page: write_table(page, titles, rows))


def _address(entry: ProviderEntry) -> str:
    address = entry.base_url or entry.path or "the adapter's own"
    return address if entry.active else f"{address} (inactive)"


def render_models(workspace: WorkspaceFile) -> Report:
    """Render the declared models, with the configurations that use them."""
    used: dict[str, list[str]] = {}
    for name, entry in workspace.configurations.items():
        if isinstance(entry.model, str):
            used.setdefault(entry.model, []).append(name)
    rows = [
        (
            name,
            model.provider,
            ", ".join(model.capabilities) or "not stated",
            _price_words(model.prices),
            ", ".join(used.get(name, [])) or "-",
        )
        for name, model in workspace.models.items()
    ]
    titles = ("model", "provider", "capabilities", "USD per 1M in / out", "configurations")
    return Report(lambda page: write_table(page, titles, rows))


def _price_words(prices: Prices | None) -> str:
    if prices is None:
        return "not stated"
    known = [str(price) if price is not None else "?" for price in (prices.input, prices.output)]
    return " / ".join(known)


# --- JSON -----------------------------------------------------------------------------------------


def shelf_document(shelf: Shelf) -> dict[str, object]:
    """Describe all sets, and what is wrong with those that cannot be used."""
    return {
        "sets": [
            {
                "identifier": listing.identifier,
                "name": _name_of(listing),
                **dict([_rows(listing)]),
                "origin": listing.origin,
                "file": listing.file,
            }
            for listing in shelf.listings
        ],
        "faults": [fault_document(fault) for fault in shelf.faults],
    }


def set_document(listing: Listing) -> dict[str, object]:
    """Describe one golden set."""
    declaration = listing.declaration
    described: dict[str, object] = {"origin": listing.origin, "file": listing.file}
    if isinstance(declaration, PromptSet):
        described |= declaration.model_dump(mode="json", exclude={"prompts"})
        described["prompts"] = [_prompt_document(prompt) for prompt in declaration.prompts]
    elif isinstance(declaration, QuestionSet):
        described |= question_set_facts(declaration)
    return {"set": described}


def _prompt_document(prompt: GoldenPrompt) -> dict[str, object]:
    return {
        **prompt.model_dump(mode="json", exclude={"assertions"}),
        "assertions": [assertion_values(assertion.body) for assertion in prompt.assertions],
    }


def entry_documents(entries: Mapping[str, Declaration]) -> list[dict[str, object]]:
    """Describe entries of the workspace file, each with its name; keys are references."""
    return [{"name": name, **entry.model_dump(mode="json")} for name, entry in entries.items()]
