"""The logit difference, the loss and the recovered share of prompts, each between two bounds in units.

docs/certificate.md says what each bound is and why it holds ("A measure is computed by the checker alone").
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import ceil, floor
from typing import TypeAlias

from circuitproof.arithmetic.limbs import column
from circuitproof.arithmetic.transcendental import floor_exp, floor_ln
from circuitproof.proof.brackets import KnownRange
from circuitproof.proof.enclosed import Enclosed
from circuitproof.proof.fold import CandidateLogits

UnitBounds: TypeAlias = tuple[int, int]
"""What a number of one prompt is no less and no more than, in units."""


def enclosed_rows(found: Iterable[CandidateLogits]) -> tuple[Enclosed, ...]:
    """Return logits where only enclosed ones will do."""
    rows = tuple(found)
    enclosed = tuple(one for one in rows if isinstance(one, Enclosed))
    if len(enclosed) < len(rows):
        raise TypeError("logits are exact where enclosed ones are wanted; claim in enclosed arithmetic")
    return enclosed


def differences(rows: Sequence[Enclosed], right: Sequence[int]) -> list[UnitBounds]:
    """Return by how much the right candidate leads over the best other on each prompt."""
    leads = [(int(row.lead(place)), 2 * int(row.reach)) for row, place in zip(rows, right, strict=True)]
    return [(lead - reach, lead + reach) for lead, reach in leads]


def losses(rows: Sequence[Enclosed], right: Sequence[int], precision: int) -> list[UnitBounds]:
    """Return −ln of the softmax of the right candidate's logit on each prompt."""
    tops = [int(max(row.numbers)) for row in rows]
    powers = [
        int(sum(floor_exp(column(int(one) - top for one in row.numbers), precision).tolist()))
        for row, top in zip(rows, tops, strict=True)
    ]
    counted = [total + len(row.numbers) for total, row in zip(powers, rows, strict=True)]
    logs = (floor_ln(column(sums), precision).tolist() for sums in (powers, counted))
    found = list[UnitBounds]()
    for row, place, top, low, high in zip(rows, right, tops, *logs, strict=True):
        behind, reach = top - int(row.numbers[place]), 2 * int(row.reach)
        found.append((low + behind - reach, high + 1 + behind + reach))
    return found


def recovered_shares(
    own: Sequence[UnitBounds], model: Sequence[UnitBounds], none: Sequence[UnitBounds], precision: int
) -> list[UnitBounds | None]:
    """Return which share of what the model gains over no edge a circuit gains, on each prompt.

    Nothing where it is not known that the model gains or loses anything.
    """
    return [
        _share(_less(one, bare), _less(whole, bare), precision)
        for one, whole, bare in zip(own, model, none, strict=True)
    ]


def _less(one: UnitBounds, other: UnitBounds) -> UnitBounds:
    return one[0] - other[1], one[1] - other[0]


def _share(gained: UnitBounds, by_model: UnitBounds, precision: int) -> UnitBounds | None:
    if by_model[0] <= 0 <= by_model[1]:
        return None
    quotients = [Fraction(n << precision, d) for n in gained for d in by_model]
    return floor(min(quotients)), ceil(max(quotients))


def mean_of(numbers: Sequence[UnitBounds], precision: int) -> KnownRange:
    scale = len(numbers) << precision
    return KnownRange(
        Fraction(sum(low for low, _ in numbers), scale), Fraction(sum(high for _, high in numbers), scale)
    )


def least_of(numbers: Sequence[UnitBounds], precision: int) -> KnownRange:
    return _in_units(min(low for low, _ in numbers), min(high for _, high in numbers), precision)


def greatest_of(numbers: Sequence[UnitBounds], precision: int) -> KnownRange:
    return _in_units(max(low for low, _ in numbers), max(high for _, high in numbers), precision)


def _in_units(low: int, high: int, precision: int) -> KnownRange:
    return KnownRange(Fraction(low, 1 << precision), Fraction(high, 1 << precision))
