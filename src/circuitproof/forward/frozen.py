"""From floats to rationals: safetensors bytes in, exact grids out. It never sees a tensor object."""

import mmap
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path

import numpy as np

from circuitproof.arithmetic.grid import Grid, grid_of_float32
from circuitproof.circuits.graph import Graph
from circuitproof.errors import InputError
from circuitproof.files.canonical import Digest, digest_bytes, reading_file
from circuitproof.files.reading import Fields, about, parse_json
from circuitproof.files.sealed import check_seal
from circuitproof.forward.interface import ReadSpan, read_span
from circuitproof.models.architecture import Architecture, Shapes
from circuitproof.models.declaration import DECLARATION, WEIGHTS, Declaration, ProgramHeads, read_declaration
from circuitproof.tasks.domain import LAST

_LENGTH = struct.Struct("<Q")
BYTES_PER_NUMBER = 4
_MOST_NUMBERS = 1 << 24
"""How many weights are held at a time."""


@dataclass(frozen=True, slots=True)
class _Place:
    shape: tuple[int, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class WeightFile:
    """A safetensors file of FP32 tensors, of which only what is asked for is read."""

    path: Path
    content: mmap.mmap | bytes
    places: Mapping[str, _Place]

    def shapes(self) -> Shapes:
        return {name: place.shape for name, place in self.places.items()}

    def raw(self, name: str, rows: Sequence[int] | None = None) -> bytes:
        """Return the bytes of a tensor, or of some of its rows."""
        place = self._place(name)
        if rows is None:
            return self.content[place.start : place.end]
        if outside := [row for row in rows if not 0 <= row < place.shape[0]]:
            raise InputError(
                f"{self.path}: tensor {name} has {place.shape[0]} rows, asked for row {outside[0]}"
            )
        step = BYTES_PER_NUMBER * prod(place.shape[1:])
        starts = [place.start + step * row for row in rows]
        return b"".join(self.content[start : start + step] for start in starts)

    def digest(self, name: str) -> Digest:
        place = self._place(name)
        with memoryview(self.content) as view, view[place.start : place.end] as part:
            return digest_bytes(part)

    def grid(self, name: str, rows: Sequence[int] | None = None) -> Grid:
        """Return the exact values of a tensor or of some of its rows; a vector is a single row."""
        shape = self._place(name).shape
        if rows is not None:
            shape = (len(rows), *shape[1:])
        bits = np.frombuffer(self.raw(name, rows), dtype="<u4")
        with about(f"{self.path}: tensor {name}"):
            return grid_of_float32(bits.reshape(shape if len(shape) > 1 else (1, *shape)))

    def _place(self, name: str) -> _Place:
        if name not in self.places:
            raise InputError(f"{self.path} lacks tensor {name}, which the circuit reads")
        return self.places[name]


@dataclass(frozen=True, slots=True)
class Frozen:
    """A model as proofs see it: its declaration, and exact weights read when they are needed."""

    declaration: Declaration
    file: WeightFile
    read: dict[str, Grid] = field(default_factory=dict[str, Grid], repr=False, compare=False)
    """The whole tensors read last."""
    position: int = LAST
    """Where in a prompt logits are read: from its start, or if negative from its end."""

    def __reduce__(self) -> tuple[type["Frozen"], tuple[Declaration, WeightFile]]:
        """Leave to another process what it reads."""
        return Frozen, (self.declaration, self.file)

    @property
    def architecture(self) -> Architecture:
        return self.declaration.architecture

    @property
    def programs(self) -> ProgramHeads:
        return self.declaration.programs

    @property
    def graph(self) -> Graph:
        return self.architecture.graph

    def at(self, position: int) -> "Frozen":
        """Return the same model, read at some position of its prompts."""
        return self if position == self.position else replace(self, position=position)

    def span(self, length: int) -> ReadSpan:
        """Return where a prompt of some length is decided, and how much of it is read for that."""
        return read_span(length, self.position, self.architecture.mask)

    def tensor(self, name: str) -> Grid:
        """Return a whole tensor: read once in a small model; of a large one only the last read are held."""
        if name not in self.read:
            self.read[name] = self.file.grid(name)
            held = sum(prod(grid.shape) for grid in self.read.values())
            for earlier in list(self.read)[:-1]:
                if held > _MOST_NUMBERS:
                    held -= prod(self.read.pop(earlier).shape)
        return self.read[name]

    def bias(self, name: str) -> Grid | None:
        """Return a bias of heads and MLPs, or nothing in a model without biases."""
        return self.tensor(name) if self.architecture.biases else None

    def unembedding(self, tokens: Sequence[int]) -> Grid:
        """Return the rows of the output embedding for these tokens."""
        return self.file.grid("embed.token" if self.architecture.tied else "logits.weight", tokens)

    def logit_bias(self, tokens: Sequence[int]) -> Grid | None:
        """Return the output biases of these tokens as a single row, if the model has any."""
        return self.file.grid("logits.bias", tokens) if self.architecture.logit_bias else None


def open_model(path: Path) -> Frozen:
    """Open a model directory as it was sealed."""
    check_seal(path, frozenset({DECLARATION, WEIGHTS}))
    return open_unsealed(path)


def open_unsealed(path: Path) -> Frozen:
    """Open the files of a model directory as they are, sealed or not."""
    declared = read_declaration(path)
    file = open_weights(path / WEIGHTS)
    refuse_other_shapes(file.shapes(), declared.shapes(), str(file.path))
    return Frozen(declared, file)


def refuse_other_shapes(held: Shapes, wanted: Shapes, where: str) -> None:
    """Refuse tensors that are not just those of an architecture."""
    for name, shape in wanted.items():
        if (found := held.get(name)) is None:
            raise InputError(f"{where} lacks tensor {name}, which the architecture needs")
        if found != shape:
            raise InputError(f"{where}: tensor {name} has shape {found}, the architecture wants {shape}")
    if unknown := sorted(held.keys() - wanted.keys()):
        raise InputError(f"{where} holds tensor {unknown[0]}, which the architecture does not have")


def open_weights(path: Path) -> WeightFile:
    """Open a safetensors file, of which only what is asked for is read."""
    try:
        with reading_file(path), path.open("rb") as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except ValueError as error:
        raise InputError(f"cannot read {path}: {error}") from error
    return parse_weights(path, content)


def parse_weights(path: Path, content: mmap.mmap | bytes) -> WeightFile:
    """Return the tensors of a safetensors file: a length, a JSON header, and their bytes."""
    if len(content) < _LENGTH.size:
        raise InputError(f"{path} is not a safetensors file: it ends in its length")
    (length,) = _LENGTH.unpack(content[: _LENGTH.size])
    start = _LENGTH.size + length
    if start > len(content):
        raise InputError(f"{path} is not a safetensors file: its header ends after the file")
    header = Fields(parse_json(content[_LENGTH.size : start], str(path)), str(path))
    names = [name for name in header.keys() if name != "__metadata__"]  # noqa: SIM118  # Fields is not a mapping
    places = {name: _read_place(header.fields(name), start) for name in names}
    _refuse_gaps(path, places, start, len(content))
    return WeightFile(path, content, places)


def _read_place(fields: Fields, base: int) -> _Place:
    if (kind := fields.text("dtype")) != "F32":
        raise InputError(f"{fields.where} is {kind}, want F32")
    shape = fields.integers("shape")
    offsets = fields.integers("data_offsets")
    is_span = len(offsets) == 2 and min(shape, default=0) >= 0  # noqa: PLR2004  # begin, end
    if not is_span or offsets[1] - offsets[0] != BYTES_PER_NUMBER * prod(shape):
        raise InputError(f"{fields.where} has shape {shape} but bytes {offsets}")
    return _Place(shape, base + offsets[0], base + offsets[1])


def _refuse_gaps(path: Path, places: Mapping[str, _Place], start: int, end: int) -> None:
    """Refuse tensors that overlap, leave bytes between them or lie outside the file."""
    for place in sorted(places.values(), key=lambda place: (place.start, place.end)):
        if place.start != start:
            raise InputError(f"{path}: a tensor begins at byte {place.start}, want {start}: overlap or gap")
        start = place.end
    if start != end:
        raise InputError(f"{path} has {end} bytes, its tensors end at {start}")
