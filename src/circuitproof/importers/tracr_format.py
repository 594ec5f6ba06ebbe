"""Programs that Tracr compiled, as one file each: its parameters, and what it gave on every input."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from circuitproof.errors import InputError
from circuitproof.files.canonical import canonical_json, reading_file
from circuitproof.files.codec import Codec, PositiveInt, record_to_json
from circuitproof.files.reading import about, alone, parse_json, reading
from circuitproof.models.architecture import Architecture, inverse_root
from circuitproof.models.declaration import NO_PROGRAMS, Declaration
from circuitproof.models.operators import Attention, NoNorm, Relu
from circuitproof.tasks.alphabet import Alphabet
from circuitproof.tasks.domain import Domain
from circuitproof.tasks.rules import AnswerTable, ClassTable
from circuitproof.tasks.task import Task

TracrArray: TypeAlias = npt.NDArray[np.float32]

NONE = "none"
"""The answer where a program has none: no direction of the output is written."""
_METADATA = "tracr"
_TOKENS, _POSITIONS = "token_embed/embeddings", "pos_embed/embeddings"
_UNEMBED, _RECORDED = "unembed", "recorded"
_QUERIES, _HIDDEN = "transformer/layer_0/attn/query/b", "transformer/layer_0/mlp/linear_1/b"


class Readout(StrEnum):
    """What the program's output is: one direction for each value, or a number along one direction."""

    CATEGORY = "category"
    NUMBER = "number"


