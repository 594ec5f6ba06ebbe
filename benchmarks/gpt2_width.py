"""A circuit of GPT-2's width with seeded weights, and the 1,280 quote prompts it is verified on."""

import json
import random
from fractions import Fraction
from pathlib import Path

import torch

from circuitproof.circuits.circuit import Circuit, circuit_of
from circuitproof.circuits.graph import EMBED, LOGITS, Edge, Graph, Head, Mlp
from circuitproof.models.architecture import Architecture, inverse_root
from circuitproof.models.operators import Attention, LeakyRelu, NoNorm
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.nn.transformer import Transformer, initialise
from circuitproof.programs.text import parse
from circuitproof.tasks.alphabet import sparse_alphabet
from circuitproof.tasks.openers import listed_opener_task
from circuitproof.tasks.task import Task

REFERENCE = Path(__file__).parents[2] / "shared" / "reference" / "gpt2_domain" / "token_ids.json"
VOCABULARY = 50257
DOUBLE, SINGLE = 1, 6
OPENERS = {366: DOUBLE, 7203: DOUBLE, 705: SINGLE, 10786: SINGLE}
HEAD = Head(1, 11)
CIRCUIT: Circuit = circuit_of(Graph(2, 12), [Edge(EMBED, Mlp(0)), Edge(Mlp(0), HEAD), Edge(HEAD, LOGITS)])
PROGRAM = parse("default 0\nadd 1 when key_token in {366, 705, 7203, 10786}\notherwise self\n")

ARCHITECTURE = Architecture(
    vocabulary=VOCABULARY,
    context=1024,
    layers=2,
    heads=12,
    width=768,
    head_width=64,
    mlp_width=3072,
    norm=NoNorm(),
    attention=Attention.SPARSEMAX,
    attention_scale=inverse_root(64),
    activation=LeakyRelu(Fraction(1, 100)),
    tied=True,
    biases=True,
    logit_bias=True,
)


def quote_task() -> Task:
    """Return quote closing on the public prompts where they are, else on as many generated ones."""
    prompts = (
        json.loads(REFERENCE.read_text())["quote_close"] if REFERENCE.exists() else generated_prompts(1280)
    )
    alphabet = sparse_alphabet(VOCABULARY, {})
    return listed_opener_task("GPT-2 quotes", alphabet, [tuple(prompt) for prompt in prompts], OPENERS)


def generated_prompts(count: int) -> list[tuple[int, ...]]:
    """Return distinct prompts of 4 to 20 tokens with one opener at one of the positions 2 to 14."""
    draw = random.Random(0)  # noqa: S311  # prompts, not secrets
    prompts: dict[tuple[int, ...], None] = {}
    while len(prompts) < count:
        length = draw.randint(4, 20)
        prompt = [draw.randrange(20000, VOCABULARY) for _ in range(length)]
        prompt[draw.randint(2, min(length - 2, 14))] = draw.choice(list(OPENERS))
        prompts[tuple(prompt)] = None
    return list(prompts)


def write_model(path: Path, task: Task, architecture: Architecture = ARCHITECTURE) -> None:
    """Write a seeded model of two layers whose program head is fitted to decide the task."""
    model = Transformer(architecture, {HEAD: PROGRAM})
    initialise(model, seed=0, deviation=0.02)
    with torch.no_grad():
        _seed_biases(model)
        _fit_readout(model, task)
    save_model(path, StoredModel(model, None))


def _seed_biases(model: Transformer) -> None:
    generator = torch.Generator().manual_seed(1)
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            parameter.normal_(0, 0.01, generator=generator)


def _fit_readout(model: Transformer, task: Task) -> None:
    """Choose the head's output map so that it writes the right answer's direction for each opener."""
    pairs = sorted(
        {
            (token, place)
            for prompt in task.domain.prompts
            for place, token in enumerate(prompt)
            if token in OPENERS
        }
    )
    embedded = torch.stack([model.token[token] + model.position[place] for token, place in pairs])
    layer = model.attentions[HEAD.layer]
    features = (
        model.mlps[0](embedded[None, None, None])[0, 0, 0] @ layer.value[HEAD.index].T
        + layer.value_bias[HEAD.index]
    )
    signs = torch.tensor([1.0 if OPENERS[token] == DOUBLE else -1.0 for token, _ in pairs])
    weights = torch.linalg.lstsq(features.double(), signs.double()[:, None]).solution[:, 0].float()
    direction = model.token[DOUBLE] - model.token[SINGLE]
    layer.output[HEAD.index] = torch.outer(direction, weights)
