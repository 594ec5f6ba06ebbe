"""The properties a claim may state, as data."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TypeAlias, assert_never

from circuitproof.canonical import Json
from circuitproof.errors import DeclarationError
from circuitproof.reading import write_rational


class Kind(StrEnum):
    """The names of the properties, in the order in which they are answered."""

    EQUIVALENCE = "equivalence"
    INVARIANCE = "invariance"
    NECESSITY = "necessity"
    ROBUSTNESS = "robustness"
    FAITHFULNESS = "faithfulness"


@dataclass(frozen=True, slots=True)
class Equivalence:
    """For every prompt x, the circuit decides the right answer P(x) and nothing else."""


@dataclass(frozen=True, slots=True)
class Invariance:
    """For every class of R, all prompts get the same clear decision."""


@dataclass(frozen=True, slots=True)
class Necessity:
    """Each kept edge has a prompt whose clear decision changes when the edge is gone."""


@dataclass(frozen=True, slots=True)
class Robustness:
    """Every perturbation of at most `epsilon` per coordinate of the final residual keeps every decision."""

    epsilon: Fraction

    def __post_init__(self) -> None:
        if self.epsilon <= 0:
            raise DeclarationError(f"epsilon is {self.epsilon}, want a positive rational such as 1/100")


@dataclass(frozen=True, slots=True)
class Faithfulness:
    """For every prompt, the circuit decides what the whole model decides."""


Property: TypeAlias = Equivalence | Invariance | Necessity | Robustness | Faithfulness


def kind_of(prop: Property) -> Kind:
    """Return a property's name."""
    match prop:
        case Equivalence():
            return Kind.EQUIVALENCE
        case Invariance():
            return Kind.INVARIANCE
        case Necessity():
            return Kind.NECESSITY
        case Robustness():
            return Kind.ROBUSTNESS
        case Faithfulness():
            return Kind.FAITHFULNESS
        case _:
            assert_never(prop)


def property_to_json(prop: Property) -> Json:
    """Return a property as it stands in a claim."""
    named: dict[str, Json] = {"kind": str(kind_of(prop))}
    return named | {"epsilon": write_rational(prop.epsilon)} if isinstance(prop, Robustness) else named
