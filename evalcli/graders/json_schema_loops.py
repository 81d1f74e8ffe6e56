"""Finds references of a JSON Schema that lead back to where they came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from evalcli.declarations.scalars import Path


@dataclass(slots=True)
class InPlaceSteps:
    """Which schemas are always applied to the same value as which others.

    A way along these steps that comes back to its beginning would be walked for ever, whatever
    the answer. A schema that contains itself in a property or an item is no such way, since an
    answer ends somewhere; one among alternatives need not be, since another may decide before.
    """

    _steps: dict[int, list[tuple[int, Path | None]]] = field(default_factory=dict)

    def note_parts(self, schema: Mapping[str, object]) -> None:
        """Note the subschemas that are for the same value."""
        parts = schema.get("allOf")
        for part in parts if isinstance(parts, list) else ():
            self._note(schema, part, None)

    def note_reference(self, schema: Mapping[str, object], target: object, place: Path) -> None:
        """Note where the reference at `place` leads."""
        self._note(schema, target, place)

    def find_loops(self) -> list[Path]:
        """Give the place of one reference of each way that leads back to its beginning."""
        done: set[int] = set()
        found: dict[Path, None] = {}
        for start in self._steps:
            if start not in done:
                found.update(dict.fromkeys(self._loops_from(start, done)))
        return list(found)

    def _note(self, schema: object, target: object, place: Path | None) -> None:
        self._steps.setdefault(id(schema), []).append((id(target), place))

    def _loops_from(self, start: int, done: set[int]) -> Iterator[Path]:
        """Walk in depth from one schema; `done` has those that were left behind for good."""
        way: list[tuple[int, Path | None]] = [(start, None)]
        left = [iter(self._steps[start])]
        while way:
            step = next(left[-1], None)
            if step is None:
                left.pop()
                done.add(way.pop()[0])
                continue
            target, place = step
            at = next((at for at, (one, _) in enumerate(way) if one == target), None)
            if at is not None:
                # Inside one tree nothing leads back, so there is a reference among the steps.
                places = [place, *(each for _, each in reversed(way[at + 1 :]))]
                yield from [each for each in places if each is not None][:1]
            elif target in self._steps and target not in done:
                way.append(step)
                left.append(iter(self._steps[target]))
