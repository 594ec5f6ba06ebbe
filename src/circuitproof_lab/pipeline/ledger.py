"""The ledger of gates: an append-only chain of what was declared, looked at and burned.

Each line holds the digest of the line before it, so no line can be changed, moved or taken out without the
next one telling; that lines are missing at the end is told by whoever remembers a digest (`require`).
A gate is burned *before* it is evaluated: a run that is killed in between has burned it too, and may only
finish the evaluation it began.
"""

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeAlias

from circuitproof.errors import DeclarationError, InputError, InvalidError
from circuitproof.files.canonical import Digest, canonical_json, digest_json
from circuitproof.files.codec import Codec, PositiveInt, record_to_json, to_json
from circuitproof.files.locked import locked
from circuitproof.files.reading import parse_json, read_bytes, reading
from circuitproof.tasks.task import Task
from circuitproof_lab.pipeline.splits import Development, Gate


@dataclass(frozen=True, slots=True)
class Declared:
    """A recipe was fixed; nothing that follows from it had been computed."""

    tag: ClassVar[str] = "declared"
    name: str
    recipe: Digest

    def words(self) -> str:
        return f"recipe {self.name!r} declared: {self.recipe}"


@dataclass(frozen=True, slots=True)
class Viewed:
    """Prompts became development data without having been a gate."""

    tag: ClassVar[str] = "viewed"
    recipe: Digest
    split: Digest
    prompts: tuple[Digest, ...]

    def words(self) -> str:
        return f"{len(self.prompts)} prompts looked at: {self.split}"


@dataclass(frozen=True, slots=True)
class Burned:
    """A gate was opened for one trial; from now on its prompts are development data."""

    tag: ClassVar[str] = "burned"
    split: Digest
    recipe: Digest
    circuit: Digest
    """What the gate is evaluated with."""
    weights: Digest
    """Of the model that it is a circuit of."""
    programs: Digest | None
    """Of the programs that were selected for the circuit's heads, where a recipe selects any."""
    prompts: tuple[Digest, ...]

    def words(self) -> str:
        return f"gate of {len(self.prompts)} prompts burned: {self.split}"


@dataclass(frozen=True, slots=True)
class Measured:
    """What came of the trial."""

    tag: ClassVar[str] = "measured"
    split: Digest
    right: int
    prompts: PositiveInt
    """Those of the gate that the model itself decides right."""
    apart: int
    """Those that it does not."""

    def words(self) -> str:
        apart = f", {self.apart} more that the model itself misses" if self.apart else ""
        return f"gate measured, {self.right} of {self.prompts} right{apart}: {self.split}"


@dataclass(frozen=True, slots=True)
class Retired:
    """A gate that was never opened became part of a declared domain; it is development data from now on."""

    tag: ClassVar[str] = "retired"
    recipe: Digest
    split: Digest
    prompts: tuple[Digest, ...]

    def words(self) -> str:
        return f"gate of {len(self.prompts)} prompts never opened, declared as domain: {self.split}"


