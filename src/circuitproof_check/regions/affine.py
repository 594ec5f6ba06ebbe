"""Vectors affine in a perturbation, and the operators with branches, on a region where these are known."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from circuitproof_check import exact
from circuitproof_check.architecture import Band
from circuitproof_check.exact import (
    Vector,
    centred,
    common_multiple,
    longest,
    mix,
    projected,
    total,
    vector,
)
from circuitproof_check.reading import require
from circuitproof_check.work import NUMBER, STEP, paid, spend, spend_numbers

from .forms import Region, SignSet

_AT_LEAST: SignSet = frozenset({0, 1})
_AT_MOST: SignSet = frozenset({-1, 0})
_MORE: SignSet = frozenset({1})

Entries = Sequence[int]
"""A coordinate of a vector as a form: its constant, and the slopes that are not left out."""


@dataclass(frozen=True, slots=True)
class AffineVector:
    """A constant vector, and the slope vectors of the coordinates of η on which it depends."""

    constant: Vector
    slopes: Mapping[int, Vector]

    def each(self, linear: Callable[[Vector], Vector]) -> "AffineVector":
        """Return a linear map of the vector."""
        images = {place: linear(slope) for place, slope in self.slopes.items()}
        return AffineVector(
            linear(self.constant), {k: slope for k, slope in images.items() if any(slope.numbers)}
        )


def constant(point: Vector) -> AffineVector:
    """Return a vector that does not depend on η."""
    return AffineVector(point, {})


def moved(terms: Iterable[AffineVector], linear: Callable[[Vector], Vector], width: int) -> dict[int, Vector]:
    """Return the slopes of a linear map of a sum."""
    images: dict[int, list[Vector]] = {}
    for term in terms:
        spend(STEP + len(term.slopes) * (NUMBER + width // 4))
        for place, slope in term.slopes.items():
            images.setdefault(place, []).append(linear(slope))
    sums = {place: total(images[place], width) for place in sorted(images)}
    return {place: slope for place, slope in sums.items() if any(slope.numbers)}


def joined(terms: Sequence[AffineVector], width: int) -> AffineVector:
    return AffineVector(total([term.constant for term in terms], width), moved(terms, lambda one: one, width))


def weighted(weights: Sequence[Fraction | int], terms: Sequence[AffineVector], width: int) -> AffineVector:
    spend(sum(STEP + STEP * len(term.slopes) for term in terms))
    fixed = mix(weights, [term.constant for term in terms], width)
    slopes: dict[int, Vector] = {}
    for place in sorted({place for term in terms for place in term.slopes}):
        spend(STEP * len(terms))
        pairs = [(w, t.slopes[place]) for w, t in zip(weights, terms, strict=True) if place in t.slopes]
        slopes[place] = mix([w for w, _ in pairs], [slope for _, slope in pairs], width)
    return AffineVector(fixed, {place: slope for place, slope in slopes.items() if any(slope.numbers)})


class Columns:
    """The coordinates of an affine vector as forms, in integers over one denominator."""

    def __init__(self, point: AffineVector, *multiples: int) -> None:
        self.slopes = tuple(paid(point.slopes, NUMBER))
        vectors = [point.constant, *(point.slopes[place] for place in self.slopes)]
        self.denominator = common_multiple([*multiples, *(one.denominator for one in vectors)])
        bits = max(one.bits for one in vectors) + self.denominator.bit_length()
        spend_numbers(len(vectors) * len(point.constant.numbers), bits)
        rows = [[number * (self.denominator // one.denominator) for number in one.numbers] for one in vectors]
        self.entries: list[Entries] = list(zip(*rows, strict=True))

    def back(self, entries: Sequence[Entries], divisor: int = 1) -> AffineVector:
        """Return other coordinates, which depend on the same η, as a vector."""
        below = self.denominator * divisor
        spend(STEP * len(entries) * (1 + len(self.slopes)))
        fixed, *slopes = (vector(row, below) for row in zip(*entries, strict=True))
        pairs = zip(self.slopes, slopes, strict=True)
        return AffineVector(fixed, {place: slope for place, slope in pairs if any(slope.numbers)})

    def units(self, number: Fraction) -> int:
        """Return a number, whose denominator is one of the multiples, over the denominator."""
        return number.numerator * (self.denominator // number.denominator)


class SampledRegion:
    """A region of η, and a point at which branches are read off; they must be known to hold in the region."""

    def __init__(self, region: Region, point: Sequence[Fraction]) -> None:
        self._region, self._size = region, len(point)
        self._unit = common_multiple([entry.denominator for entry in paid(point)])
        spend_numbers(len(point), self._unit.bit_length())
        self._point = [entry.numerator * (self._unit // entry.denominator) for entry in point]

    def demand(self, entries: Entries, slopes: Sequence[int], wanted: SignSet, where: str) -> None:
        """Demand that a form has only wanted signs in the region; `slopes` are the η that it depends on."""
        require("branches_are_known", self._signs(entries, slopes) <= wanted, where, entries[0])

    def _signs(self, entries: Entries, slopes: Sequence[int]) -> SignSet:
        return self._region.signs(spread(entries, slopes, self._size))

    def sign(self, entries: Entries, slopes: Sequence[int]) -> int:
        """Return a form's sign in the region if it is known, otherwise that at the point."""
        known = self._signs(entries, slopes)
        if len(known) == 1:
            return next(iter(known))
        value = self._value(entries, slopes)
        return (value > 0) - (value < 0)

    def values(self, columns: Columns) -> Vector:
        values = [self._value(entries, columns.slopes) for entries in columns.entries]
        return vector(values, columns.denominator * self._unit)

    def _value(self, entries: Entries, slopes: Sequence[int]) -> int:
        spend_numbers(len(entries), longest(entries) * (1 + self._unit.bit_length() // 1800))
        moved = sum(entry * self._point[place] for entry, place in zip(entries[1:], slopes, strict=True))
        return entries[0] * self._unit + moved


def spread(entries: Entries, slopes: Sequence[int], size: int) -> list[int]:
    """Return a form with a slope for each coordinate of η, of those that are left out zero."""
    spend(STEP * (size + 1))
    numbers = [0] * (size + 1)
    numbers[0] = entries[0]
    for place, entry in zip(slopes, entries[1:], strict=True):
        numbers[place + 1] = entry
    return numbers


def rectified(sampled: SampledRegion, point: AffineVector, slope: Fraction, where: str) -> AffineVector:
    """Return coordinates that are not negative as they are, and the others times `slope`."""
    if not point.slopes:
        return constant(exact.rectified(point.constant, slope))
    columns, result = Columns(point), list[Entries]()
    for entries in columns.entries:
        is_up = sampled.sign(entries, columns.slopes) >= 0
        sampled.demand(entries, columns.slopes, _AT_LEAST if is_up else _AT_MOST, where)
        factor = slope.denominator if is_up else slope.numerator
        spend_numbers(len(entries), longest(entries) + slope.denominator.bit_length())
        result.append([entry * factor for entry in entries])
    return columns.back(result, slope.denominator)


def nearest(
    sampled: SampledRegion, point: AffineVector, mass: Fraction, where: str, cut: SignSet | None = None
) -> AffineVector:
    """Return max(c − τ, 0) with τ such that the sum is `mass`; with `cut`, τ must have one of these signs.

    With the support S that it has at the point, τ = (Σ_S c − mass)/|S|. That is right wherever c_i ≥ τ for
    the members of S and c_i ≤ τ for the others.
    """
    if not point.slopes and cut is None:
        return constant(projected(point.constant, mass))
    columns = Columns(point, mass.denominator)
    spend_numbers(len(columns.entries) * (1 + len(columns.slopes)), 0)
    support = [number > 0 for number in projected(sampled.values(columns), mass).numbers]
    members = [entries for entries, is_in in zip(columns.entries, support, strict=True) if is_in]
    threshold, size = [sum(entry) for entry in zip(*members, strict=True)], len(members)
    threshold[0] -= columns.units(mass)
    if cut is not None:
        sampled.demand(threshold, columns.slopes, cut, where)
    result: list[Entries] = []
    for entries, is_in in zip(columns.entries, support, strict=True):
        spend_numbers(len(entries), longest(entries))
        above = [size * entry - other for entry, other in zip(entries, threshold, strict=True)]
        sampled.demand(above, columns.slopes, _AT_LEAST if is_in else _AT_MOST, where)
        result.append(above if is_in else [0] * len(above))
    return columns.back(result, size)


def banded(sampled: SampledRegion, point: AffineVector, norm: Band, where: str) -> AffineVector:
    """Return the vector centred, with the mass of each sign brought into the band, and centred again."""
    width = len(point.constant.numbers)
    centre = point.each(centred)
    sides = [
        _side(sampled, centre, norm, 0, where),
        _side(sampled, weighted([-1], [centre], width), norm, 1, where),
    ]
    return weighted([1, -1], sides, width).each(centred)


def _side(sampled: SampledRegion, centre: AffineVector, norm: Band, first: int, where: str) -> AffineVector:
    """Bring the positive side into the band by the branch that it takes at the point.

    Its mass is at least `high` just where the τ for that mass is at least zero, and at most `low` just where
    the τ for that mass is at most zero.
    """
    columns = Columns(centre, norm.low.denominator, norm.high.denominator)
    there = sampled.values(columns)
    spend_numbers(len(there.numbers) * (1 + len(columns.slopes)), there.bits)
    mass = Fraction(sum(max(number, 0) for number in there.numbers), there.denominator)
    if mass > norm.high:
        return nearest(sampled, centre, norm.high, where, _AT_LEAST)
    if mass < norm.low and norm.is_continuous:
        return nearest(sampled, centre, norm.low, where, _AT_MOST)
    is_low = mass < norm.low
    raised = [sampled.sign(entries, columns.slopes) > 0 for entries in columns.entries]
    for entries, is_up in zip(columns.entries, raised, strict=True):
        wanted = _AT_MOST if not is_up else _MORE if is_low else _AT_LEAST
        sampled.demand(entries, columns.slopes, wanted, where)
    nothing = [0] * (len(columns.slopes) + 1)
    side = [entries if is_up else nothing for entries, is_up in zip(columns.entries, raised, strict=True)]
    return (_lifted if is_low else _within)(sampled, columns, side, (norm, first, where))


def _within(
    sampled: SampledRegion, columns: Columns, side: list[Entries], about: tuple[Band, int, str]
) -> AffineVector:
    """Return a side whose mass lies in the band."""
    norm, _, where = about
    spend_numbers(len(side) * (1 + len(columns.slopes)), columns.denominator.bit_length())
    mass = [sum(entry) for entry in zip(*side, strict=True)]
    for bound, wanted in ((norm.low, _AT_LEAST), (norm.high, _AT_MOST)):
        sampled.demand([mass[0] - columns.units(bound), *mass[1:]], columns.slopes, wanted, where)
    return columns.back(side)


def _lifted(
    sampled: SampledRegion, columns: Columns, side: list[Entries], about: tuple[Band, int, str]
) -> AffineVector:
    """Return a side whose mass is below the band, with what it lacks shared by its positive coordinates."""
    norm, first, where = about
    spend_numbers(2 * len(side) * (1 + len(columns.slopes)), columns.denominator.bit_length())
    lacking = [-sum(entry) for entry in zip(*side, strict=True)]
    lacking[0] += columns.units(norm.low)
    sampled.demand(lacking, columns.slopes, _AT_LEAST, where)
    takers = [any(entries) for entries in side]
    if not any(takers):
        takers = [place % 2 == first for place in range(len(side))]
    count = sum(takers)
    raised = [
        [count * entry + takes * share for entry, share in zip(entries, lacking, strict=True)]
        for entries, takes in zip(side, takers, strict=True)
    ]
    return columns.back(raised, count)
