"""What a model says of itself: its architecture, the programs of its heads, and the names of its tokens."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from circuitproof.circuits.graph import Head, Mlp, Node
from circuitproof.errors import DeclarationError, InputError
from circuitproof.files.canonical import Json
from circuitproof.files.reading import Fields, read_json, reading, reading_part
from circuitproof.models.architecture import Architecture, Shapes, read_architecture, tensor_shapes
from circuitproof.models.operators import inexact_name
from circuitproof.models.tokenizer import text_reader
from circuitproof.programs.lines import parse_lines, to_lines
from circuitproof.programs.syntax import Program
from circuitproof.tasks.alphabet import Alphabet, sparse_alphabet
from circuitproof.tasks.loading import load_task
from circuitproof.tasks.task import Task

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
    def tokens(self) -> Alphabet:
        """Return the names of all tokens, for tasks that leave them to the model: without names, numbers."""
        return self.alphabet or sparse_alphabet(self.architecture.vocabulary, {})

    @property
    def inexact_operator(self) -> str | None:
        """Return what keeps the whole model from being computed exactly, if anything does."""
        return self.inexact_among(self.architecture.graph.nodes())

    def inexact_among(self, nodes: Iterable[Node]) -> str | None:
        """Return what keeps these nodes from being computed exactly, if anything does."""
        sizes, kept = self.architecture, list(nodes)
        is_neural = any(isinstance(node, Head) and node not in self.programs for node in kept)
        operators = (
            sizes.norm,
            *((sizes.activation,) if any(isinstance(node, Mlp) for node in kept) else ()),
            *((sizes.attention,) if is_neural else ()),
        )
        return next((name for name in map(inexact_name, operators) if name is not None), None)

    def listed_task(self, asked: str | Task) -> Task:
        """Return a task, or that of a name or file, which lists its prompts and fits the model."""
        task = load_task(asked, self.tokens) if isinstance(asked, str) else asked
        task.refuse_pattern()
        self.refuse_unfit(task)
        return task

    def refuse_unfit(self, task: Task) -> None:
        """Refuse a task of other tokens than the model's, or of longer prompts than it reads.

        A model that does not say how its tokens are called is taken to have the task's if it has as many.
        """
        sizes, tokens = self.architecture, len(task.alphabet)
        task.refuse_smaller(sizes.vocabulary)
        task.refuse_other_outputs(sizes.predicted)
        task.refuse_other_alphabet(self.alphabet)
        if self.alphabet is None and tokens != sizes.vocabulary:
            raise InputError(
                f"task {task.name!r} has {tokens} tokens, the model {sizes.vocabulary} without names; "
                "give the model its alphabet, or a task of its own"
            )
        if task.longest > sizes.context:
            raise InputError(
                f"task {task.name!r} has prompts of up to {task.longest} tokens, "
                f"the model's context is {sizes.context}"
            )

    def refuse_inexact(self, what: str) -> None:
        """Refuse a model that has no exact value, where work ends in exact proofs."""
        if (operator := self.inexact_operator) is not None:
            raise InputError(f"{what} ends in proofs, and the model's {operator} has no exact value")

    def shapes(self) -> Shapes:
        return tensor_shapes(self.architecture, self.programs)

    def to_json(self) -> dict[str, Json]:
        return {
            "architecture": self.architecture.to_json(),
            "alphabet": None if self.alphabet is None else list(self.alphabet.names),
            "programs": programs_to_json(self.programs),
        }


def read_declaration(directory: Path, content: object = None) -> Declaration:
    """Read what a model says of itself: from its file, or from the content that the file is to have."""
    file = directory / DECLARATION
    with reading(read_json(file) if content is None else content, str(file)) as fields:
        with reading_part(fields, "architecture") as part:
            architecture = read_architecture(part)
        alphabet = None if fields.value("alphabet") is None else Alphabet(fields.texts("alphabet"))
        if alphabet is not None:
            alphabet = replace(alphabet, encode=text_reader(directory, alphabet))
        with reading_part(fields, "programs") as part:
            programs = read_program_lines(part, architecture)
        return Declaration(architecture, programs, alphabet)


def refuse_unfit_programs(architecture: Architecture, programs: ProgramHeads) -> None:
    """Refuse a program for a head that is not there, or one that names a token that is not there."""
    architecture.refuse_absent_heads(programs)
    if programs and not architecture.is_causal:
        raise DeclarationError(
            f"{next(iter(programs))} cannot be a program: programs look at the past of their query, "
            "and attention has no mask"
        )
    for head, program in programs.items():
        if (largest := max(program.tokens(), default=0)) >= architecture.vocabulary:
            raise DeclarationError(
                f"the program of {head} names token {largest}, "
                f"the model's tokens are 0 to {architecture.vocabulary - 1}"
            )


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
