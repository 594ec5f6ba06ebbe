"""The record of a round of distillation: what became of its behaviours, lesion by lesion."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from circuitproof.files.codec import Key, PositiveInt
from circuitproof.files.records import read_record

MIGRATION = "migration.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesion:
    """What is left of a behaviour when heads are silenced."""

    where: str
    """Whether in the whole model or in the declared circuit."""
    silenced: tuple[str, ...]
    kl: float
    """Between the candidates before and after, in nats."""
    unchanged: int
    right: int
    prompts: PositiveInt
    worst_margin: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BehaviourRecord:
    """What became of a behaviour: whether its programs are used or bypassed, and where its circuit went."""

    task: str
    fate: str
    survives: bool
    """Whether it survives in the model without all programs."""
    idle: Mapping[str, tuple[str, ...]]
    """The programs that are not missed in the model, and in the circuit."""
    arrived: tuple[str, ...]
    """Neural heads that the declared circuit does not have."""
    new_nodes: tuple[str, ...]
    lost_nodes: tuple[str, ...]
    declared: tuple[str, ...]
    found: tuple[str, ...]
    """The edges that extraction finds now."""
    lesions: tuple[Lesion, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRecord:
    """A model with programs, healed under one objective or not yet, and what became of its behaviours."""

    name: Annotated[str, Key("round")]
    fate: str
    """The worst of a behaviour."""
    model: str
    programs: Mapping[str, str]
    scoring_parameters: int
    scoring_parameters_before: int
    behaviours: tuple[BehaviourRecord, ...]


@dataclass(frozen=True, slots=True)
class PlacedLesion:
    """A lesion of a behaviour, and in which round of a run it was made."""

    place: str
    task: str
    fate: str
    lesion: Lesion


def read_lesions(file: Path, run: Path) -> Iterator[PlacedLesion]:
    """Read what a round came to: every lesion of each behaviour, each once."""
    place = str(file.parent.relative_to(run))
    for one in read_record(file, RoundRecord).behaviours:
        told = (PlacedLesion(place, one.task, one.fate, lesion) for lesion in one.lesions)
        yield from dict.fromkeys(told)
