"""Small circuits that bend after a perturbation, and slow ways to see what a perturbation does to them."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

from hypothesis import strategies as st

import twin
from circuitproof.models.operators import BandNorm, Lift
from circuitproof.proof.regions.disturbed import Disturbed, Question, disturb_residual
from hand_models import PLAIN, build, circuit_of, freeze

WIDTH = 3
small = st.integers(-4, 4)
vectors = st.lists(small, min_size=WIDTH, max_size=WIDTH)


@st.composite
def normed(draw):
    """Draw a residual of three numbers that passes a BandNorm and is read by two or three candidates."""
    norm = BandNorm(Fraction(1), Fraction(2), draw(st.sampled_from(Lift)))
    residual = [Fraction(number, 2) for number in draw(vectors)]
    count = draw(st.integers(2, 3))
    return norm, residual, draw(st.lists(vectors, min_size=count, max_size=count))


def function_of(
    norm: BandNorm, residual: Sequence[Fraction], readout: Sequence[Sequence[int]], shift: int = 0
) -> Disturbed:
    """Return the logits of a model whose final residual is given, under a perturbation of it."""
    sizes = replace(PLAIN, width=WIDTH, norm=norm)
    weights = {
        "embed.token": [[float(number) for number in residual]] * 5,
        "logits.norm.scale": [1] * WIDTH,
        "logits.norm.shift": [shift] * WIDTH,
        "logits.weight": [*readout, *[[0] * WIDTH] * (5 - len(readout))],
    }
    frozen = freeze(build(weights, sizes))
    (function,) = disturb_residual(
        frozen, tuple(range(len(readout))), circuit_of(["embed -> logits"]), [(0,)]
    )
    return function


def question_of(drawn) -> Question | None:
    """Return the question whether a drawn decision is kept, unless it ties."""
    function = function_of(*drawn)
    found = function.fold((Fraction(0),) * WIDTH)
    return Question(function, found.winner) if found.is_clear else None


def decides(drawn, eta: Sequence[Fraction]) -> set[int]:
    """Return the maximal candidates under a perturbation, by the slow twin of the norm."""
    norm, residual, readout = drawn
    normed_residual = twin.band_norm(norm, [a + b for a, b in zip(residual, eta, strict=True)])
    logits = [twin.dot(row, normed_residual) for row in readout]
    return {place for place, logit in enumerate(logits) if logit == max(logits)}


def grid_points(radius: Fraction, steps: int) -> list[tuple[Fraction, ...]]:
    """Return the points of a grid over the ball, corners and centre included."""
    ticks = [radius * Fraction(k, steps) for k in range(-steps, steps + 1)]
    return list(product(ticks, repeat=WIDTH))
