"""Models so small that every logit can be worked out by hand, and claims about them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Head
from circuitproof.circuits.spelling import parse_circuit
from circuitproof.forward.frozen import Frozen, open_model
from circuitproof.models.architecture import Architecture
from circuitproof.models.declaration import NO_PROGRAMS, ProgramHeads
from circuitproof.models.operators import Attention, NoNorm, Relu
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.nn.transformer import Transformer
from circuitproof.programs.text import parse
from circuitproof.proof.claim import Claim
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.property import Property
from circuitproof.tasks.alphabet import Alphabet
from circuitproof.tasks.domain import Domain
from circuitproof.tasks.rules import AnswerTable, ClassTable
from circuitproof.tasks.task import Task

Weights = Mapping[str, Sequence[object]]

PLAIN = Architecture(
    vocabulary=5,
    context=3,
    layers=1,
    heads=1,
    width=2,
    head_width=2,
    mlp_width=2,
    norm=NoNorm(),
    attention=Attention.SPARSEMAX,
    attention_scale=Fraction(1),
    activation=Relu(),
    tied=False,
    biases=False,
    logit_bias=False,
)
"""One layer of one head and width two, without norms and biases."""

IDENTITY = [[1, 0], [0, 1]]
READ_OFF = [*IDENTITY, [0, 0], [0, 0], [0, 0]]
"""An output embedding that reads the logits of tokens 0 and 1 off the residual."""

ADDER: Weights = {
    "embed.token": [[2, 1], [1, 0], [1, 1], [4, 1], [3, 1]],
    "mlp.0.up.weight": IDENTITY,
    "mlp.0.down.weight": [[0, 0], [0, 2]],
    "logits.weight": READ_OFF,
}
"""The MLP adds twice the second number to it. Candidate logits of each token, by what is kept:

| token | both   | without MLP | without embed -> logits |
|-------|--------|-------------|-------------------------|
| 0     | (2, 3) | (2, 1) flip | (0, 2)                  |
| 1     | (1, 0) | (1, 0)      | (0, 0) tie              |
| 2     | (1, 3) | (1, 1) tie  | (0, 2)                  |
| 3     | (4, 3) | (4, 1)      | (0, 2) flip             |
| 4     | (3, 3) | (3, 1)      | (0, 2)                  |

Token 4 ties, so it witnesses nothing.
"""
ADDED = ("embed -> mlp 0", "embed -> logits", "mlp 0 -> logits")
DIRECT = ("embed -> logits",)


def build(weights: Weights, sizes: Architecture = PLAIN, programs: ProgramHeads = NO_PROGRAMS) -> Transformer:
    """Return a model whose tensors are zero but for `weights`."""
    model = Transformer(sizes, programs)
    slices = model.named_slices()
    with torch.no_grad():
        for name, values in weights.items():
            slices[name].copy_(torch.tensor(values, dtype=torch.float32))
    return model


def freeze(model: Transformer, alphabet: Alphabet | None = None) -> Frozen:
    """Return a model as proofs see it, by way of its files."""
    with TemporaryDirectory() as folder:
        save_model(Path(folder) / "model", StoredModel(model, alphabet))
        return open_model(Path(folder) / "model")


def circuit_of(edges: Sequence[str], *, layers: int = 1, heads: int = 1) -> Circuit:
    """Return the circuit that keeps these edges."""
    content = {"layers": layers, "heads": heads, "ablation": "zero", "edges": list(edges)}
    return parse_circuit(content, "test")


def table_task(
    answers: Mapping[tuple[int, ...], int],
    classes: Sequence[int] | None = None,
    candidates: tuple[int, ...] = (0, 1),
) -> Task:
    """Return a task by its table of prompts and answers; every prompt is its own class unless told."""
    return Task(
        name="table",
        alphabet=Alphabet(tuple("abcde")),
        candidates=candidates,
        domain=Domain(tuple(answers), ("all",) * len(answers)),
        answer=AnswerTable(tuple(answers.values())),
        relation=ClassTable(tuple(classes or range(len(answers)))),
    )


ADDER_TASK = table_task({(0,): 1, (1,): 0, (2,): 1, (3,): 0})
"""What the adder decides, where it does not tie."""


def adder_claim(
    *properties: Property,
    weights: Weights = ADDER,
    edges: Sequence[str] = ADDED,
    task: Task = ADDER_TASK,
    sizes: Architecture = PLAIN,
) -> Claim:
    """Return a claim about the adder, or about a model that differs from it in some weights."""
    wanted = properties or (Equivalence(), Necessity())
    return Claim(freeze(build({**ADDER, **weights}, sizes)), circuit_of(edges), task, wanted)


SELECT = parse("default 0\nadd 1 when key_token in {9, 10}\notherwise self")
QUOTE_SIZES = replace(PLAIN, vocabulary=32, context=6)
QUOTE_EDGES = ("embed -> head 0.0", "head 0.0 -> logits")
SINGLE, DOUBLE, LAST_FILLER = 9, 10, 8
"""The two quotation marks, and D, the last of the fillers."""


def rows(count: int, chosen: Mapping[int, Sequence[float]]) -> list[Sequence[float]]:
    """Return `count` rows of width two, zero but for the chosen ones."""
    return [chosen.get(row, (0, 0)) for row in range(count)]


def quote_model(
    changes: Weights | None = None,
    sizes: Architecture = QUOTE_SIZES,
    programs: ProgramHeads | None = None,
) -> Transformer:
    """Return a model that closes quotes: its head looks at the only quotation mark and copies it."""
    copied = {SINGLE: (1, 0), DOUBLE: (0, 1)}
    weights: Weights = {
        "embed.token": rows(32, copied),
        "head.0.0.value.weight": IDENTITY,
        "head.0.0.output.weight": IDENTITY,
        "logits.weight": rows(32, copied),
    }
    select = {Head(0, 0): SELECT} if programs is None else programs
    return build({**weights, **(changes or {})}, sizes, select)


def torch_decision(
    model: Transformer, prompt: tuple[int, ...], candidates: tuple[int, ...], circuit: Circuit
) -> set[int]:
    """Return the places of the candidates with the largest logit, by torch."""
    with torch.no_grad():
        found = model.candidate_logits(torch.tensor([prompt]), candidates, [circuit])[0, 0]
    return set(torch.nonzero(found == found.max()).flatten().tolist())
