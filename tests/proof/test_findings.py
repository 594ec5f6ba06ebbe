from fractions import Fraction

from circuitproof.circuits.graph import EMBED, LOGITS, Edge
from circuitproof.proof.evidence import Radius
from circuitproof.proof.findings import LISTED, EdgeWitnesses, Findings, spread

FINITE = [Radius(Fraction(number)) for number in ("3", "1/3", "2", "5")]
RADII = (FINITE[0], None, FINITE[1], Radius(None), *FINITE[2:])


def test_nothing_found_is_said_in_no_words():
    """The table then says that there is no counterexample."""
    assert Findings().words() == ""
    assert Findings().to_json() == {"counterexamples": [], "edges": [], "radii": [], "radius": {}}


def test_the_distribution_is_of_finite_radii_and_exact():
    """An infinite radius is no number to rank by, a tie has none; of four, two are in the middle."""
    found = Findings(radii=RADII)
    assert found.distribution() == {"min": Fraction(1, 3), "median": Fraction(5, 2), "max": 5}
    content = found.to_json()
    assert content["radius"] == {"min": "1/3", "median": "5/2", "max": "5"}
    assert content["radii"] == ["3", None, "1/3", "infinite", "2", "5"]


def test_an_odd_number_has_one_in_the_middle():
    """In whatever order they come."""
    assert spread([Fraction(7), Fraction(1), Fraction(2)]) == {"min": 1, "median": 2, "max": 7}


def test_infinite_radii_alone_have_no_distribution():
    """There is no smallest number among them."""
    assert Findings(radii=(Radius(None), None)).distribution() == {}


def test_many_counterexamples_are_listed_up_to_a_limit_and_all_counted():
    """A thousand numbers help nobody, but their count is a finding."""
    found = Findings(tuple((x,) for x in range(LISTED + 1)))
    assert found.to_json()["counterexamples"] == [[x] for x in range(LISTED)]
    assert found.words() == f"{LISTED + 1} counterexamples, first prompt 0"


def test_a_pair_is_named_as_a_pair():
    """Invariance is refuted by two prompts that only together show anything."""
    assert Findings(((4, 9),)).words() == "1 counterexample, first prompt 4 and prompt 9"


def test_flips_and_ties_are_told_apart_for_each_edge():
    """A tie without the edge is a weaker witness than another answer."""
    edge = Edge(EMBED, LOGITS)
    found = Findings(edges=(EdgeWitnesses(edge, (1, 2), (3,)),))
    assert found.words() == "embed -> logits: 2 flips, 1 ties"
    assert found.to_json()["edges"] == [
        {"edge": "embed -> logits", "flips": [1, 2], "ties": [3], "only_shared_bias": False}
    ]


def test_a_radius_too_large_for_a_float_is_still_shown():
    """Products of a few large weights pass 1e308: a table must not fail on them, or call a small one zero."""
    found = Findings(radii=(Radius(Fraction(10**400)), Radius(Fraction(1, 3 * 10**400))))
    assert found.words() == "min radius 3.33333e-401; median radius 5.00000e+399; max radius 1.00000e+400"


def test_radii_are_shown_with_six_digits():
    """The paper's numbers can be compared at a glance."""
    assert Findings(radii=(Radius(Fraction(5, 8)),)).words().startswith("min radius 0.625;")
    assert Findings(radii=(Radius(Fraction(2, 3)),)).words().startswith("min radius 0.666667;")
