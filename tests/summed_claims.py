"""Random claims about patterns of softmax circuits, small enough to look at every prompt."""

from dataclasses import replace
from functools import cache
from random import Random

from circuitproof.circuits.circuit import circuit_of
from circuitproof.circuits.graph import LOGITS, Head
from circuitproof.circuits.readers import reads_prompt
from circuitproof.models.operators import Attention, Gelu, GeluForm, Relu
from circuitproof.proof.arithmetic import EnclosedNumbers
from circuitproof.proof.claim import Claim
from circuitproof.proof.enclosed import NotKnown
from circuitproof.proof.fold import fold
from hand_models import freeze
from models import random_model
from pattern_claims import PATTERNS, SIZES, task_of
from pattern_strategies import all_prompts

SOFT = replace(SIZES, attention=Attention.SOFTMAX)


def kinds(draw):
    """Return an architecture: with either activation, biases or none, rotary positions or learned ones."""
    return replace(
        SOFT,
        activation=draw.choice((Relu(), Gelu(GeluForm.TANH))),
        biases=draw.choice((True, False)),
        logit_bias=draw.choice((True, False)),
        rotary=draw.choice((None, 2)),
        attention_scale=SOFT.attention_scale * draw.choice((1, 4)),
    )


@cache
def drawn(seed, most_heads=1):
    """Return the model, the circuit and the task of a random claim whose logits are sums over positions."""
    draw = Random(seed)  # noqa: S311  # circuits, not secrets
    sizes = kinds(draw)
    graph = sizes.graph
    frozen = freeze(random_model(sizes, seed, {}))
    edges = [e for e in graph.edges() if e.target == LOGITS or not isinstance(e.source, Head)]
    circuits = (circuit_of(graph, draw.sample(edges, draw.randint(2, 6))).live() for _ in range(1000))
    circuit = next(one for one in circuits if reads_prompt(one, {}) and 1 <= len(one.heads()) <= most_heads)
    text, candidates = draw.choice(PATTERNS), (0, 1, 2)[: draw.choice((2, 3))]
    task = task_of(text, candidates)
    first = {}
    for prompt in all_prompts(task.labelled.machine):
        first.setdefault(next(token for token in prompt if token in (0, 1)), prompt)
    known = EnclosedNumbers(128)
    found = fold(frozen, candidates, [circuit], list(first.values()), arithmetic=known).of(circuit)
    answers = {opener: candidates[one.leader] for opener, one in zip(first, found, strict=True)}
    return (
        frozen,
        circuit,
        task_of(text, candidates, tuple((opener, answers.get(opener, 0)) for opener in (0, 1))),
    )


def claim_of(seed, properties, most_heads=1):
    """Return a random claim whose right answers are what the circuit decides on some prompts."""
    return Claim(*drawn(seed, most_heads), properties, EnclosedNumbers())


@cache
def listed(seed, most_heads=1):
    """Return every prompt of a claim's pattern, whether it is right, and what is decided: the slow twin.

    What is not known at 128 bits is a tie, as where an edge is dead; it is nothing.
    """
    frozen, circuit, task = drawn(seed, most_heads)
    prompts = all_prompts(task.labelled.machine)
    found = fold(frozen, task.candidates, [circuit], prompts, arithmetic=EnclosedNumbers(128)).of(circuit)
    decided = [None if isinstance(one.decision, NotKnown) else min(one.decision) for one in found]
    right = [
        None if place is None else task.candidates[place] == task.labelled.label_of(prompt).answer
        for prompt, place in zip(prompts, decided, strict=True)
    ]
    return dict(zip(prompts, zip(right, decided, strict=True), strict=True))
