"""Robustness through a final layer norm: prover and checker bound every lead by the same number."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from circuitproof.bundle.files import bundle_files, write_bundle
from circuitproof.circuits.circuit import whole
from circuitproof.models.operators import Attention, LayerNorm, Mask
from circuitproof.proof.arithmetic import EnclosedNumbers
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.fold import fold
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.regions.final_norm import NormedDecision, final_norm
from circuitproof.proof.regions.normed_answers import final_residuals
from circuitproof.proof.verdict import Verdict
from circuitproof_check import work
from circuitproof_check.case import Case
from circuitproof_check.claim import read_claim
from circuitproof_check.enclosed.forward import Enclosures
from circuitproof_check.enclosed.leads import NormedLeads
from circuitproof_check.forward import Forward
from circuitproof_check.main import Beside, Outcome, inspect
from circuitproof_check.tensors import Weights, read_safetensors
from hand_models import freeze, table_task
from models import random_model, tiny_architecture

NUMBERS = EnclosedNumbers(64)
PROMPTS = ((1, 2), (3,), (4, 0, 3))


def claim_of(epsilon: Fraction, **sizes) -> Claim:
    """Return robustness of the whole of a random model with a final norm, whose decisions are the answers."""
    size = tiny_architecture(norm=LayerNorm(Fraction(1, 1000)), attention=Attention.SOFTMAX)
    frozen = freeze(random_model(replace(size, **sizes)))
    circuit = whole(frozen.graph)
    found = fold(frozen, (0, 1, 2), [circuit], PROMPTS, arithmetic=NUMBERS).of(circuit)
    task = table_task({x: one.leader for x, one in zip(PROMPTS, found, strict=True)}, candidates=(0, 1, 2))
    return Claim(frozen, circuit, task, (Robustness(epsilon),), NUMBERS)


def decisions_of(claim: Claim) -> list[NormedDecision]:
    """Return what the prover knows of each prompt."""
    norm = final_norm(claim.frozen, claim.task.candidates)
    found = fold(claim.frozen, (0, 1, 2), [claim.circuit], PROMPTS, arithmetic=NUMBERS).of(claim.circuit)
    pairs = zip(found, final_residuals(claim, NUMBERS), strict=True)
    return [NormedDecision(norm, NUMBERS, *pair) for pair in pairs]


@pytest.mark.parametrize("sizes", [{}, {"tied": True}, {"logit_bias": False}, {"mask": Mask.NONE}], ids=str)
def test_prover_and_checker_bound_leads_by_the_same_numbers(sizes):
    """Residuals and what is left of each lead, exactly: two readings of one page."""
    epsilon = Fraction(1, 300)
    claim = claim_of(epsilon, **sizes)
    files = bundle_files(prove(claim))
    work.allow(10**12)
    domain = files["domain.json"]
    read = read_claim(json.loads(files["claim.json"]), json.loads(domain), domain)
    weights = Weights(read.slices, read_safetensors(files["weights.safetensors"], "weights"))
    case = Case(read, Forward(read, weights), (), Enclosures(Forward(read, weights), 64))
    leads = NormedLeads(case, 64)
    for prompt, found in zip(PROMPTS, decisions_of(claim), strict=True):
        residual = case.enclosures.residual(prompt)
        assert (residual.midpoints, residual.radius) == (found.residual.numbers, found.residual.reach)
        own = [found.left(one, epsilon) for one in found.norm.slopes(found.winner)]
        assert leads.left(residual, found.winner, epsilon) == own


def test_each_verdict_is_that_of_the_checker(tmp_path):
    """Proved up to the bound, refuted where a perturbation is found, and open between them at once."""
    decisions = decisions_of(claim_of(Fraction(1)))
    low = min(one.kept_below() for one in decisions)
    high = min(found[0] for one in decisions if (found := one.broken_at()) is not None)
    assert 0 < low < high
    outcomes = {Verdict.PROVED: Outcome.VALID, Verdict.REFUTED: Outcome.REFUTED}
    for epsilon, verdict in ((low, Verdict.PROVED), (high, Verdict.REFUTED)):
        battery = prove(claim_of(epsilon))
        assert battery.verdict is verdict
        write_bundle(tmp_path / verdict, battery)
        assert inspect(tmp_path / verdict, Beside(operations=10**10)).outcome is outcomes[verdict]
    (answer,) = (battery := prove(claim_of((low + high) / 2))).answers
    assert (battery.verdict, battery.claim.arithmetic.precision) == (Verdict.UNDECIDED, 64)
    assert answer.outcome.is_final
    words = answer.evidence.reason.split()
    said = [Fraction(word.rstrip(",;")) for word in words if word[0].isdigit() and "." in word]
    assert low * Fraction(99, 100) < said[0] <= low < high <= said[1] < high * Fraction(101, 100)
