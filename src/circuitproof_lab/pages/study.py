"""What a study of a language model wrote: does the model do it, programs, healing, limits."""

from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from circuitproof.errors import InputError
from circuitproof.files.reading import read_fields
from circuitproof.files.records import read_record
from circuitproof.models.declaration import DECLARATION, Declaration, read_declaration
from circuitproof.programs.lines import parse_lines
from circuitproof.reports.words import program_lines
from circuitproof_lab.records.audit import QUALITY, BaseQuality
from circuitproof_lab.records.blocks import BLOCKS, BlockRegression
from circuitproof_lab.records.domain import DOMAIN, DeclaredDomain
from circuitproof_lab.records.healing import HEALED, Healed
from circuitproof_lab.records.limits import LIMITS, NO_LIMITS, NoLimits, PatternLimits
from circuitproof_lab.records.programs import ACCEPTED, AGAIN, Accepted, HeadSearch
from circuitproof_lab.records.viability import VIABILITY, Viability

_EXTRACTED, _SEARCH = "circuit.json", "program.*.json"
Record = TypeVar("Record")


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """The programs that were looked for on a task's domain, and what the circuit decides with them."""

    task: str
    searches: tuple[HeadSearch, ...]
    lines: tuple[tuple[str, ...], ...]
    """Of each search what is shown of its program, with what tokens are where that is known."""
    extracted: int | None
    """How many edges were extracted on the whole domain."""
    accepted: Accepted | None
    again: tuple[str, ...] | None
    """The edges that are left when the circuit is extracted again among the programs."""

    def is_read(self, search: HeadSearch) -> bool:
        """Say whether a head is still read in the end."""
        return any(edge.startswith(f"{search.head} ->") for edge in self.again or ())


@dataclass(frozen=True, slots=True)
class StudyView:
    """What there is of a study in a run folder."""

    quality: BaseQuality | None
    viabilities: tuple[Viability, ...]
    domains: tuple[DeclaredDomain, ...]
    blocks: tuple[BlockRegression, ...]
    programs: tuple[Programs, ...]
    healings: tuple[Healed, ...]
    limits: tuple[PatternLimits, ...]
    unasked: tuple[NoLimits, ...]
    """Where nothing was asked beyond the declared domain."""


def read_study(path: Path) -> StudyView:
    """Read what a study wrote into a run folder, wherever it stands; nothing of another run."""
    folders = dict.fromkeys(file.parent for file in sorted(path.rglob(_SEARCH)))
    model = _model(path) if folders else None
    return StudyView(
        _optional(path / QUALITY, BaseQuality),
        _all(path, VIABILITY, Viability),
        _all(path, DOMAIN, DeclaredDomain),
        _all(path, f"*{BLOCKS}", BlockRegression),
        tuple(_programs(folder, model, _place(folder, path)) for folder in folders),
        _all(path, HEALED, Healed),
        _all(path, LIMITS, PatternLimits),
        _all(path, NO_LIMITS, NoLimits),
    )


def _all(path: Path, name: str, kind: type[Record]) -> tuple[Record, ...]:
    return tuple(read_record(file, kind) for file in sorted(path.rglob(name)))


def _optional(file: Path, kind: type[Record]) -> Record | None:
    return read_record(file, kind) if file.is_file() else None


def _model(path: Path) -> Declaration | None:
    """Return what the first model of a run that names its tokens says; all have the same, some no names."""
    found = (read_declaration(file.parent) for file in sorted(path.rglob(DECLARATION)))
    return next((one for one in found if one.alphabet is not None), None)


def _place(folder: Path, run: Path) -> str:
    """Return of which task programs are, and before which generation's gate they were selected, if so."""
    *before, task = folder.relative_to(run).parts or (run.name,)
    return f"{task}, before gate {before[-1]}" if before else task


def _programs(folder: Path, model: Declaration | None, place: str) -> Programs:
    extracted = _edges(folder / _EXTRACTED)
    found = [read_record(file, HeadSearch) for file in folder.glob(_SEARCH)]
    searches = tuple(sorted(found, key=lambda one: one.head.place))
    return Programs(
        task=place,
        searches=searches,
        lines=tuple(_lines(one.program, model) for one in searches),
        extracted=None if extracted is None else len(extracted),
        accepted=_optional(folder / ACCEPTED, Accepted),
        again=_edges(folder / AGAIN),
    )


def _lines(program: tuple[str, ...] | None, model: Declaration | None) -> tuple[str, ...]:
    """Return the lines of a program, with what its tokens are where a model names them."""
    if program is None:
        return ("none in bounds",)
    if model is None or model.alphabet is None:
        return program
    try:
        parsed = parse_lines(program, "program", model.architecture.vocabulary)
    except InputError:  # a run of somebody else may hold anything, which is shown as it is
        return program
    return tuple(program_lines(model.alphabet.named(), parsed))


def _edges(file: Path) -> tuple[str, ...] | None:
    return read_fields(file).texts("edges") if file.is_file() else None
