"""Tensors: safetensors files, and the exact values of FP32 bits."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from circuitproof_check.exact import Matrix, Vector, vector
from circuitproof_check.files import sha256
from circuitproof_check.reading import ForgedError, fields, integers, mapping, parse_json, show

_LENGTH = 8
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
        size = _NUMBER * prod(self.shape[1:])
        return self.content[size * index : size * (index + 1)]


@dataclass(frozen=True, slots=True)
class Slice:
    """What a claim says of a tensor: its full shape, the rows that are there (None: all) and its digest."""

    shape: tuple[int, ...]
    rows: tuple[int, ...] | None
    digest: str


class Weights:
    """The tensors of a bundle, known to be those of its claim."""

    def __init__(self, slices: Mapping[str, Slice], tensors: Mapping[str, Tensor]) -> None:
        rule_tensors_are_those_of_the_claim(slices, tensors)
        for name, part in slices.items():
            rule_stored_shape_is_claimed(name, part, tensors[name])
            rule_full_tensor_has_its_digest(name, part, tensors[name])
            rule_numbers_are_finite(name, tensors[name])
        self._slices = slices
        self._tensors = tensors

    def row(self, name: str, index: int) -> Vector:
        """Return one row of a tensor."""
        tensor, rows = self._tensor(name), self._slices[name].rows
        if rows is None:
            return decode(tensor.row(index))
        if index not in rows:
            raise ForgedError(f"row {index} of tensor {name} is needed but not in the file")
        return decode(tensor.row(rows.index(index)))

    def whole(self, name: str) -> Vector:
        """Return every number of a tensor, row after row."""
        tensor, part = self._tensor(name), self._slices[name]
        if tensor.shape != part.shape:
            raise ForgedError(f"every row of tensor {name} is needed, the file has {tensor.shape[0]}")
        return decode(tensor.content)

    def matrix(self, name: str) -> Matrix:
        """Return a matrix."""
        return Matrix(self.whole(name), self._tensor(name).shape[1])

    def _tensor(self, name: str) -> Tensor:
        if name not in self._tensors:
            raise ForgedError(f"tensor {name} is needed but not in the claim")
        return self._tensors[name]


def decode(content: bytes) -> Vector:
    """Return the exact values of FP32 bytes.

    The upper nine bits of a word, sign and exponent, say what its fraction is multiplied with.
    """
    words = _words(content)
    uppers = {word >> _FRACTION_BITS for word in words}
    used = {word >> _FRACTION_BITS for word in words if word & _MAGNITUDE}
    least = min([_UNIT, *map(_exponent, used)])
    leading = {upper: bool(upper & _EXPONENT) << _FRACTION_BITS for upper in uppers}
    factor = {upper: _sign(upper) << max(_exponent(upper) - least, 0) for upper in uppers}
    numbers = (
        (word & _FRACTION | leading[upper]) * factor[upper]
        for word, upper in zip(words, [word >> _FRACTION_BITS for word in words], strict=True)
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
    if len(content) < _LENGTH:
        raise ForgedError(f"{where} has {len(content)} bytes, want a safetensors file")
    start = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
    if start > len(content):
        raise ForgedError(f"{where} is truncated: the header ends at {start}, the file at {len(content)}")
    header = mapping(parse_json(content[_LENGTH:start], f"{where}: header"), f"{where}: header")
    header.pop("__metadata__", None)
    spans = {name: _read_span(entry, f"{where}: tensor {name}") for name, entry in header.items()}
    rule_spans_fill_the_file(list(spans.values()), len(content) - start, where)
    return {
        name: Tensor(shape, content[start + begin : start + end])
        for name, (begin, end, shape) in spans.items()
    }


def _read_span(value: object, where: str) -> tuple[int, int, tuple[int, ...]]:
    dtype, shape, offsets = fields(value, where, "dtype", "shape", "data_offsets")
    rule_numbers_are_fp32(dtype, where)
    sizes = integers(shape, f"{where}: shape", 0)
    begin, end, *more = (*integers(offsets, f"{where}: data_offsets", 0), -1, -1)
    if more != [-1, -1] or end - begin != _NUMBER * prod(sizes):
        raise ForgedError(f"{where} has data_offsets {show(offsets)}, want a span for shape {sizes}")
    return begin, end, sizes


def rule_numbers_are_fp32(dtype: object, where: str) -> None:
    """Tensors are FP32."""
    if dtype != "F32":
        raise ForgedError(f"{where} has numbers of type {show(dtype)}, want F32")


def rule_spans_fill_the_file(spans: list[tuple[int, int, tuple[int, ...]]], size: int, where: str) -> None:
    """The tensors lie one after the other from the header to the end of the file."""
    place = 0
    for begin, end, _ in sorted(spans):
        if begin != place:
            raise ForgedError(f"{where}: a tensor begins at {begin}, want {place}: a gap or an overlap")
        place = end
    if place != size:
        raise ForgedError(f"{where}: the tensors end at {place}, the file at {size}")


def rule_tensors_are_those_of_the_claim(slices: Mapping[str, Slice], tensors: Mapping[str, Tensor]) -> None:
    """The tensors of the file are just those of the claim."""
    if missing := sorted(slices.keys() - tensors.keys()):
        raise ForgedError(f"tensor {missing[0]} is in the claim but not in the file")
    if extra := sorted(tensors.keys() - slices.keys()):
        raise ForgedError(f"tensor {show(extra[0])} is in the file but not in the claim")


def rule_stored_shape_is_claimed(name: str, part: Slice, tensor: Tensor) -> None:
    """The file holds the full tensor, or just its claimed rows."""
    shape = part.shape if part.rows is None else (len(part.rows), *part.shape[1:])
    if tensor.shape != shape:
        raise ForgedError(f"tensor {name} has shape {tensor.shape} in the file, want {shape}")


def rule_full_tensor_has_its_digest(name: str, part: Slice, tensor: Tensor) -> None:
    """A full tensor's bytes have the claimed digest."""
    if part.rows is None and sha256(tensor.content) != part.digest:
        raise ForgedError(f"tensor {name} has digest {sha256(tensor.content)}, want {show(part.digest)}")


def rule_numbers_are_finite(name: str, tensor: Tensor) -> None:
    """Infinities and NaN are refused."""
    if any(word >> _FRACTION_BITS & _EXPONENT == _EXPONENT for word in _words(tensor.content)):
        raise ForgedError(f"tensor {name} holds an infinite number or NaN")
