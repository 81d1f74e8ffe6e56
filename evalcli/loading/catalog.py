"""All declarations a command can see: what can be used, what is set aside or withheld, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from evalcli.declarations.profile import Profile
from evalcli.declarations.prompt_set import PromptSet
from evalcli.declarations.question_set import QuestionSet
from evalcli.declarations.resolution import known_names
from evalcli.declarations.scalars import Declaration
from evalcli.errors import DeclarationError, Fault, UsageError
from evalcli.loading.reader import Reading, declaration_error
from evalcli.loading.sources import Source, find_sources, named_sources
from evalcli.loading.workspace_folder import (
    WORKSPACE_FILE,
    LoadedWorkspace,
    find_workspace,
    load_workspace,
)
from evalcli.reports.plain_text import plain_text

__all__ = [
    "WORKSPACE_FILE",
    "Catalog",
    "Listing",
    "LoadedWorkspace",
    "Shelf",
    "ValidationReport",
    "find_workspace",
    "load_workspace",
    "validate_declarations",
]

DeclarationT = TypeVar("DeclarationT", bound=Declaration)


@dataclass(frozen=True, slots=True)
class Listing:
    """One declaration that can be used, and where it comes from."""

    identifier: str
    declaration: Declaration
    file: str
    origin: str


class Shelf:
    """All declarations of one folder name: the `sets`, or the `profiles`.

    A file with faults is set aside. An identifier that is declared twice is withheld, wherever
    its files come from and even where one of them is broken: nothing says which one is meant.
    """

    def __init__(
        self, folder: str, *, root: Path | None, cwd: Path, named: Sequence[Source] = ()
    ) -> None:
        self.folder = folder
        self._has_workspace = root is not None
        found = find_sources(folder, root=root, cwd=cwd)
        self._source_faults = found.faults
        sources = {source.identity(): source for source in (*named, *found.sources)}
        self.readings = tuple((source, source.read(folder)) for source in sources.values())
        self._by_identifier: dict[str, list[Reading]] = defaultdict(list)
        for _, reading in self.readings:
            if reading.identifier is not None:
                self._by_identifier[reading.identifier].append(reading)

    @property
    def file_count(self) -> int:
        """How many files and packages were looked at."""
        return len(self.readings) + len(self._source_faults)

    @cached_property
    def listings(self) -> tuple[Listing, ...]:
        """What can be used, in order of identifiers."""
        usable = [
            Listing(reading.identifier, reading.declaration, reading.file, source.origin)
            for source, reading in self.readings
            if reading.identifier is not None
            and reading.declaration is not None
            and len(self._by_identifier[reading.identifier]) == 1
        ]
        return tuple(sorted(usable, key=lambda listing: listing.identifier))

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """Everything that is wrong, file by file."""
        found = list(self._source_faults)
        for _, reading in self.readings:
            found += self.faults_of(reading)
        return tuple(found)

    def faults_of(self, reading: Reading) -> list[Fault]:
        """Give the faults of one file; an identifier that another file has too is one."""
        same = self._by_identifier.get(reading.identifier or "", [])
        others = [other for other in same if other.file != reading.file]
        if not others:
            return list(reading.faults)
        places = " and ".join(f"{other.file}:{other.place.line}" for other in others)
        repeated = Fault(
            file=plain_text(reading.file),
            line=reading.place.line,
            column=reading.place.column,
            path="identifier",
            message=f'"{reading.identifier}" is declared twice, also in {plain_text(places)}',
            advice="give one of them another identifier",
        )
        faults = [*reading.faults, repeated]
        return sorted(faults, key=lambda fault: (fault.line, fault.column))

    def find_listing(self, identifier: str) -> Listing:
        """Find a declaration of any kind by its identifier, and where it comes from.

        Raises:
            DeclarationError: it was set aside or withheld; says where and why.
            UsageError: nothing of that name is declared.
        """
        noun = self.folder.removesuffix("s")
        same = self._by_identifier.get(identifier, [])
        if not same:
            raise self._unknown(noun, identifier)
        faults = [fault for reading in same for fault in self.faults_of(reading)]
        if len(same) > 1:
            places = " and ".join(f"{plain_text(one.file)}:{one.place.line}" for one in same)
            raise DeclarationError(
                f'{noun} "{identifier}" is withheld, because it is declared twice: {places}',
                faults=faults,
            )
        if faults:
            message = f'{noun} "{identifier}" is set aside because of {plain_text(same[0].file)}'
            raise declaration_error(message, tuple(faults))
        return next(one for one in self.listings if one.identifier == identifier)

    def find(self, identifier: str, model: type[DeclarationT]) -> DeclarationT:
        """Find a declaration of one kind by its identifier; see `find_listing`.

        Raises:
            UsageError: it is of another kind, too.
        """
        declaration = self.find_listing(identifier).declaration
        if not isinstance(declaration, model):
            kind = self._by_identifier[identifier][0].kind
            raise UsageError(
                f'{self.folder.removesuffix("s")} "{identifier}" is of the kind "{kind}"',
                advice=f"`evalcli {_COMMANDS[kind]} {identifier}` runs it"
                if kind in _COMMANDS
                else "use the command for that kind",
            )
        return declaration

    def _unknown(self, noun: str, identifier: str) -> UsageError:
        advice = known_names((listing.identifier for listing in self.listings), identifier)
        broken = len({fault.file for fault in self.faults})
        if broken:
            were = "1 file was" if broken == 1 else f"{broken} files were"
            advice += f" ({were} set aside: `evalcli {self.folder} validate` says why)"
        if not self._has_workspace:
            advice += "; there is no evalcli.yaml here or in a folder above"
        shown = plain_text(identifier, limit=80)
        return UsageError(f'unknown {noun} "{shown}"', advice=advice)


_COMMANDS = {"prompts": "eval run", "questions": "eval retrieval"}


class Catalog:
    """The declarations of a workspace, of evalcli itself and of installed packages."""

    def __init__(self, loaded: LoadedWorkspace) -> None:
        self._root = loaded.root
        self._cwd = loaded.cwd

    @cached_property
    def sets(self) -> Shelf:
        """The golden sets, read on first use."""
        return Shelf("sets", root=self._root, cwd=self._cwd)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Everything that is wrong with the golden sets, file by file."""
        return self.sets.faults

    def list_sets(self) -> tuple[Listing, ...]:
        """List the golden sets that can be used, in order of identifiers."""
        return self.sets.listings

    def find_prompt_set(self, identifier: str) -> PromptSet:
        """Find a golden prompt set.

        Raises:
            DeclarationError: it was set aside or withheld; says where and why.
            UsageError: no such set is declared, or it holds questions.
        """
        return self.sets.find(identifier, PromptSet)

    def find_question_set(self, identifier: str) -> QuestionSet:
        """Find a golden question set; as `find_prompt_set`."""
        return self.sets.find(identifier, QuestionSet)

    @cached_property
    def profiles(self) -> Shelf:
        """The decision profiles, read on first use."""
        return Shelf("profiles", root=self._root, cwd=self._cwd)

    def find_profile(self, identifier: str) -> Profile:
        """Find a decision profile.

        Raises:
            DeclarationError: it was set aside or withheld; says where and why.
            UsageError: no such profile is declared.
        """
        return self.profiles.find(identifier, Profile)


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """What validation found.

    Units: `files` counts the files and packages looked at, `faulty` those among them with faults.
    """

    files: int
    faulty: int
    faults: tuple[Fault, ...]


def validate_declarations(
    folder: str, paths: Sequence[Path] = (), *, root: Path | None, cwd: Path
) -> ValidationReport:
    """Check all files of `sets` or `profiles`, or only the named ones among all others.

    Raises:
        UsageError: a named file does not exist, or a named folder has no YAML file.
    """
    try:
        named = named_sources(paths, root=root, cwd=cwd)
    except FileNotFoundError as exc:
        raise UsageError(
            f"there is no file {plain_text(str(exc), limit=200)}", advice="check its name"
        ) from exc
    if paths and not named:
        raise UsageError(
            "the named folder has no YAML file", advice="name files that end in .yaml or .yml"
        )
    shelf = Shelf(folder, root=root, cwd=cwd, named=named)
    if not named:
        return ValidationReport(shelf.file_count, *_count_faults(shelf.faults))
    chosen = {source.identity() for source in named}
    faults = [
        fault
        for source, reading in shelf.readings
        if source.identity() in chosen
        for fault in shelf.faults_of(reading)
    ]
    return ValidationReport(len(chosen), *_count_faults(faults))


def _count_faults(faults: Sequence[Fault]) -> tuple[int, tuple[Fault, ...]]:
    return len({fault.file for fault in faults}), tuple(faults)
