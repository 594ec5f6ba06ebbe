"""The tables of rotary positions, as most models have them: computed in FP64, to be rounded to FP32.

A proof is about the tables that a model holds, whatever made them. A model that runs in FP32 computes its own
with other roundings, so that its logits differ from these in the last digits of FP32.
"""

from collections.abc import Sequence
from math import cos, sin
from typing import TypeAlias

USUAL_BASE = 10_000.0
RotaryTable: TypeAlias = Sequence[Sequence[float]]


def rotary_tables(context: int, rotary: int, base: float = USUAL_BASE) -> tuple[RotaryTable, RotaryTable]:
    """Return cosines and sines of position / base^(2m/rotary), a row per position, a column per pair m.

    >>> rotary_tables(1, 4)
    ([[1.0, 1.0]], [[0.0, 0.0]])
    """
    speeds = [base ** (-2 * pair / rotary) for pair in range(rotary // 2)]
    angles = [[position * speed for speed in speeds] for position in range(context)]
    return [list(map(cos, row)) for row in angles], [list(map(sin, row)) for row in angles]
