"""What evidence shows: decisions before and after, as the prover computes them."""

from fractions import Fraction

import pytest

import viewed
from circuitproof.proof.fold import fold
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.reports.parts.cost import leaves

SEEDS = viewed.seeds()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_witness_of_necessity_is_decided_otherwise_without_its_edge(seed):
    """What is shown before and after is what the prover computes of the circuit and of the lesion."""
    bundle = viewed.view_of(seed).bundle
    for one in viewed.view_of(seed).witnesses:
        if isinstance(one.prop, Necessity) and one.edge is not None:
            (entry,) = one.shown
            lesion = bundle.circuit.without(one.edge)
            prompts = [bundle.domain.prompts[entry.prompt]]
            folded = fold(bundle.frozen, bundle.task.candidates, (bundle.circuit, lesion), prompts)
            assert (entry.found, entry.other) == (folded.of(bundle.circuit)[0], folded.of(lesion)[0])
            assert entry.other.decision != entry.found.decision


def test_some_claim_is_refuted_by_a_perturbation_and_what_it_does_is_shown():
    """The decision with what was added is not the clear one without it, and nothing added is too large."""
    found = [
        (one, entry)
        for seed in SEEDS
        for one in viewed.view_of(seed).witnesses
        for entry in one.shown
        if isinstance(one.prop, Robustness) and one.is_refutation
    ]
    assert found
    for one, entry in found:
        assert max(map(abs, entry.perturbation)) <= one.prop.epsilon
        assert not entry.found.is_clear or entry.other.decision != entry.found.decision
        assert one.change() == "with η added"


def test_leaves_of_evidence_are_counted():
    """One for each prompt or edge where evidence is a split, one where it is a replay."""
    view = viewed.quotes_view(Fraction(1))
    prompts, edges = len(view.bundle.domain), len(view.bundle.circuit)
    assert [leaves(answer) for answer in view.bundle.answers] == [prompts, prompts, edges, 1]
