"""Random circuits with ports and every ablation, so small and coarse that ties are common."""

from dataclasses import replace
from fractions import Fraction
from random import Random

import torch

from circuitproof.circuits.ablation import ZERO, Ablation, Counterfactual, Mean, Pooling
from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Edge, Granularity, Head, Port, Use
from circuitproof.models.operators import LeakyRelu, Relu
from circuitproof.nn.transformer import Transformer
from hand_models import PLAIN
from tiny_claims import NORMS, PROGRAM

LENGTHS = (1, 2, 3)
CANDIDATES = (0, 1, 3)


def model_of(draw: Random, seed: int, **kind: object) -> Transformer:
    """Return a tiny model with coarse weights of any exact kind, or of one with these fields."""
    sizes = replace(
        PLAIN,
        layers=draw.choice((1, 2)),
        heads=draw.choice((1, 2)),
        width=draw.choice((2, 3)),
        mlp_width=draw.choice((0, 2)),
        norm=draw.choice(NORMS),
        activation=draw.choice((Relu(), LeakyRelu(Fraction(1, 4)))),
        biases=draw.random() < 0.5,
        **kind,
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
