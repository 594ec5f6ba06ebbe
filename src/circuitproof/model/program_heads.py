"""The heads of a model whose attention is a program: which they are, and where they attend."""

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

import torch
from jaxtyping import Float, Int
from torch import Tensor

from circuitproof.architecture import Architecture, Shapes, tensor_shapes
from circuitproof.circuits.graph import Graph, Head
from circuitproof.errors import DeclarationError, InputError
from circuitproof.programs.meaning import Row, row
from circuitproof.programs.syntax import Program
from circuitproof.reading import Fields

ProgramHeads: TypeAlias = Mapping[Head, Program]

NO_PROGRAMS: ProgramHeads = MappingProxyType({})

_KEY = re.compile(r"(N)\.(N)".replace("N", "0|[1-9][0-9]{0,8}"))


class Patterns:
    """Where programs attend in a batch of prompts; no program is worked out twice on one prompt."""

    def __init__(self, tokens: Int[Tensor, "prompt position"]) -> None:
        self._tokens = tokens
        self._known: dict[Program, Tensor] = {}

    def of(self, program: Program) -> Float[Tensor, "prompt query key"]:
        """Return the rows of a program, each weight rounded to FP32."""
        if program not in self._known:
            self._known[program] = _pattern(program, self._tokens)
        return self._known[program]


def refuse_unfit_programs(architecture: Architecture, programs: ProgramHeads) -> None:
    """Refuse a program for a head that is not there, or one that names a token that is not there."""
    graph = Graph(architecture.layers, architecture.heads)
    for head, program in programs.items():
        if head not in graph:
            raise DeclarationError(
                f"{head} cannot be a program: there are {graph.layers} layers of {graph.heads} heads"
            )
        if (largest := max(program.tokens(), default=0)) >= architecture.vocabulary:
            raise DeclarationError(
                f"the program of {head} names token {largest}, "
                f"the model's tokens are 0 to {architecture.vocabulary - 1}"
            )


def shapes_with_programs(architecture: Architecture, programs: ProgramHeads) -> Shapes:
    """Return every tensor of a model with these program heads, with its shape."""
    return tensor_shapes(architecture, frozenset((head.layer, head.index) for head in programs))


def head_key(head: Head) -> str:
    """Return what a head is called where heads are the keys of an object.

    >>> head_key(Head(0, 1))
    '0.1'
    """
    return f"{head.layer}.{head.index}"


def read_program_heads(fields: Fields, read: Callable[[str], Program]) -> ProgramHeads:
    """Read an object of programs by `head_key`; `read` returns the program at a key of it."""
    return {_head(key, fields): read(key) for key in fields.keys()}  # noqa: SIM118  # Fields is not a mapping


def _head(key: str, fields: Fields) -> Head:
    match = _KEY.fullmatch(key)
    if match is None:
        raise InputError(f"{fields.where} has a key {key!r}, want layer and index of a head such as '0.1'")
    return Head(int(match[1]), int(match[2]))


def _pattern(program: Program, tokens: Tensor) -> Tensor:
    distinct, places = tokens.unique(dim=0, return_inverse=True)
    length = tokens.shape[1]
    rows = [
        [_dense(row(program, prompt, query), length) for query in range(length)]
        for prompt in distinct.tolist()
    ]
    return torch.tensor(rows, dtype=torch.float32).reshape(len(rows), length, length)[places]


def _dense(weights: Row, length: int) -> Sequence[float]:
    dense = [0.0] * length
    for key, weight in weights:
        dense[key] = float(weight)
    return dense
