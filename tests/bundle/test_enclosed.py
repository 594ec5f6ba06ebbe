"""Bundles of enclosed claims: prover and checker compute the same integers, and the checker agrees."""

import json
import os
from contextlib import suppress
from fractions import Fraction
from random import Random

import pytest

from ablated_circuits import CANDIDATES, ablation_of, circuit_of, prompts_of
from circuitproof.bundle.files import bundle_files, write_bundle
from circuitproof.circuits.ablation import ZERO
from circuitproof.circuits.readers import reads_prompt
from circuitproof.errors import InputError
from circuitproof.proof.arithmetic import EnclosedNumbers
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.fold import fold
from circuitproof.proof.properties.agreement import Agreement
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.faithfulness import Faithfulness
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.properties.subset_minimality import SubsetMinimality
from circuitproof.proof.verdict import Verdict
from circuitproof_check import work
from circuitproof_check.claim import read_claim
from circuitproof_check.enclosed.forward import Enclosures
from circuitproof_check.forward import Forward
from circuitproof_check.main import Beside, Outcome, inspect
from circuitproof_check.tensors import Weights, read_safetensors
from hand_models import freeze, table_task
from real_twin import ordinary_model

SEEDS = 2 * int(os.environ.get("CIRCUITPROOF_EXAMPLES", "30"))
"""Dozens, and nightly thousands."""
OUTCOMES = {
    Verdict.PROVED: Outcome.VALID,
    Verdict.REFUTED: Outcome.REFUTED,
    Verdict.UNDECIDED: Outcome.INCOMPLETE,
}


def claim_of(seed):
    """Return a claim about a random circuit of an ordinary model, with any ports and ablation."""
    draw = Random(seed)  # noqa: S311  # circuits, not secrets
    model = ordinary_model(draw, seed)
    prompts = prompts_of(draw, draw.randint(1, 4))
    circuit, frozen = circuit_of(draw, model, ablation_of(draw, prompts)), freeze(model.float())
    if not circuit.edges or (circuit.ablation == ZERO and not reads_prompt(circuit, frozen.programs)):
        return claim_of(seed + 10**6)
    numbers = EnclosedNumbers(draw.choice((64, 100)), most=128)
    found = fold(frozen, CANDIDATES, [circuit], prompts, arithmetic=numbers).of(circuit)
    answers = {x: CANDIDATES[one.leader] for x, one in zip(prompts, found, strict=True)}
    if draw.random() < 0.3:
        answers[prompts[-1]] = CANDIDATES[draw.randrange(3)]
    task = table_task(answers, classes=[draw.randint(0, 1) for _ in answers], candidates=CANDIDATES)
    size = Fraction(1, draw.choice((2, 64)))
    asked = (Equivalence(), Invariance(), Necessity(), Faithfulness(), Robustness(size))
    is_small = len(circuit) < 6 and circuit == circuit.live() and reads_prompt(circuit, frozen.programs)
    asked += (SubsetMinimality(),) if is_small else ()
    with suppress(InputError):  # an edge is dead, or nothing of the lesion reads a prompt
        return Claim(frozen, circuit, task, (*asked, Agreement(draw.choice(circuit.lesions()))), numbers)
    return Claim(frozen, circuit, task, asked, numbers)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_checker_agrees_with_every_answer(seed, tmp_path):
    """Proved, refuted and open, with all remarks, whatever is claimed."""
    battery = prove(claim_of(seed))
    write_bundle(tmp_path / "bundle", battery)
    report = inspect(tmp_path / "bundle", Beside(operations=10**10))
    assert report.outcome is OUTCOMES[battery.verdict], report.reason


@pytest.mark.parametrize("seed", range(SEEDS))
def test_prover_and_checker_compute_the_same_integers(seed):
    """Midpoints and radius of every logit, to the last bit: two readings of one page."""
    claim = claim_of(seed)
    frozen, numbers, prompts = claim.frozen, claim.arithmetic, claim.task.prompts
    found = fold(frozen, CANDIDATES, [claim.circuit], prompts, arithmetic=numbers).of(claim.circuit)
    files = bundle_files(prove(claim))
    domain = files["domain.json"]
    work.allow(10**12)
    read = read_claim(json.loads(files["claim.json"]), json.loads(domain), domain)
    weights = Weights(read.slices, read_safetensors(files["weights.safetensors"], "weights"))
    checked = Enclosures(Forward(read, weights), numbers.precision)
    for prompt, one in zip(prompts, found, strict=True):
        row = checked.logits(read.edges, prompt)
        assert (tuple(row.midpoints), row.radius) == (one.numbers, one.reach)


def test_every_verdict_and_remark_of_unknown_decisions_is_met():
    """Otherwise the agreement above would say less."""
    batteries = [prove(claim_of(seed)) for seed in range(40)]
    verdicts = {answer.verdict for battery in batteries for answer in battery.answers}
    remarks = {str(one) for battery in batteries for answer in battery.answers for one in answer.remarks}
    assert verdicts == set(Verdict)
    assert any(remark.startswith("perhaps ") for remark in remarks)
