from fractions import Fraction

import pytest

from circuitproof.circuits.circuit import circuit_of, whole
from circuitproof.circuits.graph import EMBED, LOGITS, Edge, Graph, Head, Mlp
from circuitproof.errors import DeclarationError
from circuitproof.files.canonical import digest_bytes
from circuitproof.forward.forward import Side
from circuitproof.forward.interface import Interface
from circuitproof.models.declaration import NO_PROGRAMS
from circuitproof.programs.text import parse
from circuitproof.proof.properties.accuracy import Accuracy
from circuitproof.proof.properties.agreement import Agreement
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.faithfulness import Faithfulness
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.properties.lesion_identity import Base, LesionIdentity
from circuitproof.proof.properties.logit_difference import LogitDifferences
from circuitproof.proof.properties.loss import Loss
from circuitproof.proof.properties.minimum import Minimum
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.recovered_difference import RecoveredDifference
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.properties.subset_minimality import SubsetMinimality
from hand_models import PLAIN

GRAPH = Graph(1, 1)
DIRECT = circuit_of(GRAPH, [Edge(EMBED, LOGITS)])
ALL = (
    Equivalence(),
    Invariance(),
    Necessity(),
    Robustness(Fraction(1, 100)),
    Faithfulness(),
    Agreement(DIRECT),
    SubsetMinimality(),
    Minimum((DIRECT,)),
    Accuracy(),
    Loss(),
    LogitDifferences(),
    RecoveredDifference(),
    LesionIdentity(Base(PLAIN, NO_PROGRAMS, ()), ()),
)


def test_each_property_has_its_own_name_and_every_name_a_property():
    """A name that two properties shared would let one pass for the other in a claim."""
    assert tuple(prop.kind for prop in ALL) == tuple(Kind)


@pytest.mark.parametrize(
    "prop", [prop for prop in ALL if not isinstance(prop, Robustness | Agreement | Minimum | LesionIdentity)]
)
def test_a_property_without_numbers_is_its_kind_and_nothing_else(prop):
    """The format refuses keys that it does not name; what is to be found has no numbers yet."""
    assert prop.to_json() == {"kind": str(prop.kind)}


def test_robustness_states_its_epsilon_exactly():
    """A decimal near it would be another claim."""
    place = {"at": "logits input", "positions": "last"}
    third = Robustness(Fraction(1, 3)).to_json()
    assert third == {"kind": "robustness", "epsilon": "1/3", **place}
    assert Robustness(Fraction(2)).to_json() == {"kind": "robustness", "epsilon": "2", **place}


def test_robustness_states_where_it_perturbs():
    """The interface is a part of the claim, never a default in somebody's head."""
    inside = Interface(Mlp(0), Side.OUTPUT, (0, 3))
    stated = Robustness(Fraction(1), inside).to_json()
    assert stated == {"kind": "robustness", "epsilon": "1", "at": "mlp 0 output", "positions": [0, 3]}


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(-1, 100)])
def test_an_epsilon_that_is_not_positive_is_no_property(epsilon):
    """At zero the property says only that nothing ties, and below it nothing at all."""
    with pytest.raises(DeclarationError, match=f"^epsilon is {epsilon}, want a positive rational"):
        Robustness(epsilon)


def test_minimum_states_its_circuits_edge_by_edge():
    """A reader sees which circuits are meant."""
    assert Minimum((DIRECT,)).to_json() == {"kind": "minimum", "circuits": [["embed -> logits"]]}


@pytest.mark.parametrize("circuits", [(), (DIRECT, DIRECT), (DIRECT, whole(GRAPH))])
def test_minimum_wants_distinct_circuits_of_one_size(circuits):
    """Of different sizes the larger could not be a minimum."""
    with pytest.raises(DeclarationError, match="minimum wants"):
        Minimum(circuits)


def test_a_lesion_identity_carries_both_tables():
    """By the names of the tensors."""
    digest = digest_bytes(b"")
    program = parse("default 1\notherwise self")
    base = Base(PLAIN, {Head(0, 0): program}, (("a", digest),))
    assert LesionIdentity(base, (("b", digest),)).to_json() == {
        "kind": "lesion identity",
        "base": {
            "architecture": PLAIN.to_json(),
            "programs": {"0.0": ["default 1", "otherwise self"]},
            "tensors": {"a": str(digest)},
        },
        "artifact": {"b": str(digest)},
    }
