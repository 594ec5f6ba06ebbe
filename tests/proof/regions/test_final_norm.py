"""Bounds through a final layer norm, against real numbers of fifty digits and every corner of the ball."""

import random
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest

from circuitproof.arithmetic.balls import Balls
from circuitproof.arithmetic.grid import Grid
from circuitproof.arithmetic.limbs import limbs_of
from circuitproof.models.operators import LayerNorm
from circuitproof.proof.arithmetic import EnclosedNumbers, EnclosedRow
from circuitproof.proof.enclosed import NotKnown
from circuitproof.proof.regions.final_norm import FinalNorm, NormedDecision

BITS = 64
UNIT = Fraction(1, 1 << BITS)


def grid(rows: list[list[int]], exponent: int = -3) -> Grid:
    """Return multiples of an eighth."""
    return Grid(np.array(rows, dtype=np.int64), exponent, (1,) * len(rows))


def decision_of(seed: int, *, has_offset: bool = True, radius: int = 1000) -> NormedDecision:
    """Return what a random readout decides of a random residual; it is known."""
    draw = random.Random(seed)  # noqa: S311  # numbers, not keys
    width, count = draw.choice((1, 2, 3, 5)) if has_offset else draw.choice((3, 5)), draw.choice((2, 3, 4))
    rows = grid([[draw.randint(-16, 16) for _ in range(width)] for _ in range(count)])
    scale = grid([[draw.choice((-9, 4, 8, 13)) for _ in range(width)]])
    shift = grid([[draw.randint(-8, 8) * has_offset for _ in range(width)]])
    bias = grid([[draw.randint(-8, 8) for _ in range(count)]]) if has_offset else None
    norm = FinalNorm(LayerNorm(Fraction(1, draw.choice((10, 10**5)))), (scale, shift), rows, bias)
    numbers = EnclosedNumbers(BITS)
    residual = tuple(draw.randint(-(1 << BITS), 1 << BITS) for _ in range(width))
    (logits,) = norm.logits(Balls(limbs_of(np.array([residual], dtype=object)), (radius,)), numbers)
    if isinstance(logits.decision, NotKnown):
        return decision_of(seed + 1000, has_offset=has_offset, radius=radius)
    return NormedDecision(norm, numbers, logits, EnclosedRow(residual, radius, UNIT))


def real_decision(found: NormedDecision, eta: tuple[Fraction, ...]) -> int:
    """Return which candidate leads in real numbers, with something added to the midpoints."""
    norm = found.norm
    x = [number * UNIT + move for number, move in zip(found.residual.numbers, eta, strict=True)]
    centred = [one - sum(x) / len(x) for one in x]
    variance = sum(one * one for one in centred) / len(x) + norm.norm.epsilon
    (scale,), (shift,) = (one.fractions() for one in norm.gain)
    biases = norm.bias.fractions()[0] if norm.bias else [0] * norm.rows.shape[0]
    with mpmath.workdps(50):
        sigma = mpmath.sqrt(mpmath.mpmathify(variance))
        triples = list(zip(scale, centred, shift, strict=True))
        normed = [mpmath.mpmathify(a * c) / sigma + mpmath.mpmathify(b) for a, c, b in triples]
        logits = [
            mpmath.fdot(map(mpmath.mpmathify, row), normed) + mpmath.mpmathify(Fraction(bias))
            for row, bias in zip(norm.rows.fractions(), biases, strict=True)
        ]
        return logits.index(max(logits))


@pytest.mark.parametrize("seed", range(40))
def test_what_is_kept_is_kept_at_every_corner_and_inside(seed):
    """The largest proved size; a unit more is not proved."""
    found, draw = decision_of(seed), random.Random(seed)  # noqa: S311  # points, not keys
    size = found.kept_below()
    width = len(found.residual.numbers)
    if size is None:
        assert found.keeps(Fraction(1000)) is True
        size = Fraction(1000)
    elif size:
        assert found.keeps(size) is True
        assert found.keeps(size + UNIT) is not True
    points = [tuple(size * sign for sign in signs) for signs in product((-1, 1), repeat=width)]
    points += [tuple(size * draw.randint(-8, 8) / 8 for _ in range(width)) for _ in range(8)]
    assert {real_decision(found, eta) for eta in points} == {found.winner}


@pytest.mark.parametrize("seed", range(40))
def test_what_changes_a_decision_does_so_in_real_numbers(seed):
    """A perturbation of just the size that is said, and above what is kept."""
    found = decision_of(seed)
    broken = found.broken_at()
    if broken is None:
        return
    size, eta = broken
    kept = found.kept_below()
    assert kept is not None
    assert kept < size == max(map(abs, eta))
    assert found.keeps(size) is False
    assert real_decision(found, eta) != found.winner


@pytest.mark.parametrize("seed", range(10))
def test_without_an_offset_the_two_bounds_meet(seed):
    """Then a lead times the deviation is affine, and only the radius is lost."""
    found = decision_of(seed, has_offset=False)
    kept, broken = found.kept_below(), found.broken_at()
    assert kept is not None
    assert broken is not None
    assert broken[0] - kept < kept / (1 << 16)


def test_between_the_bounds_more_bits_cannot_help_and_next_to_them_they_may():
    """The gap of the bound does not close with precision, what a radius takes does."""
    wide = next(one for one in map(decision_of, range(40)) if gap(one) is not None)
    kept, broken = gap(wide)
    assert wide.keeps((kept + broken) / 2) is not True
    assert not wide.may_be_decided((kept + broken) / 2)
    blurred = decision_of(3, radius=1 << 50)
    size = blurred.kept_below()
    assert size is not None
    assert blurred.keeps(size + UNIT) is not True
    assert blurred.may_be_decided(size + UNIT)


def gap(found: NormedDecision) -> tuple[Fraction, Fraction] | None:
    """Return bounds that are clearly apart, if they are."""
    kept, broken = found.kept_below(), found.broken_at()
    is_apart = kept is not None and broken is not None and broken[0] > kept * Fraction(11, 10) > 0
    return (kept, broken[0]) if is_apart else None
