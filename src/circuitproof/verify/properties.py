"""The properties a claim may state, as data."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import ClassVar, TypeAlias

from circuitproof.canonical import Json
from circuitproof.circuits.circuit import Circuit
from circuitproof.errors import DeclarationError
from circuitproof.reading import write_rational


class Kind(StrEnum):
    """The names of the properties, in the order in which they are answered."""

    EQUIVALENCE = "equivalence"
    INVARIANCE = "invariance"
    NECESSITY = "necessity"
    ROBUSTNESS = "robustness"
    FAITHFULNESS = "faithfulness"
    SUBSET_MINIMALITY = "subset minimality"
    MINIMUM = "minimum"


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
    """Every perturbation of at most `epsilon` per coordinate of the final residual keeps every decision."""

    kind: ClassVar[Kind] = Kind.ROBUSTNESS

    epsilon: Fraction

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
        """Return how many edges the circuits have."""
        return len(self.circuits[0])


Property: TypeAlias = (
    Equivalence | Invariance | Necessity | Robustness | Faithfulness | SubsetMinimality | Minimum
)


def kind_of(prop: Property) -> Kind:
    """Return a property's name."""
    return prop.kind


def property_to_json(prop: Property) -> Json:
    """Return a property as it stands in a claim."""
    named: dict[str, Json] = {"kind": str(kind_of(prop))}
    if isinstance(prop, Robustness):
        named["epsilon"] = write_rational(prop.epsilon)
    if isinstance(prop, Minimum):
        named["circuits"] = [[str(edge) for edge in circuit] for circuit in prop.circuits]
    return named
