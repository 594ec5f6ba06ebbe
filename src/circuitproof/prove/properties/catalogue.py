"""All properties, by their kinds: the one place where they are listed."""

from collections.abc import Mapping
from fractions import Fraction

from circuitproof.declare.circuits.circuit import Circuit
from circuitproof.prove.properties.agreement import Agreement
from circuitproof.prove.properties.equivalence import Equivalence
from circuitproof.prove.properties.faithfulness import Faithfulness
from circuitproof.prove.properties.invariance import Invariance
from circuitproof.prove.properties.kinds import Kind
from circuitproof.prove.properties.lesion_identity import LesionIdentity
from circuitproof.prove.properties.minimum import Minimum
from circuitproof.prove.properties.necessity import Necessity
from circuitproof.prove.properties.property import Property
from circuitproof.prove.properties.robustness import Robustness
from circuitproof.prove.properties.subset_minimality import SubsetMinimality
from circuitproof.text.reading import Fields

_LISTED: tuple[type[Property], ...] = (
    Equivalence,
    Invariance,
    Necessity,
    Robustness,
    Faithfulness,
    Agreement,
    SubsetMinimality,
    Minimum,
    LesionIdentity,
)
PROPERTIES: Mapping[Kind, type[Property]] = {one.kind: one for one in _LISTED}


def four_properties(epsilon: Fraction) -> tuple[Equivalence, Invariance, Necessity, Robustness]:
    """Return the paper's four properties of a circuit."""
    return Equivalence(), Invariance(), Necessity(), Robustness(epsilon)


def read_property(fields: Fields, circuit: Circuit) -> Property:
    """Read a property as it stands in a claim about a circuit and beside its verdict."""
    return PROPERTIES[fields.choice("kind", Kind)].read(fields, circuit)
