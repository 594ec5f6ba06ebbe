"""Engine and checker on random models perturbed anywhere: trees of regions and replays are both confirmed."""

from fractions import Fraction
from random import Random

import pytest

from circuitproof.bundle.files import write_bundle
from circuitproof.circuits.circuit import circuit_of
from circuitproof.circuits.graph import EMBED, LOGITS
from circuitproof.circuits.readers import reads_prompt
from circuitproof.forward.forward import Side
from circuitproof.forward.interface import Interface, Span
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.fold import fold
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.regions.disturbed import disturbed_prompts
from circuitproof.proof.regions.search import Effort
from circuitproof.proof.verdict import Verdict
from circuitproof_check.main import Outcome, check
from hand_models import freeze, table_task
from models import NORMS, PROGRAMS, random_model, tiny_architecture

EXACT = (NORMS[0], *NORMS[2:])
PROMPTS = [(0, 1, 0), (4, 2, 3)]
OUTCOMES = {
    Verdict.PROVED: Outcome.VALID,
    Verdict.REFUTED: Outcome.REFUTED,
    Verdict.UNDECIDED: Outcome.INCOMPLETE,
}
SIDES = {EMBED: (Side.OUTPUT,), LOGITS: (Side.INPUT,)}


def random_claim(draw: Random, seed: int) -> Claim:
    """Return a claim about a random circuit at a random place of it."""
    sizes = tiny_architecture(norm=EXACT[seed % 3], tied=draw.random() < 0.5, biases=draw.random() < 0.7)
    frozen = freeze(random_model(sizes, seed, PROGRAMS if draw.random() < 0.8 else {}))
    edges = frozen.graph.edges()
    circuits = (circuit_of(frozen.graph, draw.sample(edges, draw.randint(2, 7))) for _ in range(1000))
    circuit = next(one.live() for one in circuits if reads_prompt(one, frozen.programs))
    node = draw.choice(circuit.nodes())
    side = draw.choice(SIDES.get(node, (Side.INPUT, Side.OUTPUT)))
    place = Interface(node, side, draw.choice([Span.LAST, Span.ALL, (0, 2)]))
    decided = fold(frozen, (0, 1, 2), [circuit], PROMPTS).of(circuit)
    answers = {p: min(one.decision) for p, one in zip(PROMPTS, decided, strict=True)}
    epsilon = Fraction(draw.choice([1, 3, 10, 30]), 200)
    task = table_task(answers, candidates=(0, 1, 2))
    return Claim(frozen, circuit, task, (Robustness(epsilon, place),))


@pytest.mark.parametrize("portion", range(3))
def test_the_checker_confirms_what_the_engine_answers_about_any_place(portion, tmp_path):
    """And no random perturbation of the ball contradicts a proof."""
    verdicts: set[Verdict] = set()
    for seed in range(portion * 8, portion * 8 + 8):
        draw = Random(seed)  # noqa: S311  # circuits, not secrets
        claim = random_claim(draw, seed)
        battery = prove(claim, Effort(budget=100))
        (answer,) = battery.answers
        write_bundle(tmp_path / str(seed), battery)
        outcome, sentence = check(tmp_path / str(seed))
        assert outcome is OUTCOMES[answer.verdict], (seed, sentence)
        assert answer.verdict is not Verdict.REFUTED or " refuted (" in sentence
        verdicts.add(answer.verdict)
        if answer.verdict is Verdict.PROVED:
            (prop,) = claim.properties
            for function, found in zip(
                disturbed_prompts(
                    claim.frozen, claim.task.candidates, claim.circuit, claim.task.prompts, prop.at
                ),
                battery.folded.of(claim.circuit),
                strict=True,
            ):
                parts = [draw.choice((-1, 0, 1, Fraction(1, 3))) for _ in range(function.variables)]
                assert function.fold([prop.epsilon * part for part in parts]).decision == found.decision
    assert Verdict.PROVED in verdicts
