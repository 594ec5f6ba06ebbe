"""The search for evidence by branch and bound: split a ball where a branch is open, until leaves are proved.

Cases are split on the sign of a form that an operator stopped at, as DPLL(T) splits on an atom; linear
programmes close the leaves, with Farkas weights, or find a perturbation that changes the decision.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heappop, heappush
from typing import TypeGuard

from circuitproof.arithmetic.form_matrix import MisplacedError, OpenSignError, SignCondition
from circuitproof.arithmetic.forms import Bound, Form, Region, Sign
from circuitproof.errors import DeclarationError
from circuitproof.proof.effort import UNHURRIED, Effort, Method, Pace
from circuitproof.proof.regions.attack import attack, size_of
from circuitproof.proof.regions.disturbed import Point, Question
from circuitproof.proof.regions.polyhedra import Reached, guess, keep_positive, sample
from circuitproof.proof.regions.regions import (
    BranchTree,
    FarkasWeights,
    Kept,
    SignSplit,
    Unsearched,
    Void,
    leaves,
)
from circuitproof.proof.regions.relax import settled_radius


@dataclass(frozen=True, slots=True)
class Violation:
    """A perturbation after which the decision is another, or none."""

    eta: Point


@dataclass(frozen=True, slots=True)
class Unstable:
    """Conditions of the branches at η = 0 that do not hold in the whole ball."""

    conditions: tuple[SignCondition, ...]


def search_ball(question: Question, radius: Fraction, effort: Effort) -> BranchTree | Violation | Unstable:
    """Return evidence that a closed ball keeps the decision, as far as it goes, or what is against it.

    Where the branches at η = 0 hold in the whole ball there is one leaf. Otherwise an attack may find quickly
    what a search would come to in the end.
    """
    try:
        traced = _trace(question, Region(radius))
        if effort.method is Method.BRANCH or not isinstance(traced, Unstable):
            return traced
        eta = attack(question, effort.pace)
        if eta is not None and size_of(eta) <= radius:
            return Violation(confirmed(question, eta))
        return BranchAndBound(question, radius, effort.budget, effort.pace).explore()
    except _ReachedError as found:
        return Violation(confirmed(question, found.point))


def is_closed(found: object) -> TypeGuard[SignSplit | Kept | Void]:
    """Say whether what was found is a tree without parts that were not searched."""
    is_tree = isinstance(found, SignSplit | Kept | Void)
    return is_tree and not any(isinstance(leaf, Unsearched) for leaf in leaves(found))


def confirmed(question: Question, eta: Point) -> Point:
    """Return a perturbation, once the exact forward pass has shown that it changes the decision."""
    if question.is_kept(eta):
        raise DeclarationError("a perturbation found by the search changes nothing; this is a mistake of it")
    return eta


class _ReachedError(Exception):
    """A leaf of the tree holds a perturbation that changes the decision."""

    def __init__(self, point: Point) -> None:
        super().__init__("a perturbation changes the decision")
        self.point = point


def _trace(question: Question, region: Region) -> Kept | Void | Unstable:
    open_conditions: list[SignCondition] = []
    zero = question.zero()
    margins = question.margins(region, zero, open_conditions)
    if open_conditions:
        return Unstable(tuple(open_conditions))
    return BranchAndBound(question, region.radius, 1).keep(region, zero, margins)


@dataclass(slots=True)
class _BallPart:
    """A part of the ball: not looked at yet, or split, or closed."""

    bounds: tuple[Bound, ...]
    near: Point
    """A perturbation of it, or of the part that it was split from."""
    distance: Fraction
    """No perturbation that keeps the bounds is smaller."""
    children: "list[tuple[Sign, _BallPart]]" = field(default_factory=list["tuple[Sign, _BallPart]"])
    form: Form | None = None
    leaf: Kept | Void | None = None


class BranchAndBound:
    """Branch and bound over the parts of a ball, those nearest to no perturbation first."""

    def __init__(self, question: Question, radius: Fraction, budget: int, pace: Pace = UNHURRIED) -> None:
        self.question, self.radius, self.budget, self.pace = question, radius, budget, pace

    def region(self, bounds: tuple[Bound, ...]) -> Region:
        return Region(self.radius, bounds)

    def is_beyond(self, distance: Fraction) -> bool:
        return distance > self.radius

    def explore(self) -> BranchTree:
        """Return evidence for the ball, with parts left out that budget and time did not reach."""
        root = _BallPart((), self.question.zero(), Fraction(0))
        waiting = [(root.distance, 0, root)]
        looked_at = count = 0
        while waiting and not self.is_beyond(waiting[0][0]) and looked_at < self.budget:
            if self.pace.is_over:
                break
            self.pace.hear("parts of the ball", looked_at, self.budget)
            node = heappop(waiting)[2]
            self._open(node)
            looked_at += 1
            for _, child in node.children:
                count += 1
                heappush(waiting, (child.distance, count, child))
        is_left = bool(waiting) and not self.is_beyond(waiting[0][0])
        return self._tree(root, settled_radius(self.question, self.radius) if is_left else Fraction(0))

    def _open(self, node: _BallPart) -> None:
        region = self.region(node.bounds)
        point = node.near if region.holds_inside(node.near) else self.guess(region)
        if point is None:
            point = self.sample(region)
        try:
            self._close(node, region, point)
        except MisplacedError:  # a guess keeps equalities only nearly
            self._close(node, region, self.sample(region))

    def _close(self, node: _BallPart, region: Region, point: Point | Void) -> None:
        if isinstance(point, Void):
            node.leaf = point
            return
        try:
            margins = self.question.margins(region, point)
        except OpenSignError as stop:
            node.form = stop.condition.form
            for part in stop.condition.open_parts:
                bound = Bound(node.form, part)
                distance = max(node.distance, distance_of(bound))
                node.children.append((part, _BallPart((*node.bounds, bound), point, distance)))
            return
        node.leaf = self.keep(region, point, margins)

    def guess(self, region: Region) -> Point | Void | None:
        """Return a perturbation of a region, or nearly, or why there is none, or nothing."""
        return guess(region)

    def sample(self, region: Region) -> Point | Void:
        """Return a perturbation of a region, or why there is none."""
        return sample(region)

    def keep(self, region: Region, point: Point, margins: tuple[Form, ...]) -> Kept | Void:
        """Return the weights that keep every margin positive in a region."""
        weights: list[FarkasWeights] = []
        for margin in margins:
            found = keep_positive(margin, Region(self.radius, region.bounds))
            if isinstance(found, Void):
                return found
            weights.append(self.reached(margin, region, found) if isinstance(found, Reached) else found)
        return Kept(point, tuple(weights))

    def reached(self, _margin: Form, _region: Region, found: Reached) -> FarkasWeights:
        """Stop: a perturbation changes the decision."""
        raise _ReachedError(found.point)

    def _tree(self, node: _BallPart, settled: Fraction) -> BranchTree:
        """Return a part's evidence; what was not looked at is closed if it is too far away.

        Within the settled radius no part needs to be looked at.
        """
        if node.leaf is not None:
            return node.leaf
        if node.form is not None:
            children = tuple((sign, self._tree(child, settled)) for sign, child in node.children)
            return SignSplit(node.form, children)
        if not self.is_beyond(node.distance):
            return Unsearched(max(node.distance, settled))
        distances = [distance_of(bound) for bound in node.bounds]
        last = distances.index(max(distances))
        signs = [-1 if bound.is_equality and bound.form.constant < 0 else 1 for bound in node.bounds]
        return Void(tuple(Fraction(sign * (place == last)) for place, sign in enumerate(signs)))


def distance_of(bound: Bound) -> Fraction:
    """Return the size below which no perturbation keeps a bound; of one that all keep, zero."""
    form = bound.downward()
    off = abs(form.constant) if bound.is_equality else max(form.constant, 0)
    return Fraction(off, form.spread())