Event: TypeAlias = Declared | Viewed | Burned | Measured | Retired


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the ledger."""

    digest: Digest
    previous: Digest | None
    event: Event


class Ledger:
    """A ledger in a file. Opening one checks the whole chain; every change checks it again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.entries()

    def entries(self) -> tuple[Entry, ...]:
        """Return every line, or refuse the file where its chain breaks."""
        if not self.path.exists():
            return ()
        lines = read_bytes(self.path).splitlines(keepends=True)
        entries: list[Entry] = []
        for number, line in enumerate(lines, start=1):
            where = f"{self.path} line {number}"
            if not line.endswith(b"\n"):
                raise InvalidError(f"{where} is cut short: its writing was interrupted; remove that line")
            entry = _checked_entry(line, where)
            if entry.previous != (entries[-1].digest if entries else None):
                raise InvalidError(f"{where} does not follow the line before it: the ledger was changed")
            entries.append(entry)
        return tuple(entries)

    @property
    def last(self) -> Digest:
        """Return the digest of the last line, of which there must be one."""
        entries = self.entries()
        if not entries:
            raise InputError(f"{self.path} has no lines")
        return entries[-1].digest

    def require(self, digest: Digest) -> None:
        """Refuse a ledger from which a line that somebody remembers is gone."""
        if all(entry.digest != digest for entry in self.entries()):
            raise InvalidError(f"{self.path} has no line {digest}: lines were taken off its end")

    def declare(self, name: str, recipe: Digest) -> None:
        """Enter a recipe, once, before anything is computed from it."""
        with self._locked() as events:
            if Declared(name, recipe) not in events:
                self._append(Declared(name, recipe))

    def view(self, recipe: Digest, development: Development) -> None:
        """Enter development data; prompts that were looked at before need no new line."""
        with self._locked() as events:
            _refuse_undeclared(events, recipe)
            for split in development.splits:
                prompts = split.prompt_digests()
                if not set(prompts) <= _seen(events).keys():
                    self._append(Viewed(recipe, split.digest, prompts))

    def refuse_stale(self, recipe: Digest, gates: Sequence[Gate]) -> None:
        """Refuse gates of a recipe that were looked at before, but for those it burned or retired itself."""
        events = tuple(entry.event for entry in self.entries())
        own = {one.split for one in events if isinstance(one, Burned | Retired) and one.recipe == recipe}
        for split in (gate.split for gate in gates if gate.split.digest not in own):
            _refuse_stale(events, split.prompt_digests(), split.name)

    def burn(
        self, gate: Gate, *, recipe: Digest, circuit: Digest, weights: Digest, programs: Digest | None = None
    ) -> Task:
        """Burn a gate and hand out its task; refuse one of which a prompt was looked at before."""
        split = gate.split
        event = Burned(split.digest, recipe, circuit, weights, programs, split.prompt_digests())
        with self._locked() as events:
            _refuse_undeclared(events, recipe)
            if event not in events:
                _refuse_stale(events, event.prompts, split.name)
                self._append(event)
        return split.generator.make_task(split.rows)

    def record(self, gate: Gate, right: int, apart: int = 0) -> None:
        """Enter what came of a burned gate's trial, and how many prompts the model itself misses, once."""
        event = Measured(gate.split.digest, right, len(gate.split.rows) - apart, apart)
        with self._locked() as events:
            if not any(isinstance(known, Burned) and known.split == event.split for known in events):
                raise DeclarationError(f"gate {gate.split.name!r} was not burned, so nothing can be measured")
            known = [e for e in events if isinstance(e, Measured) and e.split == event.split]
            if known and known[0] != event:
                raise InputError(
                    f"gate {gate.split.name!r} was measured before with {known[0].right} of "
                    f"{known[0].prompts} right, now {right}; a gate has one result"
                )
            if not known:
                self._append(event)

    def retire(self, gate: Gate, recipe: Digest) -> None:
        """Enter a gate that was not opened and is none any more, unless it was burned or retired before."""
        event = Retired(recipe, gate.split.digest, gate.split.prompt_digests())
        with self._locked() as events:
            _refuse_undeclared(events, recipe)
            if not set(event.prompts) <= _seen(events).keys():
                self._append(event)

    @contextmanager
    def _locked(self) -> Generator[tuple[Event, ...], None, None]:
        """Let one process at a time read and append: whoever comes later waits."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with locked(self.path):
            yield tuple(entry.event for entry in self.entries())

    def _append(self, event: Event) -> None:
        entries = self.entries()
        previous = entries[-1].digest if entries else None
        entry = Entry(_digest(previous, event), previous, event)
        line = canonical_json(record_to_json(entry)) + b"\n"
        with self.path.open("ab") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())


def _seen(events: tuple[Event, ...]) -> dict[Digest, Event]:
    """Return every prompt that was looked at, with the first event that did."""
    latest_first = [event for event in reversed(events) if isinstance(event, Viewed | Burned | Retired)]
    return {prompt: event for event in latest_first for prompt in event.prompts}


def _refuse_undeclared(events: tuple[Event, ...], recipe: Digest) -> None:
    if not any(isinstance(event, Declared) and event.recipe == recipe for event in events):
        raise DeclarationError(f"recipe {recipe} is not in the ledger; declare it before looking at anything")


def _refuse_stale(events: tuple[Event, ...], prompts: Sequence[Digest], name: str) -> None:
    seen = _seen(events)
    if stale := [prompt for prompt in prompts if prompt in seen]:
        before = seen[stale[0]]
        how = "burned as a gate" if isinstance(before, Burned) else "used as development data"
        raise InputError(
            f"gate {name!r} is not fresh: {len(stale)} of its {len(prompts)} prompts were {how} before; "
            "a burned gate is development data, so take other prompts (another salt or other templates)"
        )


def _digest(previous: Digest | None, event: Event) -> Digest:
    return digest_json({"previous": to_json(previous), "event": to_json(event)})


def _checked_entry(line: bytes, where: str) -> Entry:
    """Return a line of a ledger; whatever is wrong with it, the ledger does not hold."""
    try:
        with reading(parse_json(line, where), where) as fields:
            entry = Codec().record(Entry, fields)
    except InputError as error:
        raise InvalidError(str(error)) from error
    if _digest(entry.previous, entry.event) != entry.digest:
        raise InvalidError(f"{where} does not have the digest it says: the ledger was changed")
    return entry
