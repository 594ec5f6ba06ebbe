"""Records of audits and calibrations: what is right, what is left when something is taken away, its cost."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from circuitproof.errors import DeclarationError
from circuitproof.files.canonical import Digest
from circuitproof.files.codec import Codec, Positive, PositiveInt
from circuitproof.files.reading import read_json, reading
from circuitproof.files.records import read_record

CHOSEN, QUALITY = "chosen.json", "base.json"
LADDER = ("base", "installed", "scalar", "diagonal", "readout")
"""The states of a calibration, from the model that was given to the one that trains the most."""


@dataclass(frozen=True, slots=True)
class BaseQuality:
    """The base on held-out text, and what an artifact of it may lose there."""

    loss: Positive
    budget: Positive
    """The largest loss; its exponential is the largest perplexity."""


@dataclass(frozen=True, slots=True)
class ErrorSets:
    """The prompts that a model decides wrong, beside those that are right without its program heads."""

    wrong: int
    uncovered: int
    """Prompts that are not right without the program heads."""
    both: int
    """Prompts that are wrong and not right without the program heads either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """How many prompts are decided right in floats, with nothing and with something taken away."""

    heads: tuple[str, ...]
    """Which heads have or will have programs."""
    prompts: PositiveInt
    model: int
    circuit: int
    without_heads: int
    """The model with all of those heads silenced: the native backup route."""
    without_each: tuple[int, ...]
    """The model with each of those heads alone silenced."""
    circuit_without_heads: int
    """The circuit with all of them silenced."""
    circuit_without_each: tuple[int, ...]
    """The circuit with each of them alone silenced."""
    without_circuit: int
    """The model without any edge of the circuit and with all of those heads silenced."""
    backup: tuple[int, ...]
    """The prompts that the backup route covers."""
    wrong: tuple[int, ...]
    """The prompts that the model decides wrong."""
    lesion_digest: Digest
    """The digest of the candidate logits of the model with all those heads silenced, bit by bit."""

    def __post_init__(self) -> None:
        for counts in (self.without_each, self.circuit_without_each):
            refuse_other_heads(len(self.heads), len(counts))

    @property
    def needed(self) -> int:
        """Return on how many prompts model and circuit both need the heads together to be right."""
        return min(self.model - self.without_heads, self.circuit - self.circuit_without_heads)

    @property
    def errors(self) -> ErrorSets:
        wrong, backup = frozenset(self.wrong), frozenset(self.backup)
        return ErrorSets(len(wrong), self.prompts - len(backup), len(wrong - backup))


def refuse_other_heads(wanted: int, found: int) -> None:
    """Refuse counts of each program head alone that do not tell of all of them."""
    if wanted != found:
        raise DeclarationError(f"{wanted} program heads, but counts of {found} of them alone; want as many")


@dataclass(frozen=True, slots=True, kw_only=True)
class Losses:
    """What a model loses on a text, and what it loses there under each lesion of the audit."""

    model: Positive
    without_heads: Positive
    without_each: tuple[Positive, ...]
    without_circuit: Positive


class Aim(StrEnum):
    """What calibration makes large, beside being right."""

    RADIUS = "radius"
    """How far the final residual of the circuit can move before a decision changes."""
    RELATIVE_RADIUS = "relative radius"
    """The same, divided by the largest coordinate of that residual: scaling the readout buys none of it."""
    MARGIN = "margin"
    """By how much the right logit of the circuit leads: where a norm comes last, there is no radius."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredState:
    """The model at one point of a construction, measured in floats."""

    task: str
    name: str
    audit: Audit
    radius: float
    """The smallest of what is aimed at, over the circuit's decisions; not positive where one is wrong."""
    losses: Losses | None
    """On the text of the quality gate, if there is one."""
    seconds: Positive
    passes: bool
    aim: Aim = Aim.RADIUS

    def __post_init__(self) -> None:
        if self.losses is not None:
            refuse_other_heads(len(self.audit.heads), len(self.losses.without_each))


@dataclass(frozen=True, slots=True)
class ChosenRung:
    """The rung that became the model of record."""

    record: str
    why: str
    """Why it is that one, in one sentence."""


def read_states(folder: Path) -> list[MeasuredState]:
    """Read the states of the construction that stands in a folder, in order, those of other names last."""
    return sorted(_states(folder), key=lambda one: (*LADDER, one.name).index(one.name))


def _states(folder: Path) -> Iterator[MeasuredState]:
    """Read what is a state of a construction; other files are passed over."""
    for file in sorted(folder.glob("*.json")):
        content = read_json(file)
        if isinstance(content, dict) and content.keys() >= {"audit", "passes"}:  # pyright: ignore[reportUnknownMemberType]  # unread JSON
            with reading(content, str(file)) as fields:  # pyright: ignore[reportUnknownArgumentType]  # unread JSON
                yield Codec().record(MeasuredState, fields)


def read_chosen(folder: Path) -> ChosenRung | None:
    """Read which state of a construction is of record, if one was chosen."""
    return read_record(folder / CHOSEN, ChosenRung) if (folder / CHOSEN).is_file() else None
