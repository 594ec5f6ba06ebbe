"""Tensors: safetensors files, and the exact values of FP32 bits."""

import hashlib
import struct
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from .exact import Vector, vector
from .reading import CHUNK, DIGESTED, Streamed, fields, integers, mapping, named, parse_json, require, sha256
from .work import MOST_HEADER, NUMBER, bound, paid, spend

_LENGTH = 8
_DIMENSIONS = 8
_DESCRIBED = 256
"""More bytes than name, type, shape and place of a tensor take."""
_NUMBER = 4
_EXPONENT = 0xFF
_FRACTION_BITS = 23
_FRACTION = 0x7FFFFF
_MAGNITUDE = 0x7FFFFFFF
_UNIT = 150
"""A normal number with the exponent e is its 24-bit significand times 2 to the power e - 150."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """The shape and the little-endian bytes of FP32 numbers."""

    shape: tuple[int, ...]
    content: bytes

    def row(self, index: int) -> bytes:
        """Return the bytes of one row, or of one number where there is a single dimension."""
        if not 0 <= index < self.shape[0]:
            raise IndexError(f"row {index} of a tensor of shape {self.shape}")
        size = _NUMBER * prod(self.shape[1:])
        return self.content[size * index : size * (index + 1)]


@dataclass(frozen=True, slots=True)
class Slice:
    """What a claim says of a tensor: its full shape, the rows that are there (None: all) and its digest."""

    shape: tuple[int, ...]
    rows: tuple[int, ...] | None
    digest: str

    @property
    def stored(self) -> tuple[int, ...]:
        """Return the shape of what is there."""
        return self.shape if self.rows is None else (len(self.rows), *self.shape[1:])


@dataclass(frozen=True, slots=True)
class DigestedTensor:
    """A tensor of a model: its shape, the digest of all of it, and the rows of it that are wanted."""

    shape: tuple[int, ...]
    digest: str
    kept: Tensor


def stored_size(slices: Mapping[str, Slice]) -> int:
    """Return how many bytes a file of tensors has at most."""
    return MOST_HEADER + sum(_DESCRIBED + _NUMBER * prod(part.stored) for part in slices.values())


class Weights:
    """The tensors of a bundle, known to be those of its claim."""

    def __init__(self, slices: Mapping[str, Slice], tensors: Mapping[str, Tensor]) -> None:
        strange = slices.keys() ^ tensors.keys()
        require("tensors_are_the_claimed", not strange, "weights", strange)
        for name, part in slices.items():
            tensor, where = tensors[name], f"tensor {name}"
            require("stored_shape_is_claimed", tensor.shape == part.stored, where, tensor.shape, part.stored)
            is_full = part.rows is None or len(part.rows) == part.shape[0]
            has_digest = not is_full or sha256(tensor.content) == part.digest
            require("full_tensors_have_their_digests", has_digest, where, part.digest)
            spend(len(tensor.content))
            is_finite = all(
                word >> _FRACTION_BITS & _EXPONENT != _EXPONENT for word in _words(tensor.content)
            )
            require("numbers_are_finite", is_finite, where)
        self._slices, self._tensors = slices, tensors
        self._zeros: dict[str, bool] = {}

    def row(self, name: str, index: int) -> Vector:
        tensor, rows = self._tensor(name), self._slices[name].rows
        if rows is None:
            return decode(tensor.row(index))
        place = bisect_left(rows, index)
        require("needed_rows_are_here", rows[place : place + 1] == (index,), f"tensor {name}", index)
        return decode(tensor.row(place))

    def whole(self, name: str) -> Vector:
        """Return every number of a tensor, row after row."""
        return decode(self._full(name))

    def width(self, name: str) -> int:
        """Return how many numbers a row of a matrix has."""
        return self._tensor(name).shape[1]

    def is_zero(self, name: str) -> bool:
        """Say whether every number of a tensor is zero; it is looked at once."""
        if name not in self._zeros:
            content = self._full(name)
            spend(len(content))
            self._zeros[name] = not any(word & _MAGNITUDE for word in _words(content))
        return self._zeros[name]

    def _full(self, name: str) -> bytes:
        tensor, shape = self._tensor(name), self._slices[name].shape
        require("needed_tensors_are_whole", tensor.shape == shape, f"tensor {name}", shape)
        return tensor.content

    def _tensor(self, name: str) -> Tensor:
        require("needed_tensors_are_here", name in self._tensors, f"tensor {name}")
        return self._tensors[name]


def decode(content: bytes) -> Vector:
    """Return the exact values of FP32 bytes.

    The upper nine bits of a word, sign and exponent, say what its fraction is multiplied with.
    """
    words = _words(content)
    spend(4 * len(words))
    uppers = {word >> _FRACTION_BITS for word in words}
    used = {word >> _FRACTION_BITS for word in words if word & _MAGNITUDE}
    least = min([_UNIT, *map(_exponent, used)])
    leading = {upper: bool(upper & _EXPONENT) << _FRACTION_BITS for upper in uppers}
    factor = {upper: _sign(upper) << max(_exponent(upper) - least, 0) for upper in uppers}
    numbers = (
        (word & _FRACTION | leading[word >> _FRACTION_BITS]) * factor[word >> _FRACTION_BITS]
        for word in words
    )
    return vector(numbers, 1 << (_UNIT - least))


def _exponent(upper: int) -> int:
    return max(upper & _EXPONENT, 1)


def _sign(upper: int) -> int:
    return -1 if upper > _EXPONENT else 1


def _words(content: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(content) // _NUMBER}I", content)


def read_safetensors(content: bytes, where: str) -> dict[str, Tensor]:
    """Return the tensors of a safetensors file by name; the metadata is left aside."""
    start = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
    spans = _read_header(content[_LENGTH:start], len(content) - start, where)
    return {name: Tensor(shape, content[start + a : start + b]) for name, (a, b, shape) in spans.items()}


def stream_safetensors(file: Streamed, slices: Mapping[str, Slice], where: str) -> dict[str, DigestedTensor]:
    """Return what a safetensors file holds, read a part at a time; only the rows of `slices` are kept."""
    length = int.from_bytes(file.read(min(_LENGTH, file.size)), "little")
    left = max(0, file.size - _LENGTH)
    spans = _read_header(file.read(min(length, left)), left - length, where)
    ordered = sorted(paid(spans, NUMBER), key=lambda name: spans[name][:2])
    return {name: _stream_tensor(file, spans[name][2], slices.get(name)) for name in ordered}


def _stream_tensor(file: Streamed, shape: tuple[int, ...], part: Slice | None) -> DigestedTensor:
    """Read a tensor, digest it, and keep the rows that a claim lists: all of them, some, or none."""
    row = max(1, _NUMBER * prod(shape[1:]))
    size, step = _NUMBER * prod(shape), max(1, CHUNK // row) * row
    digest, kept = hashlib.sha256(), list[bytes]()
    for start in range(0, size, step):
        chunk = file.read(min(step, size - start))
        spend(NUMBER + (len(chunk) >> DIGESTED))
        digest.update(chunk)
        if part is not None and part.rows is None:
            kept.append(chunk)
        elif part is not None and part.rows is not None:
            begin, end = (bisect_left(part.rows, at // row) for at in (start, start + len(chunk)))
            spend(NUMBER * (end - begin))
            places = (row * index - start for index in part.rows[begin:end])
            kept += [chunk[place : place + row] for place in places]
    found = shape if part is None or part.rows is None else (len(part.rows), *shape[1:])
    return DigestedTensor(shape, digest.hexdigest(), Tensor(found, b"".join(kept)))


def _read_header(content: bytes, size: int, where: str) -> dict[str, tuple[int, int, tuple[int, ...]]]:
    """Return where tensors begin and end in the so many bytes behind a header, and their shapes."""
    header = mapping(parse_json(content, f"{where}: header"), f"{where}: header")
    header.pop("__metadata__", None)
    spans = {name: _read_span(entry, f"{where}: tensor {named(name)}") for name, entry in header.items()}
    ordered = sorted(spans.values())
    begins, ends = [begin for begin, _, _ in ordered], [end for _, end, _ in ordered]
    require("spans_fill_the_file", [*begins, size] == [0, *ends], where)
    return spans


def _read_span(value: object, where: str) -> tuple[int, int, tuple[int, ...]]:
    dtype, shape, offsets = fields(value, where, "dtype", "shape", "data_offsets")
    require("numbers_are_fp32", dtype == "F32", where, dtype)
    sizes, span = integers(shape, where, 0), integers(offsets, where, 0)
    bound(len(sizes), _DIMENSIONS, f"{where}: the number of dimensions")
    fits = len(span) == len(("begin", "end")) and span[1] - span[0] == _NUMBER * prod(sizes)
    require("spans_fit_the_shapes", fits, where, span, sizes)
    return span[0], span[1], sizes