@dataclass(frozen=True, slots=True, kw_only=True)
class TracrInterface:
    """How a compiled program is spoken to: its tokens, what its output says, and every input with its answer.

    `values` are what the output can be; of numbers, those that are right for some input. `answers` are
    values, or "none", as RASP's interpreter with causal selectors gives them at the last position.
    """

    program: str
    heads: PositiveInt
    readout: Readout
    tokens: tuple[str, ...]
    values: tuple[str, ...]
    prompts: tuple[tuple[int, ...], ...]
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compiled:
    """A compiled program: its interface and Tracr's tensors by Tracr's names.

    Two are ours: `unembed` has a column for each direction of the output, and `recorded` a row for each
    prompt: what the original, with softmax, writes into these directions at the last position.
    """

    interface: TracrInterface
    tensors: Mapping[str, TracrArray]

    def __post_init__(self) -> None:
        spoken, (_, directions) = self.interface, self._sizes(_UNEMBED, 2)
        wanted = len(spoken.values) if spoken.readout is Readout.CATEGORY else 1
        if directions != wanted:
            raise InputError(f"tensor {_UNEMBED} has {directions} directions, its readout wants {wanted}")
        shapes = self._shapes()
        for name, shape in shapes.items():
            if (found := self._tensor(name).shape) != shape:
                raise InputError(f"tensor {name} has shape {found}, the others want {shape}")
        if unknown := sorted(self.tensors.keys() - shapes.keys()):
            raise InputError(f"tensor {unknown[0]} is unknown; Tracr's models do not have it")
        for name, tensor in self.tensors.items():
            if not np.isfinite(tensor).all():
                raise InputError(f"tensor {name} holds a NaN or an infinite number")

    def to_bytes(self) -> bytes:
        """Return the file."""
        written = canonical_json(record_to_json(self.interface)).decode()
        return save(dict(sorted(self.tensors.items())), {_METADATA: written})

    @property
    def candidates(self) -> tuple[str, ...]:
        """Return the values that are chosen among; "none" is one where it is an answer."""
        spoken = self.interface
        return (*spoken.values, NONE) if NONE in spoken.answers else spoken.values

    @property
    def alphabet(self) -> Alphabet:
        """Return Tracr's tokens, and after them the candidates that are none of them."""
        return Alphabet(tuple(dict.fromkeys((*self.interface.tokens, *self.candidates))))

    @property
    def declaration(self) -> Declaration:
        """Return what the model is, with sparsemax in the place of softmax."""
        (context, width), head_width = self._sizes(_POSITIONS, 2), self._head_width
        architecture = Architecture(
            vocabulary=len(self.alphabet),
            context=context,
            layers=self._layers,
            heads=self.interface.heads,
            width=width,
            head_width=head_width,
            mlp_width=self._sizes(_HIDDEN, 1)[0],
            norm=NoNorm(),
            attention=Attention.SPARSEMAX,
            attention_scale=inverse_root(head_width),
            activation=Relu(),
            tied=False,
            biases=True,
            logit_bias=True,
        )
        return Declaration(architecture, NO_PROGRAMS, self.alphabet)

    @property
    def task(self) -> Task:
        """Return the task: the right answer to every input; inputs of the same answer are one class."""
        spoken, alphabet = self.interface, self.alphabet
        answers = alphabet.tokens(spoken.answers)
        return Task(
            name=spoken.program,
            alphabet=alphabet,
            candidates=alphabet.tokens(self.candidates),
            domain=Domain(spoken.prompts, tuple(f"length {len(prompt) - 1}" for prompt in spoken.prompts)),
            answer=AnswerTable(answers),
            relation=ClassTable(answers),
        )

    def model_tensors(self) -> dict[str, TracrArray]:
        """Return the tensors of our model: Tracr's numbers, turned to [out, in], and the output's rows."""
        tokens, size = list(self.alphabet.tokens(self.candidates)), len(self.alphabet)
        weights, biases = self.readout()
        logits = np.zeros((size, len(self._tensor(_UNEMBED))), np.float32)
        token_rows, logit_bias = np.zeros_like(logits), np.zeros(size, np.float32)
        logits[tokens], logit_bias[tokens] = weights @ self._tensor(_UNEMBED).T, biases
        token_rows[: len(self.interface.tokens)] = self._tensor(_TOKENS)
        found = {"embed.token": token_rows, "embed.position": self._tensor(_POSITIONS)}
        for layer in range(self._layers):
            found |= dict(self._attention(layer))
            found |= dict(self._mlp(layer))
        found |= {"logits.weight": logits, "logits.bias": logit_bias}
        return {name: np.ascontiguousarray(tensor) for name, tensor in found.items()}

    def readout(self) -> tuple[TracrArray, TracrArray]:
        """Return for each candidate what it makes of each direction of the output, and its bias.

        A category's logit is what stands in its direction, and that of "none" is 1/2, half of what is
        written there for a value. A number x chooses the value v nearest to it: of -(x - v)², the part
        2vx - v² that depends on v.
        """
        spoken, has_none = self.interface, len(self.candidates) - len(self.interface.values)
        if spoken.readout is Readout.CATEGORY:
            weights, biases = np.eye(len(spoken.values)), np.zeros(len(spoken.values))
        else:
            values = np.array([float(alone(one, "a value").rational("")) for one in spoken.values])
            weights, biases = 2 * values[:, None], -(values**2)
        none = np.zeros((has_none, weights.shape[1])), np.full(has_none, 0.5)
        whole = np.concatenate([weights, none[0]]), np.concatenate([biases, none[1]])
        return whole[0].astype(np.float32), whole[1].astype(np.float32)

    def recorded_logits(self) -> npt.NDArray[np.float64]:
        """Return the candidates' logits of the original with softmax, a row for each prompt."""
        weights, biases = (part.astype(np.float64) for part in self.readout())
        return self._tensor(_RECORDED) @ weights.T + biases

    @property
    def _layers(self) -> int:
        return sum(name.endswith("mlp/linear_1/w") for name in self.tensors)

    @property
    def _head_width(self) -> int:
        width, rest = divmod(self._sizes(_QUERIES, 1)[0], self.interface.heads)
        if rest or not width:
            raise InputError(f"{self.interface.heads} heads do not divide the queries of layer 0")
        return width

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of every tensor, as the sizes of a few of them demand."""
        spoken, (context, width) = self.interface, self._sizes(_POSITIONS, 2)
        inner, (hidden,) = self._head_width * spoken.heads, self._sizes(_HIDDEN, 1)
        directions = self._sizes(_UNEMBED, 2)[1]
        shapes: dict[str, tuple[int, ...]] = {
            _TOKENS: (len(spoken.tokens), width),
            _POSITIONS: (context, width),
            _UNEMBED: (width, directions),
            _RECORDED: (len(spoken.prompts), directions),
        }
        linears = {f"attn/{role}": (width, inner) for role in ("query", "key", "value")}
        linears |= {
            "attn/linear": (inner, width),
            "mlp/linear_1": (width, hidden),
            "mlp/linear_2": (hidden, width),
        }
        for layer in range(self._layers):
            for name, shape in linears.items():
                shapes[f"transformer/layer_{layer}/{name}/w"] = shape
                shapes[f"transformer/layer_{layer}/{name}/b"] = shape[1:]
        return shapes

    def _attention(self, layer: int) -> Iterator[tuple[str, TracrArray]]:
        source, width = f"transformer/layer_{layer}/attn", self._head_width
        for head in range(self.interface.heads):
            cut, target = slice(head * width, (head + 1) * width), f"head.{layer}.{head}"
            for role in ("query", "key", "value"):
                yield f"{target}.{role}.weight", self._tensor(f"{source}/{role}/w")[:, cut].T
                yield f"{target}.{role}.bias", self._tensor(f"{source}/{role}/b")[cut]
            yield f"{target}.output.weight", self._tensor(f"{source}/linear/w")[cut].T
        yield f"attention.{layer}.output.bias", self._tensor(f"{source}/linear/b")

    def _mlp(self, layer: int) -> Iterator[tuple[str, TracrArray]]:
        for theirs, ours in (("linear_1", "up"), ("linear_2", "down")):
            yield f"mlp.{layer}.{ours}.weight", self._tensor(f"transformer/layer_{layer}/mlp/{theirs}/w").T
            yield f"mlp.{layer}.{ours}.bias", self._tensor(f"transformer/layer_{layer}/mlp/{theirs}/b")

    def _sizes(self, name: str, count: int) -> tuple[int, ...]:
        if len(shape := self._tensor(name).shape) != count or 0 in shape:
            raise InputError(f"tensor {name} has shape {shape}, want {count} sizes above 0")
        return shape

    def _tensor(self, name: str) -> TracrArray:
        if name not in self.tensors:
            raise InputError(f"tensor {name} is missing, which a compiled program has")
        return self.tensors[name]


def load_compiled(path: Path) -> Compiled:
    """Read the file of a compiled program; shapes and names must be those of one."""
    try:
        with reading_file(path), path.open("rb"), safe_open(path, framework="numpy") as file:
            written = (file.metadata() or {}).get(_METADATA)
            kinds = {name: file.get_slice(name).get_dtype() for name in file.keys()}  # noqa: SIM118  # no mapping
            if other := [name for name, kind in kinds.items() if kind != "F32"]:
                raise InputError(f"{path}: tensor {other[0]} is {kinds[other[0]]}, want F32")
            tensors = {name: file.get_tensor(name) for name in kinds}
    except SafetensorError as error:
        raise InputError(f"{path} is not a usable safetensors file: {error}") from error
    if written is None:
        raise InputError(f"{path} is no compiled program: its metadata has no {_METADATA!r}")
    with reading(parse_json(written.encode(), str(path)), str(path)) as fields:
        interface = Codec().record(TracrInterface, fields)
    with about(str(path)):
        return Compiled(interface, tensors)
