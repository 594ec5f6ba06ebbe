"""Engine and checker, which share no code, on random models: each answer of one is confirmed by the other."""

from fractions import Fraction
from random import Random

import pytest

from circuitproof.bundle.files import write_bundle
from circuitproof.circuits.circuit import circuit_of
from circuitproof.circuits.readers import reads_prompt
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.fold import fold
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.faithfulness import Faithfulness
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.properties.subset_minimality import SubsetMinimality
from circuitproof.proof.verdict import Verdict, settle
from circuitproof_check.main import Outcome, check
from hand_models import freeze, table_task
from models import NORMS, PROGRAMS, SCANS, random_model, tiny_architecture

EXACT = (NORMS[0], *NORMS[2:])
OUTCOMES = {
    Verdict.PROVED: Outcome.VALID,
    Verdict.REFUTED: Outcome.REFUTED,
    Verdict.UNDECIDED: Outcome.INCOMPLETE,
}
PROMPTS = [(a, b, c) for a in (0, 4) for b in (1, 2) for c in (0, 3)]


def random_claim(seed, prop):
    """Return a claim about a random circuit, whose right answers are mostly what it decides."""
    draw = Random(seed)  # noqa: S311  # circuits, not secrets
    sizes = tiny_architecture(norm=EXACT[seed % 3], tied=draw.random() < 0.5, biases=draw.random() < 0.7)
    programs = (PROGRAMS, SCANS)[seed % 2] if draw.random() < 0.5 else {}
    frozen = freeze(random_model(sizes, seed, programs))
    edges = frozen.graph.edges()
    circuits = (circuit_of(frozen.graph, draw.sample(edges, draw.randint(2, 7))) for _ in range(1000))
    circuit = next(one.live() for one in circuits if reads_prompt(one, frozen.programs))
    decided = fold(frozen, (0, 1, 2), [circuit], PROMPTS).of(circuit)
    answers = {p: min(one.decision) for p, one in zip(PROMPTS, decided, strict=True)}
    if draw.random() < 0.3:
        answers[PROMPTS[0]] = (answers[PROMPTS[0]] + 1) % 3
    task = table_task(answers, classes=list(answers.values()), candidates=(0, 1, 2))
    return Claim(frozen, circuit, task, (prop,))


@pytest.mark.parametrize(
    "prop",
    [
        Equivalence(),
        Invariance(),
        Necessity(),
        Robustness(Fraction(1, 20)),
        Faithfulness(),
        SubsetMinimality(),
    ],
)
def test_the_checker_confirms_what_the_engine_answers(prop, tmp_path):
    """Proved is valid, refuted is a refutation that holds, undecided is incomplete; both first two occur."""
    verdicts = set()
    for seed in range(12):
        battery = prove(random_claim(seed, prop))
        verdict = settle(battery.claim.properties, battery.answers)
        write_bundle(tmp_path / str(seed), battery)
        outcome, sentence = check(tmp_path / str(seed))
        assert outcome is OUTCOMES[verdict], sentence
        assert verdict is not Verdict.REFUTED or " refuted (" in sentence
        verdicts.add(verdict)
    assert {Verdict.PROVED, Verdict.REFUTED} <= verdicts
