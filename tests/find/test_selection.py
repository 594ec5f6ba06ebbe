from itertools import permutations

import pytest

from circuitproof.circuits.circuit import circuit_of
from circuitproof.circuits.graph import Graph
from circuitproof.errors import DeclarationError, InputError
from circuitproof.find.choices import SelectionRule
from circuitproof.find.measure import Measure
from circuitproof.find.selection import select
from circuitproof.find.sweep import CircuitCandidate

EDGES = Graph(2, 2).edges()


def candidate(threshold, edges, margin, agreed=10):
    """Return a candidate with just what the rules look at."""
    return CircuitCandidate(
        threshold, circuit_of(Graph(2, 2), EDGES[:edges]), Measure(0.1, agreed, 10, margin)
    )


RANKED = {
    SelectionRule.SPARSITY: [
        candidate(0.5, 3, 1.0),
        candidate(0.1, 4, 2.0),
        candidate(0.2, 4, 2.0),
        candidate(0.01, 4, 1.0),
        candidate(0.001, 9, 9.0),
    ],
    SelectionRule.MARGIN: [
        candidate(0.001, 9, 9.0),
        candidate(0.5, 3, 2.0),
        candidate(0.1, 4, 2.0),
        candidate(0.2, 4, 2.0),
        candidate(0.01, 2, 1.0),
    ],
}
"""Candidates, the best first: each is behind its neighbour by just one of the rule's three keys."""


@pytest.mark.parametrize("rule", SelectionRule)
def test_a_rule_orders_candidates_as_declared(rule):
    """Whichever are there and in whatever order they come, the first of the ranking wins."""
    ranked = RANKED[rule]
    for place in range(len(ranked)):
        for given in permutations(ranked[place:]):
            assert select(given, rule) == ranked[place]


@pytest.mark.parametrize("rule", SelectionRule)
def test_a_candidate_that_misses_a_prompt_never_wins(rule):
    """However sparse, and however large its margin is said to be."""
    good = candidate(0.1, 20, 0.1)
    assert select([candidate(0.5, 1, 99.0, agreed=9), good], rule) == good


@pytest.mark.parametrize("rule", SelectionRule)
def test_no_good_candidate_is_a_refusal_that_names_the_best(rule):
    """Silence or the least bad one would pass for an answer."""
    with pytest.raises(
        InputError, match=r"no candidate .* on a share 1 of the prompts, the best on 9 of 10; train the model"
    ):
        select([candidate(0.5, 1, 1.0, agreed=8), candidate(0.1, 2, 1.0, agreed=9)], rule)
    assert select([candidate(0.5, 1, 1.0, agreed=9)], rule, agreement=0.9).measure.agreed == 9


def test_nothing_to_select_from_is_refused():
    """An empty list proves nothing."""
    with pytest.raises(InputError, match="there are no candidates to select from"):
        select([], SelectionRule.SPARSITY)


def test_an_agreement_of_nothing_is_refused():
    """It would let every candidate in."""
    with pytest.raises(DeclarationError, match="agreement is 0, want a share"):
        select([candidate(0.5, 1, 1.0)], SelectionRule.SPARSITY, 0)
