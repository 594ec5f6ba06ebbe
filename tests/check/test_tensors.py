"""Safetensors files and the exact values of FP32 bits."""

import json
import struct
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bundle_maker as maker
from circuitproof_check.reading import ForgedError
from circuitproof_check.tensors import Slice, Weights, decode, read_safetensors

floats = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(st.lists(floats, min_size=1, max_size=8))
def test_the_value_of_bits_is_exact(numbers):
    """Large, small, subnormal, zero of either sign."""
    assert list(decode(maker.raw(numbers)).fractions()) == [Fraction(number) for number in numbers]


def test_subnormals_and_negative_zero_have_their_values():
    """The smallest number is two to the power of minus 149."""
    found = decode(struct.pack("<4I", 1, 0x80000001, 0x80000000, 0x3F800000)).fractions()
    assert found == (Fraction(1, 2**149), Fraction(-1, 2**149), 0, 1)


def test_the_largest_number_is_an_integer():
    """Its exponent is above that of the unit."""
    assert decode(struct.pack("<I", 0x7F7FFFFF)).fractions() == ((2**24 - 1) * 2**104,)


def file(header: object, content: bytes) -> bytes:
    """Return a safetensors file with any header."""
    spelled = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(spelled)) + spelled + content


def entry(begin: int, end: int, shape: list[int], dtype: str = "F32") -> dict[str, object]:
    """Return the header of a tensor."""
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def test_a_file_is_read_tensor_by_tensor():
    """In any order of the header, and without its metadata."""
    header = {"__metadata__": {"a": "b"}, "b": entry(4, 12, [2]), "a": entry(0, 4, [1, 1])}
    tensors = read_safetensors(file(header, bytes(range(12))), "file")
    assert {name: tensor.shape for name, tensor in tensors.items()} == {"a": (1, 1), "b": (2,)}
    assert tensors["b"].row(1) == bytes(range(8, 12))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0" * 7,
        struct.pack("<Q", 99) + b"{}",
        file(b"[]", b""),
        file(b"{", b""),
        file(b'{"a": 1, "a": 1}', b""),
        file({"a": entry(0, 8, [1])}, bytes(8)),
        file({"a": entry(0, 4, [1])}, bytes(3)),
        file({"a": entry(0, 4, [1])}, bytes(5)),
        file({"a": entry(4, 8, [1])}, bytes(8)),
        file({"a": entry(0, 4, [1]), "b": entry(0, 4, [1])}, bytes(4)),
        file({"a": entry(0, 4, [1]), "b": entry(8, 12, [1])}, bytes(12)),
        file({"a": entry(0, 4, [1], "BF16")}, bytes(4)),
        file({"a": entry(0, 4, [-1])}, bytes(4)),
        file({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0]}}, bytes(4)),
        file({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4, 4]}}, bytes(4)),
        file({"a": {"dtype": "F32", "shape": [1]}}, bytes(4)),
    ],
)
def test_what_is_not_a_safetensors_file_is_refused(content):
    """Truncated, overlapping, with gaps, of another type, or not a header."""
    with pytest.raises(ForgedError):
        read_safetensors(content, "file")


def weights(numbers: list[float], shape: tuple[int, ...], part: Slice) -> Weights:
    """Return the weights of a file with one tensor."""
    return Weights({"a": part}, read_safetensors(maker.safetensors({"a": (shape, numbers)}), "file"))


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_are_not_finite_are_refused(number):
    """They have no exact value."""
    with pytest.raises(ForgedError, match="numbers are finite"):
        weights([1.0, number], (2,), Slice((2,), None, maker.digest(maker.raw([1.0, number]))))


def test_kept_rows_are_found_by_their_place_in_the_full_tensor():
    """The file holds rows 2 and 5 of six."""
    part = weights([1.0, 2.0, 3.0, 4.0], (2, 2), Slice((6, 2), (2, 5), "0" * 64))
    assert part.row("a", 5).fractions() == (3, 4)
    with pytest.raises(ForgedError, match="needed rows are here: found 3"):
        part.row("a", 3)
    with pytest.raises(ForgedError, match="needed tensors are whole"):
        part.whole("a")
