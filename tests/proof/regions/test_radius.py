from fractions import Fraction

from hypothesis import given, settings

from circuitproof.models.operators import BandNorm, Lift
from circuitproof.proof.regions.attack import attack
from circuitproof.proof.regions.disturbed import Question
from circuitproof.proof.regions.radius import find_radius
from circuitproof.proof.regions.search import Effort, Violation, search_ball
from perturbed import decides, function_of, grid_points, normed, question_of

MANY = 2000


def size(eta):
    """Return the largest coordinate."""
    return max(map(abs, eta))


@settings(max_examples=6)
@given(normed())
def test_the_radius_is_where_proofs_end_and_violations_begin(drawn):
    """Just below it a closed ball is proved; at it, or just above where it is not attained, it is refuted."""
    question = question_of(drawn)
    if question is None:
        return
    found = find_radius(question, Effort(budget=MANY))
    if found.upper is None:
        assert all(decides(drawn, eta) == {question.winner} for eta in grid_points(found.lower, 2))
        return
    assert found.is_exact
    assert decides(drawn, found.eta) != {question.winner}
    just_below = search_ball(question, found.lower * Fraction(999_999, 1_000_000), Effort())
    assert not isinstance(just_below, Violation)
    at_it = search_ball(question, found.lower, Effort())
    assert isinstance(at_it, Violation) == found.is_attained
    if found.is_attained:
        assert size(found.eta) == found.lower
    else:
        assert found.lower < size(found.eta) < found.lower + Fraction(1, 1_000)
        assert isinstance(search_ball(question, size(found.eta), Effort()), Violation)


def jumping(lift: Lift) -> Question:
    """Return a residual whose first coordinate is a little below the mean: the lift decides by its sign."""
    norm = BandNorm(Fraction(4), Fraction(8), lift)
    residual = [Fraction(0), Fraction(3, 4), Fraction(-1, 2)]
    function = function_of(norm, residual, [[2, -3, -3], [1, 1, 0]])
    zero = (Fraction(0),) * 3
    return Question(function, function.fold(zero).winner)


def test_an_infimum_at_a_jump_is_not_attained():
    """At the radius the coordinate is zero and no coordinate takes it; any larger ball makes it positive."""
    found = find_radius(jumping(Lift.REFERENCE), Effort(budget=MANY))
    assert found.lower == found.upper == Fraction(1, 16)
    assert not found.is_attained
    assert size(found.eta) > found.lower
    tree = search_ball(jumping(Lift.REFERENCE), found.lower, Effort())
    assert not isinstance(tree, Violation)


def test_the_continuous_lift_attains_its_radius():
    """Without jumps the infimum is a minimum, so an epsilon equal to it is refuted."""
    found = find_radius(jumping(Lift.CONTINUOUS), Effort(budget=MANY))
    assert found.is_exact
    assert found.is_attained
    assert isinstance(search_ball(jumping(Lift.CONTINUOUS), found.lower, Effort()), Violation)


def test_a_budget_that_ends_leaves_a_bracket():
    """The lower end is proved, the upper end is shown, and they differ."""
    found = find_radius(jumping(Lift.REFERENCE), Effort(budget=1))
    exact = find_radius(jumping(Lift.REFERENCE), Effort(budget=MANY)).lower
    assert not found.is_exact
    assert 0 < found.lower <= exact <= found.upper


def test_what_no_perturbation_reaches_has_an_infinite_radius():
    """A row of ones reads only the shift of a norm, which centres everything else away."""
    norm = BandNorm(Fraction(1), Fraction(2), Lift.CONTINUOUS)
    function = function_of(norm, [Fraction(1), Fraction(0), Fraction(0)], [[1, 1, 1], [0, 0, 0]], shift=1)
    question = Question(function, 0)
    found = find_radius(question, Effort(budget=100))
    assert attack(question) is None
    assert found.upper is None
    assert found.lower > 0
