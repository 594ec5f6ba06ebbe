"""Evidence that a decision holds in a region: a tree of sign splits whose leaves are bounded by weights.

The children of a split exhaust the signs that a form can have, so the leaves cover the ball by
construction. In a leaf every branch of the circuit is known, so margins are forms; weights on the leaf's
bounds show that each is positive there, or that nothing is there at all (Farkas and Motzkin).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, assert_never

from circuitproof.arithmetic.forms import BOUNDS, Bound, Form, Region, Sign
from circuitproof.errors import DeclarationError
from circuitproof.files.canonical import Json
from circuitproof.files.reading import write_rational

FarkasWeights: TypeAlias = tuple[Fraction, ...]
"""A weight per bound of a region, in their order."""

_SPELLED = {sign: name for name, sign in BOUNDS.items()}


@dataclass(frozen=True, slots=True)
class SignSplit:
    """Which sign has this form? A child per set of signs; together they leave none out."""

    form: Form
    children: "tuple[tuple[Sign, BranchTree], ...]"


@dataclass(frozen=True, slots=True)
class Kept:
    """The decision is kept: at `point` the branches can be read off, and each competitor has its weights."""

    point: tuple[Fraction, ...]
    weights: tuple[FarkasWeights, ...]


@dataclass(frozen=True, slots=True)
class Void:
    """No perturbation is here."""

    weights: FarkasWeights


@dataclass(frozen=True, slots=True)
class Unsearched:
    """The search ended before this region; no perturbation of it below `distance` changes the decision."""

    distance: Fraction


BranchTree: TypeAlias = SignSplit | Kept | Void | Unsearched


def is_positive(goal: Form, region: Region, weights: FarkasWeights) -> bool:
    """Say whether weights show that a form is positive in a region.

    A bound says that its downward form is at most zero, so adding it with a weight that is not negative can
    only lower the goal. What is left has a closed minimum over the ball. A minimum of zero suffices if it
    is not attained: a strict bound has weight, or the ball is open and the sum is not constant. For an
    equality the weight may have any sign. With the goal zero, it shows that the region is empty.
    """
    pairs = list(zip(region.bounds, weights, strict=True))
    if any(weight < 0 and not bound.is_equality for bound, weight in pairs):
        return False
    constant, spread = combined(goal, region.bounds, weights)
    least = constant - region.radius * spread
    is_strict = any(weight > 0 and bound.is_strict for bound, weight in pairs)
    return least > 0 or (least == 0 and (is_strict or (region.is_open and spread > 0)))


def combined(goal: Form, bounds: Sequence[Bound], weights: FarkasWeights) -> tuple[Fraction, Fraction]:
    """Return the constant and the spread of a form plus weighted bounds, each in its downward form."""
    forms = [(goal, Fraction(1))]
    forms += [(bound.downward(), weight) for bound, weight in zip(bounds, weights, strict=True) if weight]
    constant = sum((form.constant * weight for form, weight in forms), Fraction(0))
    columns = zip(*([slope * weight for slope in form.slopes] for form, weight in forms), strict=True)
    return constant, sum((abs(sum(column, Fraction(0))) for column in columns), Fraction(0))


def leaves(tree: BranchTree) -> Iterator[Kept | Void | Unsearched]:
    if isinstance(tree, SignSplit):
        for _, child in tree.children:
            yield from leaves(child)
    else:
        yield tree


def searched_radius(tree: BranchTree, radius: Fraction) -> Fraction:
    """Return a radius below which no perturbation in a part that was not searched changes the decision."""
    return min([radius, *(leaf.distance for leaf in leaves(tree) if isinstance(leaf, Unsearched))])


@dataclass(frozen=True, slots=True)
class Widening:
    """Where the coordinates that matter stand among all that are declared; the others are zero."""

    places: tuple[int, ...]
    count: int

    def tree(self, tree: BranchTree) -> BranchTree:
        """Return a tree about the coordinates that matter as one about all."""
        match tree:
            case SignSplit(form, children):
                slopes = dict(zip(self.places, form.slopes, strict=True))
                wide = Form(form.constant, tuple(slopes.get(place, 0) for place in range(self.count)))
                return SignSplit(wide, tuple((sign, self.tree(child)) for sign, child in children))
            case Kept(point, weights):
                return Kept(self.point(point), weights)
            case Void() | Unsearched():
                return tree
            case _:
                assert_never(tree)

    def point(self, point: Sequence[Fraction]) -> tuple[Fraction, ...]:
        entries = dict(zip(self.places, point, strict=True))
        return tuple(entries.get(place, Fraction(0)) for place in range(self.count))


def tree_to_json(tree: BranchTree) -> Json:
    match tree:
        case SignSplit(form, children):
            named: dict[str, Json] = {_SPELLED[sign]: tree_to_json(child) for sign, child in children}
            return {"sign": _rationals((form.constant, *form.slopes)), "children": named}
        case Kept(point, weights):
            return {"point": _rationals(point), "weights": [_rationals(row) for row in weights]}
        case Void(weights):
            return {"void": _rationals(weights)}
        case Unsearched():
            raise DeclarationError("a tree with parts that were not searched proves nothing")
        case _:
            assert_never(tree)


def _rationals(numbers: Sequence[Fraction | int]) -> list[Json]:
    return [write_rational(Fraction(number)) for number in numbers]
