"""What a model says of itself: its architecture, the programs of its heads, and the names of its tokens."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from circuitproof.declare.architecture import Architecture, Shapes, read_architecture, tensor_shapes
from circuitproof.declare.circuits.graph import Graph, Head
from circuitproof.declare.operators import inexact_name
from circuitproof.declare.programs.lines import parse_lines, to_lines
from circuitproof.declare.programs.syntax import Program
from circuitproof.declare.tasks.alphabet import Alphabet
from circuitproof.errors import DeclarationError, InputError
from circuitproof.text.canonical import Json
from circuitproof.text.reading import Fields, read_json, reading, reading_part

DECLARATION = "model.json"
WEIGHTS = "weights.safetensors"

ProgramHeads: TypeAlias = Mapping[Head, Program]

NO_PROGRAMS: ProgramHeads = MappingProxyType({})

_KEY = re.compile(r"(N)\.(N)".replace("N", "0|[1-9][0-9]{0,8}"))


@dataclass(frozen=True, slots=True)
class Declaration:
    """A model without its weights; the parts fit together."""

    architecture: Architecture
    programs: ProgramHeads
    alphabet: Alphabet | None

    def __post_init__(self) -> None:
        refuse_unfit_programs(self.architecture, self.programs)
        size = self.architecture.vocabulary
        if self.alphabet is not None and len(self.alphabet) > size:
            raise DeclarationError(f"{len(self.alphabet)} tokens have names, but the vocabulary has {size}")

    @property
    def inexact_operator(self) -> str | None:
        """Return what keeps the whole model from being computed exactly, if anything does."""
        sizes = self.architecture
        is_neural = len(self.programs) < sizes.layers * sizes.heads
        operators = (sizes.norm, sizes.activation, *((sizes.attention,) if is_neural else ()))
        return next((name for name in map(inexact_name, operators) if name is not None), None)

    def shapes(self) -> Shapes:
        """Return every tensor of the model with its shape."""
        return shapes_with_programs(self.architecture, self.programs)

    def to_json(self) -> dict[str, Json]:
        """Return the declaration as JSON that `read_declaration` reads back."""
        return {
            "architecture": self.architecture.to_json(),
            "alphabet": None if self.alphabet is None else list(self.alphabet.names),
            "programs": programs_to_json(self.programs),
        }


def read_declaration(directory: Path) -> Declaration:
    """Read the declaration of a model directory."""
    file = directory / DECLARATION
    try:
        with reading(read_json(file), str(file)) as fields:
            with reading_part(fields, "architecture") as part:
                architecture = read_architecture(part)
            alphabet = None if fields.value("alphabet") is None else Alphabet(fields.texts("alphabet"))
            with reading_part(fields, "programs") as part:
                programs = read_program_lines(part, architecture)
        return Declaration(architecture, programs, alphabet)
    except DeclarationError as error:
        raise InputError(f"{file}: {error}") from error


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


def programs_to_json(programs: ProgramHeads) -> dict[str, Json]:
    """Return programs as lines of text by `head_key`."""
    return {head_key(head): [*to_lines(program)] for head, program in programs.items()}


def readout_tensors(programs: Iterable[Head], *, biases: bool) -> frozenset[str]:
    """Return the tensors that no forward reads once these program heads are silenced.

    The output bias that the heads of a layer share is not among them: other heads may still be read.
    """
    kinds = ("value.weight", "value.bias", "output.weight") if biases else ("value.weight", "output.weight")
    return frozenset(f"head.{head.layer}.{head.index}.{kind}" for head in programs for kind in kinds)


def head_key(head: Head) -> str:
    """Return what a head is called where heads are the keys of an object.

    >>> head_key(Head(0, 1))
    '0.1'
    """
    return f"{head.layer}.{head.index}"


def read_program_heads(fields: Fields, read: Callable[[str], Program]) -> ProgramHeads:
    """Read an object of programs by `head_key`; `read` returns the program at a key of it."""
    return {_head(key, fields): read(key) for key in fields.keys()}  # noqa: SIM118  # Fields is not a mapping


def read_program_lines(fields: Fields, architecture: Architecture) -> ProgramHeads:
    """Read an object of programs, each a list of lines, that name only tokens of the architecture."""
    size = architecture.vocabulary
    return read_program_heads(fields, lambda key: parse_lines(fields.texts(key), fields.path(key), size))


def _head(key: str, fields: Fields) -> Head:
    match = _KEY.fullmatch(key)
    if match is None:
        raise InputError(f"{fields.where} has a key {key!r}, want layer and index of a head such as '0.1'")
    return Head(int(match[1]), int(match[2]))
