"""The properties a claim may state, as data."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import ClassVar, TypeAlias

from circuitproof.declare.architecture import Architecture
from circuitproof.declare.circuits.circuit import Circuit
from circuitproof.errors import DeclarationError
from circuitproof.forward.declaration import ProgramHeads, programs_to_json
from circuitproof.forward.interface import FINAL_RESIDUAL, Interface, Span
from circuitproof.text.canonical import Digest, Json
from circuitproof.text.reading import write_rational


class Kind(StrEnum):
    """The names of the properties, in the order in which they are answered."""

    EQUIVALENCE = "equivalence"
    INVARIANCE = "invariance"
    NECESSITY = "necessity"
    ROBUSTNESS = "robustness"
    FAITHFULNESS = "faithfulness"
    SUBSET_MINIMALITY = "subset minimality"
    MINIMUM = "minimum"
    LESION_IDENTITY = "lesion identity"


KNOWN_ON_PATTERNS = (Kind.EQUIVALENCE, Kind.INVARIANCE, Kind.NECESSITY, Kind.ROBUSTNESS)
"""What can be asked of every prompt of a pattern."""


@dataclass(frozen=True, slots=True)
class Equivalence:
    """For every prompt x, the circuit decides the right answer P(x) and nothing else."""

    kind: ClassVar[Kind] = Kind.EQUIVALENCE


@dataclass(frozen=True, slots=True)
class Invariance:
    """For every class of R, all prompts get the same clear decision."""

    kind: ClassVar[Kind] = Kind.INVARIANCE


@dataclass(frozen=True, slots=True)
class Necessity:
    """Each kept edge has a prompt whose clear decision changes when the edge is gone."""

    kind: ClassVar[Kind] = Kind.NECESSITY


@dataclass(frozen=True, slots=True)
class Robustness:
    """Every perturbation of at most `epsilon` per coordinate at an interface keeps every decision."""

    kind: ClassVar[Kind] = Kind.ROBUSTNESS

    epsilon: Fraction
    at: Interface = FINAL_RESIDUAL
    """Where it is perturbed: the final residual, unless told."""

    def __post_init__(self) -> None:
        if self.epsilon <= 0:
            raise DeclarationError(f"epsilon is {self.epsilon}, want a positive rational such as 1/100")


@dataclass(frozen=True, slots=True)
class Faithfulness:
    """For every prompt, the circuit decides what the whole model decides."""

    kind: ClassVar[Kind] = Kind.FAITHFULNESS


@dataclass(frozen=True, slots=True)
class SubsetMinimality:
    """The circuit decides the task, and none of its edges can be left out, alone or with others."""

    kind: ClassVar[Kind] = Kind.SUBSET_MINIMALITY


@dataclass(frozen=True, slots=True)
class Minimum:
    """These circuits, all of one size, decide the task; no other circuit of at most that size does."""

    kind: ClassVar[Kind] = Kind.MINIMUM

    circuits: tuple[Circuit, ...]

    def __post_init__(self) -> None:
        if not self.circuits or len({len(circuit) for circuit in self.circuits}) != 1:
            raise DeclarationError("minimum wants one or more circuits of one size")
        if len(set(self.circuits)) != len(self.circuits):
            raise DeclarationError("minimum wants each circuit once")

    @property
    def size(self) -> int:
        return len(self.circuits[0])


Digests: TypeAlias = tuple[tuple[str, Digest], ...]
"""The names of tensors with their digests, in the order of names."""


@dataclass(frozen=True, slots=True)
class Base:
    """The model that an artifact was built on: what it declares, and the digest of every tensor."""

    architecture: Architecture
    programs: ProgramHeads
    tensors: Digests


@dataclass(frozen=True, slots=True)
class LesionIdentity:
    """Without its program heads the model is its base: every tensor that is then read has the same digest."""

    kind: ClassVar[Kind] = Kind.LESION_IDENTITY

    base: Base
    artifact: Digests


Property: TypeAlias = (
    Equivalence
    | Invariance
    | Necessity
    | Robustness
    | Faithfulness
    | SubsetMinimality
    | Minimum
    | LesionIdentity
)


def four_properties(epsilon: Fraction) -> tuple[Equivalence, Invariance, Necessity, Robustness]:
    """Return the paper's four properties of a circuit."""
    return Equivalence(), Invariance(), Necessity(), Robustness(epsilon)


def property_to_json(prop: Property) -> Json:
    named: dict[str, Json] = {"kind": str(prop.kind)}
    if isinstance(prop, Robustness):
        chosen = prop.at.positions
        named["epsilon"] = write_rational(prop.epsilon)
        named["at"] = str(prop.at)
        named["positions"] = str(chosen) if isinstance(chosen, Span) else list(chosen)
    if isinstance(prop, Minimum):
        named["circuits"] = [[str(edge) for edge in circuit] for circuit in prop.circuits]
    if isinstance(prop, LesionIdentity):
        named["base"] = {
            "architecture": prop.base.architecture.to_json(),
            "programs": programs_to_json(prop.base.programs),
            "tensors": _digests_to_json(prop.base.tensors),
        }
        named["artifact"] = _digests_to_json(prop.artifact)
    return named


def _digests_to_json(digests: Digests) -> Json:
    return {name: str(digest) for name, digest in digests}
