"""A claim as large as those about GPT-2-small: hundreds of edges, more than a thousand prompts, by a seed."""

from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from random import Random

import torch

from circuitproof.bundle.files import write_bundle
from circuitproof.circuits.circuit import Circuit, circuit_of
from circuitproof.circuits.graph import Edge, Graph, Head, Node
from circuitproof.forward.frozen import Frozen
from circuitproof.models.architecture import Architecture, inverse_root
from circuitproof.models.operators import Attention, NoNorm, Relu
from circuitproof.nn.transformer import Transformer
from circuitproof.programs.text import parse
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.fold import fold
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.tasks.alphabet import Alphabet
from circuitproof.tasks.domain import Domain
from circuitproof.tasks.rules import AnswerTable, ClassTable
from circuitproof.tasks.task import Task
from hand_models import freeze

NAMES = ("<BOS>", *"abcde", "(", "[", "{", ")", "]", "}")
CANDIDATES = tuple(NAMES.index(name) for name in ")]}")
SIZES = Architecture(
    vocabulary=len(NAMES),
    context=6,
    layers=12,
    heads=12,
    width=6,
    head_width=3,
    mlp_width=6,
    norm=NoNorm(),
    attention=Attention.SPARSEMAX,
    attention_scale=inverse_root(3),
    activation=Relu(),
    tied=False,
    biases=True,
    logit_bias=False,
)
PROGRAMS = (
    "default 0\nadd 1 when key_token in {6, 7, 8}\notherwise self",
    "default 0\nadd 3 when key_token in {6, 7, 8}\nadd 1 when key_position == 0\notherwise self",
    "default 0\nadd 1 when key_position == 0\notherwise nowhere",
)
"""Heads look at the opener, at it and the start, or at the start: few cells, as in an artifact."""


def large_bundle(folder: Path, *, edges: int = 340, prompts: int = 1280, seed: int = 0) -> Path:
    """Write a bundle of so many edges and prompts: what the circuit decides is the right answer."""
    draw = Random(seed)  # noqa: S311  # claims, not secrets
    frozen, circuit = freeze(_model(draw)), large_circuit(draw, edges)
    domain = Domain(tuple(_prompts()[:prompts]), ("all",) * prompts)
    properties = (Equivalence(), Invariance(), Robustness(Fraction(1, 10**6)))
    write_bundle(folder, prove(Claim(frozen, circuit, _task(frozen, circuit, domain), properties)))
    return folder


def large_circuit(draw: Random, edges: int) -> Circuit:
    """Return a circuit of so many edges, all of them on a path from `embed` to `logits`."""
    graph, kept = Graph(SIZES.layers, SIZES.heads), set[Edge]()
    first, *inner, last = graph.nodes()
    some = draw.sample(inner, 80)
    while len(kept) < edges:
        middle = sorted(draw.sample(some, draw.randint(1, 3)), key=lambda node: node.place)
        path = set(_path((first, *middle, last)))
        kept |= path if len(kept | path) <= edges else set()
    return circuit_of(graph, kept)


def _path(nodes: tuple[Node, ...]) -> list[Edge]:
    """Return the edges of a path; heads of one layer do not read each other, so of those the first stays."""
    kept = [nodes[0]]
    for node in nodes[1:]:
        if node.place[:2] != kept[-1].place[:2]:
            kept.append(node)
    return [Edge(source, target) for source, target in pairwise(kept)]


def _model(draw: Random) -> Transformer:
    """Return a model of small weights with few digits, in which every head is a program."""
    heads = [Head(layer, index) for layer in range(SIZES.layers) for index in range(SIZES.heads)]
    model = Transformer(SIZES, {head: parse(draw.choice(PROGRAMS)) for head in heads})
    generator = torch.Generator().manual_seed(draw.getrandbits(32))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            size = 1.0 if "embed" in name or "logits" in name else 0.35
            drawn = torch.empty_like(parameter).normal_(0, size, generator=generator)
            parameter.copy_(torch.round(drawn * 64) / 64)
    return model


def _prompts() -> list[tuple[int, ...]]:
    """Return all prompts of a form: letters, and an opener after the first of them."""
    letters, openers = range(1, 6), range(6, 9)
    return [(0, *row) for row in product(letters, openers, letters, letters, letters)]


def _task(frozen: Frozen, circuit: Circuit, domain: Domain) -> Task:
    folds = fold(frozen, CANDIDATES, [circuit], domain.prompts).of(circuit)
    answers = tuple(CANDIDATES[one.winner] for one in folds)
    return Task("brackets", Alphabet(NAMES), CANDIDATES, domain, AnswerTable(answers), ClassTable(answers))
