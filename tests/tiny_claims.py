"""Random claims about circuits so small, with weights so coarse, that ties and boundaries occur often."""

from dataclasses import replace
from fractions import Fraction
from random import Random

import torch

from circuitproof.circuits.circuit import Circuit, circuit_of, whole
from circuitproof.circuits.graph import Head
from circuitproof.circuits.readers import reads_prompt
from circuitproof.models.operators import BandNorm, LeakyRelu, Lift, NoNorm, Relu
from circuitproof.nn.transformer import Transformer
from circuitproof.programs.text import parse
from circuitproof.proof.claim import Claim
from circuitproof.proof.fold import fold
from circuitproof.proof.properties.agreement import Agreement
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.faithfulness import Faithfulness
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.property import Property
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.regions.robustness import Directions, radii
from hand_models import PLAIN, freeze, table_task

NORMS = (
    NoNorm(),
    BandNorm(Fraction(1), Fraction(2), Lift.REFERENCE),
    BandNorm(Fraction(1), Fraction(2), Lift.CONTINUOUS),
)
PROGRAM = parse("default 1\nadd 1/2 when key_token in {1, 3}\notherwise self")
PROMPTS = ((0,), (1, 2), (2, 1), (3, 3), (0, 2), (4, 1))


def tiny_claim(seed: int, *properties: Property) -> Claim:
    """Return a claim about a random circuit; its right answers are mostly what it decides.

    Without properties it claims all that solvers are asked, robustness often at just the exact radius.
    """
    draw = Random(seed)  # noqa: S311  # circuits, not secrets
    sizes = replace(
        PLAIN,
        layers=draw.choice((1, 1, 2)),
        width=draw.choice((2, 3)),
        norm=NORMS[seed % 3],
        activation=draw.choice((Relu(), LeakyRelu(Fraction(1, 4)))),
        tied=draw.random() < 0.3,
        biases=draw.random() < 0.5,
    )
    programs = {Head(0, 0): PROGRAM} if draw.random() < 0.5 else {}
    model = Transformer(sizes, programs)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            coarse = torch.randint(-3, 4, parameter.shape, generator=generator) / 2
            parameter.copy_(coarse)
    frozen = freeze(model)
    edges = frozen.graph.edges()
    circuits = (circuit_of(frozen.graph, draw.sample(edges, draw.randint(1, 4))) for _ in range(10_000))
    circuit = next(one.live() for one in circuits if reads_prompt(one, frozen.programs))
    prompts = draw.sample(PROMPTS, draw.randint(2, 4))
    decided = fold(frozen, (0, 1), [circuit], prompts).of(circuit)
    answers = {p: min(one.decision) for p, one in zip(prompts, decided, strict=True)}
    if draw.random() < 0.2:
        answers[prompts[0]] = 1 - answers[prompts[0]]
    task = table_task(answers, classes=[draw.randint(0, 1) for _ in prompts])
    asked = properties or (
        Equivalence(),
        Invariance(),
        Necessity(),
        Robustness(_epsilon(draw, frozen.unembedding((0, 1)), decided)),
        Faithfulness(),
        *_agreements(circuit),
    )
    return Claim(frozen, circuit, task, asked)


def _agreements(circuit: Circuit) -> list[Agreement]:
    """Return the claim that a circuit decides as all edges do, unless these are its own."""
    every = whole(circuit.graph)
    return [] if circuit.live() == every.live() else [Agreement(every)]


def _epsilon(draw, unembedding, decided):
    clear = [one for one in decided if one.is_clear]
    finite = [r.value for r in radii(clear, Directions(unembedding.fractions())) if r.value]
    return min(finite) if finite and draw.random() < 0.6 else draw.choice((Fraction(1, 8), Fraction(1, 2)))
