"""All properties, by their kinds: the one place where they are listed."""

from collections.abc import Mapping
from fractions import Fraction

from circuitproof.circuits.circuit import Circuit
from circuitproof.files.reading import Fields
from circuitproof.proof.properties.accuracy import Accuracy
from circuitproof.proof.properties.agreement import Agreement
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.faithfulness import Faithfulness
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.properties.lesion_identity import LesionIdentity
from circuitproof.proof.properties.logit_difference import LogitDifferences
from circuitproof.proof.properties.loss import Loss
from circuitproof.proof.properties.minimum import Minimum
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.property import Property
from circuitproof.proof.properties.recovered_difference import RecoveredDifference
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.properties.subset_minimality import SubsetMinimality

_LISTED: tuple[type[Property], ...] = (
    Equivalence,
    Invariance,
    Necessity,
    Robustness,
    Faithfulness,
    Agreement,
    SubsetMinimality,
    Minimum,
    Accuracy,
    Loss,
    LogitDifferences,
    RecoveredDifference,
    LesionIdentity,
)
PROPERTIES: Mapping[Kind, type[Property]] = {one.kind: one for one in _LISTED}


def four_properties(epsilon: Fraction) -> tuple[Equivalence, Invariance, Necessity, Robustness]:
    """Return the paper's four properties of a circuit."""
    return Equivalence(), Invariance(), Necessity(), Robustness(epsilon)


def read_property(fields: Fields, circuit: Circuit) -> Property:
    """Read a property as it stands in a claim about a circuit and beside its verdict."""
    return PROPERTIES[fields.choice("kind", Kind)].read(fields, circuit)
