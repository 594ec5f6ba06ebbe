"""Ordinary models in enclosed numbers: logits and verdicts against real numbers of many digits."""

import os
from fractions import Fraction
from random import Random

import mpmath
import pytest
import torch

from ablated_circuits import CANDIDATES, ablation_of, circuit_of, prompts_of
from circuitproof.arithmetic import balls, limb_functions, limbs, transcendental
from circuitproof.circuits.ablation import ZERO
from circuitproof.circuits.circuit import whole
from circuitproof.circuits.readers import reads_prompt
from circuitproof.errors import DeclarationError, NumericError
from circuitproof.proof.arithmetic import EnclosedNumbers
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.enclosed import NotKnown
from circuitproof.proof.fold import fold
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.faithfulness import Faithfulness
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.verdict import Verdict
from floats import within
from hand_models import freeze, table_task
from real_twin import RealTwin, ordinary_model
from twin import exact_tensors

SEEDS = int(os.environ.get("CIRCUITPROOF_CASES", "90"))
"""About a hundred, and ten thousand nightly."""


def drawn(seed):
    """Return a random ordinary model, its twin, prompts, and a circuit with any ports and ablation."""
    draw = Random(seed)  # noqa: S311  # circuits, not secrets
    model = ordinary_model(draw, seed)
    prompts = prompts_of(draw, draw.randint(1, 4))
    circuit = circuit_of(draw, model, ablation_of(draw, prompts))
    twin = RealTwin(model.architecture, model.programs, exact_tensors(model.named_slices()))
    return draw, model, twin, prompts, circuit


@pytest.mark.parametrize("seed", range(SEEDS))
def test_logits_are_within_their_radius_at_every_precision(seed):
    """Of random circuits of ordinary models; and floats are as near as they can be."""
    draw, model, twin, prompts, circuit = drawn(seed)
    frozen, bits = freeze(model.float()), draw.choice((32, 64, 200))
    with mpmath.workprec(400):
        found = fold(frozen, CANDIDATES, [circuit], prompts, arithmetic=EnclosedNumbers(bits)).of(circuit)
        for prompt, one in zip(prompts, found, strict=True):
            real = twin.logits(circuit, prompt, CANDIDATES)
            gaps = [abs(mpmath.mpmathify(a) - b) for a, b in zip(one.midpoints, real, strict=True)]
            assert max(gaps) <= mpmath.mpmathify(one.radius)
            floats = model.double().candidate_logits(torch.tensor([prompt]), CANDIDATES, [circuit])[0, 0]
            exact = [float(number) for number in real]
            assert within(floats, exact, roundings=10**5, size=max(1, *map(abs, exact)))


PLANTED = {
    "a wrong constant in exp": (transcendental, "log_two", lambda right: lambda bits: right(bits + 1)),
    "a wrong constant in GELU": (transcendental, "TANH_FACTOR", lambda right: right * Fraction(1001, 1000)),
    "a product shifted too far": (
        limbs,
        "shift",
        lambda right: lambda numbers, bits: right(numbers, bits - (bits < -BITS_OF_A_WEIGHT)),
    ),
    "roots that are left out": (balls, "root_above", lambda _: lambda _: 0),
}
BITS_OF_A_WEIGHT = 24


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_caught(fault, monkeypatch):
    """A wrong constant, shift or direction of rounding takes some real logit out of its enclosure.

    A direction that is wrong by one unit is caught operator by operator, in `tests/arithmetic/test_balls.py`.
    """
    module, name, wrong = PLANTED[fault]
    monkeypatch.setattr(module, name, wrong(getattr(module, name)))
    limb_functions._gelu_constants.cache_clear()
    try:
        assert any(is_caught(seed) for seed in range(60))
    finally:
        limb_functions._gelu_constants.cache_clear()


def is_caught(seed):
    """Say whether a random model tells that the arithmetic is wrong."""
    try:
        test_logits_are_within_their_radius_at_every_precision(seed)
    except (AssertionError, NumericError, OverflowError, ZeroDivisionError):
        return True
    return False


@pytest.mark.parametrize("seed", range(0, SEEDS, 3))
def test_what_is_proved_is_so(seed):
    """Decisions of real numbers, compared one by one, give the verdicts that are counted."""
    _, model, twin, prompts, circuit = drawn(seed)
    frozen, every = freeze(model.float()), whole(model.graph)
    if not circuit.edges or (circuit.ablation == ZERO and not reads_prompt(circuit, frozen.programs)):
        return
    with mpmath.workprec(400):
        own, models = ([best(twin.logits(one, x, CANDIDATES)) for x in prompts] for one in (circuit, every))
        answers = {x: CANDIDATES[models[k]] for k, x in enumerate(prompts)}
        task = table_task(answers, candidates=CANDIDATES)
        claim = Claim(frozen, circuit, task, (Equivalence(), Faithfulness(), Necessity()), EnclosedNumbers())
        equivalent, faithful, needed = prove(claim).answers
        alike = [a == b for a, b in zip(own, models, strict=True)]
        changed = [
            any(best(twin.logits(lesion, x, CANDIDATES)) != own[k] for k, x in enumerate(prompts))
            for lesion in circuit.lesions()
        ]
    for answer in (equivalent, faithful):
        assert answer.verdict in (Verdict.PROVED if all(alike) else Verdict.REFUTED, Verdict.UNDECIDED)
        assert answer.verdict is Verdict.UNDECIDED or answer.met == sum(alike)
    assert needed.verdict in (Verdict.PROVED if all(changed) else Verdict.REFUTED, Verdict.UNDECIDED)


def best(logits):
    """Return the place of the largest."""
    return max(range(len(logits)), key=lambda place: logits[place])


def twins(factor):
    """Return a claim about a model whose two candidates differ by a factor in one weight of the readout."""
    model = next(
        one
        for _, one, _, _, _ in map(drawn, range(50))
        if one.unembed is not None and one.unembed_bias is None
    )
    with torch.no_grad():
        model.unembed[1] = model.unembed[0]
        model.unembed[1, 0] *= factor
    frozen, task = freeze(model.float()), table_task({(1, 2): 0})
    return Claim(frozen, whole(frozen.graph), task, (Equivalence(),), EnclosedNumbers(16, most=128))


def test_precision_doubles_until_all_is_known():
    """Candidates that differ in the last bits of a weight need more than the first precision."""
    claim = twins(1 + 2**-22)
    left = fold(claim.frozen, (0, 1), [claim.circuit], [(1, 2)], arithmetic=claim.arithmetic).folds
    assert isinstance(left[0].decision, NotKnown)
    battery = prove(claim)
    assert battery.verdict is not Verdict.UNDECIDED
    assert battery.claim.arithmetic.precision > 16


def test_a_tie_ends_at_the_most_bits_and_is_open():
    """Equal logits are never told apart, so the work is bounded."""
    battery = prove(twins(1))
    assert battery.verdict is Verdict.UNDECIDED
    assert battery.claim.arithmetic.precision == 128
    assert "the smallest margin is 0 with a radius of" in battery.answers[0].evidence.reason


@pytest.mark.parametrize("bits", [15, 4097])
def test_a_precision_has_bounds(bits):
    """A certificate has none outside them."""
    with pytest.raises(DeclarationError, match=f"the precision is {bits} bits, want 16 to 4096"):
        EnclosedNumbers(most=bits)
