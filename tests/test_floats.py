"""How tests compare floating-point numbers, and that none of them does it otherwise."""

import ast
import os
from pathlib import Path

import pytest
import torch

from floats import agree, within

GUESSES = {"allclose", "isclose", "assert_close", "assert_allclose", "approx", "atol", "rtol"}
"""What compares with a tolerance that somebody guessed on some machine."""
TESTS = Path(__file__).resolve().parent


def guesses(source: str) -> set[str]:
    """Return the names of such comparisons in a program: functions called, methods, and arguments."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name) | ast.keyword(arg=str(name)):
                found.add(name)
            case ast.ImportFrom(names=imported):
                found.update(alias.name for alias in imported)
    return found & GUESSES


@pytest.mark.parametrize("path", sorted(TESTS.rglob("*.py")), ids=lambda path: str(path.relative_to(TESTS)))
def test_no_test_guesses_how_far_off_a_number_may_be(path):
    """It would hold on the machine where it was written; `floats` has `agree` and `within` instead."""
    assert guesses(path.read_text()) == set()


def test_guesses_are_seen_however_they_are_written():
    """Called through a module, imported by name, or as an argument."""
    assert guesses("torch.allclose(a, b)\nnp.testing.assert_allclose(a, b, rtol=1)") == {
        "allclose",
        "assert_allclose",
        "rtol",
    }
    assert guesses("from pytest import approx\nfrom math import isclose") == {"approx", "isclose"}
    assert guesses("# allclose\nprint('approx')") == set()


def test_numbers_agree_in_half_of_their_digits_and_no_fewer():
    """Relative to the largest of them, or to one where all are smaller."""
    assert agree([1e9, 1.0], [1e9 + 1, 2.0])
    assert not agree([1e9, 1.0], [1e9 + 100, 1.0])
    assert agree(1e-9, 0.0)
    assert not agree(1e-7, 0.0)
    assert not agree(float("nan"), 0.0)
    assert not agree(torch.tensor([float("inf")]).double(), [1.0])
    assert agree([], [])


def test_fp32_is_not_compared_as_if_it_were_exact():
    """Its last digits are the CPU's."""
    with pytest.raises(AssertionError, match=r"torch.float32 is compared; convert the model with .double"):
        agree(torch.zeros(2), torch.zeros(2))
    with pytest.raises(AssertionError, match=r"shapes \(2,\) and \(3,\)"):
        agree([1.0, 2.0], [1.0, 2.0, 3.0])


def test_roundings_are_counted_in_units_of_the_size_given():
    """One rounding to FP32 of a number below two is at most 2⁻²⁴ of two."""
    third = torch.tensor(1 / 3)
    assert within(third, 1 / 3, roundings=1, size=1 / 3)
    assert not within(third + 2**-23, 1 / 3, roundings=1, size=1 / 3)
    assert not within(torch.tensor(float("nan")), 0.0, roundings=9, size=1)


@pytest.mark.skipif("CIRCUITPROOF_ROUNDING" not in os.environ, reason="this run rounds as the machine does")
def test_another_rounding_is_another_and_the_same_every_time():
    """Long numbers move by at most one neighbour, short ones and products with zeros not at all."""
    left, right = torch.rand(5, 6, generator=torch.Generator().manual_seed(0)), torch.eye(6)
    moved = left @ right
    assert not torch.equal(moved, left)
    assert torch.equal(moved, left @ right)
    assert within(moved, left, roundings=2, size=1)
    assert torch.equal(torch.ones(2, 6) @ right, torch.ones(2, 6))
    assert torch.equal(torch.nn.functional.linear(torch.zeros(1, 6), right, left[0])[0], left[0])
