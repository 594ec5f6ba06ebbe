"""The radius of a decision: the infimum of ‖η‖∞ over perturbations that change it, exactly or between bounds.

Branch and bound: an attack finds some perturbation that changes the decision, and the open ball below that
incumbent is searched.
Whenever a leaf holds a smaller one, the leaf's own infimum, a linear programme, becomes the radius, and the
search goes on in the smaller ball: what is closed already stays closed. When nothing is open the radius is
exact, and the tree proves it.
"""

from dataclasses import dataclass
from fractions import Fraction

from circuitproof.arithmetic.forms import Bound, Form, Region
from circuitproof.files.canonical import Json
from circuitproof.files.reading import write_rational
from circuitproof.proof.effort import Effort
from circuitproof.proof.regions.attack import FAR, attack, local_margins, push, size_of
from circuitproof.proof.regions.disturbed import Point, Question
from circuitproof.proof.regions.polyhedra import Reached, keep_positive, nearest, nothing, shortened
from circuitproof.proof.regions.regions import BranchTree, FarkasWeights, Void, searched_radius
from circuitproof.proof.regions.search import BranchAndBound, Unstable, Violation, confirmed, search_ball

_STEP = 1 << 10
"""The relative size of small steps."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """The radius lies between `lower` and `upper`; without `upper` nothing that changes it is known."""

    lower: Fraction
    upper: Fraction | None
    is_attained: bool
    """A perturbation of just the size `upper` is known to change the decision; otherwise a larger one is."""
    eta: Point | None
    """A perturbation that changes the decision: of the size `upper`, or a little larger if not attained."""
    tree: BranchTree | None
    """Evidence that the open ball of radius `lower` keeps the decision; none where a formula says it."""

    @property
    def is_exact(self) -> bool:
        return self.lower == self.upper

    @property
    def is_enclosed(self) -> bool:
        """Say whether a formula gives both bounds: as far apart as the radius of the logits makes them."""
        return self.tree is None and self.upper is not None and self.lower < self.upper

    @property
    def is_infinite(self) -> bool:
        return self.upper is None and self.tree is None

    def to_json(self) -> dict[str, Json]:
        """Return what is known as JSON, exactly; the tree is not told."""
        return {
            "lower": "infinite" if self.is_infinite else write_rational(self.lower),
            "upper": None if self.upper is None else write_rational(self.upper),
            "attained": self.is_attained,
            "eta": None if self.eta is None else [write_rational(entry) for entry in self.eta],
        }


def find_radius(question: Question, effort: Effort) -> Bracket:
    """Return the radius of a clear decision, or bounds on it when the budget or the time ends."""
    first = attack(question, effort.pace) or push(question, effort.pace)
    return _unreached(question, effort) if first is None else _shrunk(question, effort, first)


def _shrunk(question: Question, effort: Effort, first: Point) -> Bracket:
    """Return the radius, given a perturbation that changes the decision."""
    search = _Shrinking(question, effort, first)
    tree = search.explore()
    lower = searched_radius(tree, search.radius)
    if lower == search.radius and not search.is_attained:
        closed = search_ball(question, lower, effort)  # tells whether one of just the radius changes it
        if isinstance(closed, Violation):
            return Bracket(lower, lower, is_attained=True, eta=closed.eta, tree=tree)
    return Bracket(lower, search.radius, search.is_attained, confirmed(question, search.eta), tree)


def _unreached(question: Question, effort: Effort) -> Bracket:
    """Bound a radius from below where the attack finds nothing, or find what it has missed."""
    margins, _ = local_margins(question, question.zero())
    ratios = [Fraction(form.constant, form.spread()) for form in margins if form.spread()]
    radius = min(ratios, default=Fraction(1)) * FAR
    if not ratios and not local_margins(question, question.zero(), radius)[1]:
        return Bracket(radius, None, is_attained=False, eta=None, tree=None)
    found = search_ball(question, radius, effort)
    if isinstance(found, Violation):
        return _shrunk(question, effort, found.eta)
    assert not isinstance(found, Unstable)  # noqa: S101  # the complete method knows no such answer
    return Bracket(searched_radius(found, radius), None, is_attained=False, eta=None, tree=found)


class _Shrinking(BranchAndBound):
    """A search of the open ball below the smallest known perturbation that changes the decision."""

    def __init__(self, question: Question, effort: Effort, eta: Point) -> None:
        super().__init__(question, size_of(eta), effort.budget, effort.pace)
        self.eta = eta
        self.is_attained = True

    def region(self, bounds: tuple[Bound, ...]) -> Region:
        return Region(self.radius, bounds, is_open=True)

    def is_beyond(self, distance: Fraction) -> bool:
        return distance >= self.radius

    def guess(self, region: Region) -> Point | Void | None:
        """Return a perturbation of an open region, or nearly, or nothing."""
        found = super().guess(Region(region.radius * (1 - Fraction(1, _STEP)), region.bounds))
        return None if isinstance(found, Void) else found

    def sample(self, region: Region) -> Point | Void:
        """Return a perturbation of an open region, or why there is none."""
        closest = nearest(nothing(region), region)
        if closest.radius is None or closest.radius >= region.radius:
            return Void(closest.weights)
        middle = (closest.radius + region.radius) / 2
        found = super().sample(Region(max(shortened(middle), closest.radius), region.bounds))
        return super().sample(Region(region.radius, region.bounds)) if isinstance(found, Void) else found

    def reached(self, margin: Form, region: Region, found: Reached) -> FarkasWeights:
        """Take a leaf's own infimum as the radius; the weights keep the margin positive in the open ball.

        On the rim of the ball branches may be others, so only an infimum inside counts.
        """
        del found  # any perturbation of the leaf; the smallest is looked for
        closest = nearest(margin, region)
        size = closest.radius
        if size is not None and size < self.radius:
            here = keep_positive(margin, Region(size, region.bounds))
            self.is_attained = isinstance(here, Reached)
            self.eta = here.point if isinstance(here, Reached) else self._beyond(margin, region, size)
            self.radius = size
        return closest.weights

    def _beyond(self, margin: Form, region: Region, size: Fraction) -> Point:
        """Return a perturbation a little larger than an infimum that is not attained, still in the ball."""
        larger = size + min(self.radius - size, size or Fraction(1)) / _STEP**2
        found = keep_positive(margin, Region(larger, region.bounds))
        assert isinstance(found, Reached)  # noqa: S101  # any larger ball holds one
        return found.point
