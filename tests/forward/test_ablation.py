"""Circuits with ports and with every ablation: engine, slow twin, torch and checker compute the same."""

import os
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
import torch

from circuitproof.bundle.files import write_bundle
from circuitproof.declare.circuits.ablation import ZERO, Ablation, Counterfactual, Mean, Pooling
from circuitproof.declare.circuits.circuit import Circuit
from circuitproof.declare.circuits.graph import Edge, Granularity, Head, Port, Use
from circuitproof.declare.circuits.readers import reads_prompt
from circuitproof.declare.operators import LeakyRelu, Relu
from circuitproof.lab.model.transformer import Transformer
from circuitproof.prove.anchors import unshared_logits
from circuitproof.prove.battery import prove
from circuitproof.prove.claim import Claim
from circuitproof.prove.fold import fold
from circuitproof.prove.properties.equivalence import Equivalence
from circuitproof.prove.properties.faithfulness import Faithfulness
from circuitproof.prove.properties.necessity import Necessity
from circuitproof_check.main import Outcome, check
from floats import within
from hand_models import PLAIN, freeze, table_task
from tiny_claims import NORMS, PROGRAM
from twin import Twin, exact_tensors

LENGTHS = (1, 2, 3)
CANDIDATES = (0, 1, 3)
SEEDS = 5 * int(os.environ.get("CIRCUITPROOF_EXAMPLES", "30"))
"""Hundreds, and nightly ten thousand."""


def model_of(draw: Random, seed: int) -> Transformer:
    """Return a tiny model with coarse weights, of any kind that has exact values."""
    sizes = replace(
        PLAIN,
        layers=draw.choice((1, 2)),
        heads=draw.choice((1, 2)),
        width=draw.choice((2, 3)),
        mlp_width=draw.choice((0, 2)),
        norm=draw.choice(NORMS),
        activation=draw.choice((Relu(), LeakyRelu(Fraction(1, 4)))),
        biases=draw.random() < 0.5,
    )
    model = Transformer(sizes, {Head(0, 0): PROGRAM} if draw.random() < 0.4 else {})
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randint(-3, 4, parameter.shape, generator=generator) / 2)
    return model.double()


def prompts_of(draw: Random, count: int) -> tuple[tuple[int, ...], ...]:
    """Return distinct prompts of several lengths."""
    drawn = {tuple(draw.randrange(5) for _ in range(draw.choice(LENGTHS))): None for _ in range(count)}
    return tuple(drawn)


def ablation_of(draw: Random, prompts: tuple[tuple[int, ...], ...]) -> Ablation:
    """Return one of the kinds, with whatever it needs for these prompts."""
    pairs = tuple((one, tuple(draw.randrange(5) for _ in one)) for one in prompts)
    others = tuple(dict.fromkeys((*prompts, *prompts_of(draw, 3))))
    every = (ZERO, Mean(others, Pooling.POSITION), Mean(others, Pooling.ALL), Counterfactual(pairs))
    return draw.choice(every)


def circuit_of(draw: Random, model: Transformer, ablation: Ablation) -> Circuit:
    """Return some edges, of heads as a whole or of their ports."""
    graph = replace(model.graph, granularity=draw.choice(list(Granularity)))
    edges = [edge for edge in graph.edges() if not is_read_by_program(model, edge)]
    return Circuit(graph, frozenset(draw.sample(edges, draw.randint(0, len(edges)))), ablation)


def is_read_by_program(model: Transformer, edge: Edge) -> bool:
    """Say whether an edge ends at a query or a key that a program head does not have."""
    port = edge.target
    return isinstance(port, Port) and port.head in model.programs and port.use is not Use.VALUE


@pytest.mark.parametrize("seed", range(SEEDS))
def test_engine_twin_torch_and_checker_agree(seed, tmp_path):
    """Exactly, and in floats within the rounding of programs' weights; a prompt alone and beside others."""
    draw = Random(seed)  # noqa: S311  # circuits, not secrets
    model = model_of(draw, seed)
    prompts = prompts_of(draw, draw.randint(1, 4))
    circuit = circuit_of(draw, model, ablation_of(draw, prompts))
    frozen = freeze(model.float())
    twin = Twin(model.architecture, model.programs, exact_tensors(model.named_slices()))
    found = fold(frozen, CANDIDATES, [circuit, *circuit.lesions()], prompts)
    for lesion in (circuit, *circuit.lesions()[:1]):
        for prompt, one in zip(prompts, found.of(lesion), strict=True):
            assert one.logits == twin.logits(lesion, prompt, CANDIDATES)
            assert unshared_logits(frozen, lesion, CANDIDATES, prompt)[0] == one.logits
            floats = model.double().candidate_logits(torch.tensor([prompt]), CANDIDATES, [lesion])[0, 0]
            exact = list(map(float, one.logits))
            assert within(floats, exact, roundings=1000, size=max(1, *map(abs, exact)))
    if circuit.ablation != ZERO or reads_prompt(circuit, frozen.programs):
        decided = zip(prompts, found.of(circuit), strict=True)
        answers = {prompt: CANDIDATES[min(one.decision)] for prompt, one in decided}
        task = table_task(answers, classes=list(answers.values()), candidates=CANDIDATES)
        properties = (Equivalence(), Faithfulness(), *([Necessity()] if circuit.edges else []))
        write_bundle(tmp_path / "bundle", prove(Claim(frozen, circuit, task, properties)))
        outcome, sentence = check(tmp_path / "bundle")
        assert outcome in (Outcome.VALID, Outcome.REFUTED), sentence
