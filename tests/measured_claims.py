"""Claims of counts and measures about random circuits of ordinary models."""

from fractions import Fraction
from random import Random

from ablated_circuits import CANDIDATES, ablation_of, circuit_of, prompts_of
from circuitproof.circuits.ablation import ZERO
from circuitproof.circuits.circuit import whole
from circuitproof.circuits.readers import reads_prompt
from circuitproof.proof.arithmetic import EnclosedNumbers
from circuitproof.proof.brackets import ClaimedBracket
from circuitproof.proof.claim import Claim
from circuitproof.proof.fold import fold
from circuitproof.proof.properties.accuracy import Accuracy
from circuitproof.proof.properties.logit_difference import LogitDifferences
from circuitproof.proof.properties.loss import Loss
from circuitproof.proof.properties.property import Property
from circuitproof.proof.properties.recovered_difference import RecoveredDifference
from hand_models import freeze, table_task
from real_twin import ordinary_model

FOUND = (Accuracy(), Loss(), LogitDifferences(), RecoveredDifference())


def bracket_of(draw: Random) -> ClaimedBracket:
    """Return a bracket of any form."""
    low, high = sorted(Fraction(draw.randint(-12, 24), 4) for _ in range(2))
    return ClaimedBracket(*draw.choice(((low, None), (None, high), (low, high))))


def bounded(draw: Random, size: int) -> tuple[Property, ...]:
    """Return claims that may be true or not."""
    places = range(size)
    wrong = tuple(sorted(draw.sample(places, draw.randrange(size))))
    left = tuple(sorted(draw.sample(places, draw.randrange(size)))) if draw.random() < 0.5 else None
    three = [bracket_of(draw) if draw.random() < 0.7 else None for _ in range(3)]
    return (
        draw.choice((Accuracy(wrong=wrong), Accuracy(least=draw.randint(1, size)))),
        Loss(bracket_of(draw)),
        LogitDifferences(*three),
        RecoveredDifference(bracket_of(draw), left),
    )


def measured_claim(seed: int) -> Claim:
    """Return a claim whose properties are to be found, or bounded, with any ports and ablation."""
    draw = Random(seed)  # noqa: S311  # circuits, not secrets
    model = ordinary_model(draw, seed)
    prompts = prompts_of(draw, draw.randint(1, 4))
    circuit, frozen = circuit_of(draw, model, ablation_of(draw, prompts)), freeze(model.float())
    if draw.random() < 0.1:
        circuit = whole(frozen.graph)
    if circuit.ablation == ZERO and not reads_prompt(circuit, frozen.programs):
        return measured_claim(seed + 10**6)
    numbers = EnclosedNumbers(64, most=128)
    found = fold(frozen, CANDIDATES, [circuit], prompts, arithmetic=numbers).of(circuit)
    right = [one.leader if draw.random() < 0.7 else draw.randrange(3) for one in found]
    task = table_task(
        {x: CANDIDATES[place] for x, place in zip(prompts, right, strict=True)}, candidates=CANDIDATES
    )
    asked = FOUND if draw.random() < 0.5 else bounded(draw, len(prompts))
    return Claim(frozen, circuit, task, asked, numbers)
