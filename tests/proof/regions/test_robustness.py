from fractions import Fraction
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from circuitproof.proof.enclosed import NOT_KNOWN, Enclosed
from circuitproof.proof.fold import Fold
from circuitproof.proof.regions.robustness import Directions, keeps, known_violation, radii, violation

numbers = st.fractions(-4, 4, max_denominator=6)
epsilons = st.fractions(Fraction(1, 6), 4, max_denominator=6)


def exact(*rows: tuple[Fraction | int, ...]) -> Directions:
    """Return directions with these rows."""
    return Directions(tuple(tuple(map(Fraction, row)) for row in rows))


def fold_of(*logits: Fraction | int) -> Fold:
    """Return a fold of these logits."""
    return Fold(tuple(map(Fraction, logits)))


@st.composite
def decided(draw):
    """Draw a clear fold and the directions of its candidates."""
    count, width = draw(st.integers(2, 4)), draw(st.integers(1, 3))
    rows = draw(st.lists(st.lists(numbers, min_size=width, max_size=width), min_size=count, max_size=count))
    fold = fold_of(*draw(st.lists(numbers, min_size=count, max_size=count)))
    assume(fold.is_clear)
    return fold, exact(*map(tuple, rows))


def perturbed(fold: Fold, rows: Directions, eta: tuple[Fraction, ...]) -> Fold:
    """Return the fold after η is added to the final residual: the logits move by ⟨u, η⟩."""
    moves = [sum(a * b for a, b in zip(row, eta, strict=True)) for row in rows.rows]
    return fold_of(*(logit + move for logit, move in zip(fold.logits, moves, strict=True)))


def holds_at_every_corner(fold: Fold, rows: Directions, epsilon: Fraction) -> bool:
    """Say whether the decision survives, by trying every corner of the cube.

    A margin is affine in η, so it is least at a corner: this slow twin decides robustness by definition.
    """
    corners = product((epsilon, -epsilon), repeat=len(rows.rows[0]))
    return all(perturbed(fold, rows, corner).decision == fold.decision for corner in corners)


def test_the_radius_is_the_margin_over_the_distance_of_the_directions():
    """By hand: a margin of 3, and 2 + 1 between the rows."""
    (found,) = radii([fold_of(5, 2)], exact((2, 0), (0, 1)))
    assert found.value == 1


def test_the_nearest_competitor_need_not_be_the_runner_up():
    """The second best is half a point behind but moves along; the last is four behind and moves against."""
    fold, rows = fold_of(4, Fraction(7, 2), 0), exact((1, 0), (Fraction(7, 8), 0), (0, 1))
    assert radii([fold], rows)[0].value == 2
    assert violation(fold, rows, Fraction(2)) == (-2, 2)
    assert perturbed(fold, rows, violation(fold, rows, Fraction(2))).decision == {0, 2}


def test_nothing_separates_candidates_with_one_direction():
    """Both logits move alike, so the margin stays what it is: the radius is infinite."""
    assert radii([fold_of(2, 1)], exact((3, -1), (3, -1)))[0].value is None


def test_a_competitor_with_the_same_direction_does_not_count_among_others():
    """It divides by nothing; the finite competitor decides."""
    assert radii([fold_of(2, 1, 0)], exact((1,), (1,), (0,)))[0].value == 2


@given(decided(), epsilons)
def test_a_decision_is_robust_where_the_radius_is_larger_and_only_there(drawn, epsilon):
    """The formula against the definition, in both directions."""
    fold, rows = drawn
    (radius,) = radii([fold], rows)
    assert radius.exceeds(epsilon) == holds_at_every_corner(fold, rows, epsilon)


@given(decided())
def test_the_radius_is_attained(drawn):
    """At an epsilon equal to the radius a perturbation of just that size changes the decision."""
    fold, rows = drawn
    (radius,) = radii([fold], rows)
    assume(radius.value is not None)
    eta = violation(fold, rows, radius.value)
    assert max(map(abs, eta)) == radius.value
    assert perturbed(fold, rows, eta).decision != fold.decision


@given(decided(), epsilons)
def test_a_violation_violates_within_epsilon(drawn, epsilon):
    """Whenever robustness is refuted, the perturbation in the certificate shows it."""
    fold, rows = drawn
    assume(not radii([fold], rows)[0].exceeds(epsilon))
    eta = violation(fold, rows, epsilon)
    assert len(eta) == len(rows.rows[0])
    assert max(map(abs, eta)) <= epsilon
    assert perturbed(fold, rows, eta).decision != fold.decision


@given(decided(), epsilons)
def test_a_tie_is_violated_by_doing_nothing(drawn, epsilon):
    """There is no decision to keep, which zero shows as well as anything."""
    fold, rows = drawn
    tied = Fold((*fold.logits, max(fold.logits)))
    more = Directions((*rows.rows, rows.rows[0]))
    assert violation(tied, more, epsilon) == (0,) * len(rows.rows[0])


@given(decided(), st.fractions(Fraction(1, 5), 5, max_denominator=5))
def test_the_radius_grows_with_the_logits_and_shrinks_with_the_directions(drawn, factor):
    """Scaling margins by a factor scales the radius by it; scaling the rows divides by it."""
    fold, rows = drawn
    (radius,) = radii([fold], rows)
    (larger,) = radii([fold_of(*(factor * logit for logit in fold.logits))], rows)
    (smaller,) = radii([fold], exact(*(tuple(factor * x for x in row) for row in rows.rows)))
    if radius.value is None:
        assert larger.value is None
        assert smaller.value is None
    else:
        assert larger.value == radius.value * factor
        assert smaller.value == radius.value / factor


@given(st.lists(st.sampled_from([fold_of(2, 0), fold_of(0, 3), fold_of(1, 0)]), max_size=6))
def test_each_fold_gets_its_own_radius_in_its_place(folds):
    """Folds that repeat are computed once; the answers must not be shifted by it."""
    rows = exact((1, 0), (0, 1))
    assert [radius.value for radius in radii(folds, rows)] == [max(fold.logits) / 2 for fold in folds]


def test_a_tie_has_no_radius():
    """Asking for one is a mistake of the caller."""
    with pytest.raises(ValueError, match="too many values"):
        radii([fold_of(1, 1)], exact((1,), (0,)))


@pytest.mark.parametrize(
    ("midpoints", "radius", "epsilon", "is_kept"),
    [
        ((4, 0), 1, Fraction(1, 2), True),
        ((4, 0), 1, 1, NOT_KNOWN),
        ((4, 0), 1, 2, NOT_KNOWN),
        ((4, 0), 1, 4, False),
        ((1, 0), 1, Fraction(1, 9), NOT_KNOWN),
        ((1, 0), 1, 9, NOT_KNOWN),
        ((0, 0), 0, 1, NOT_KNOWN),
    ],
)
def test_an_enclosed_decision_is_kept_if_its_least_margin_is(midpoints, radius, epsilon, is_kept):
    """Between least and greatest margin nobody knows; an unknown decision is neither kept nor lost."""
    rows, found = exact((1, 0), (0, 1)), Enclosed(tuple(map(Fraction, midpoints)), Fraction(radius))
    assert keeps(found, rows, Fraction(epsilon)) is is_kept
    if is_kept is False:
        assert known_violation(found, rows, Fraction(epsilon)) == (-epsilon, epsilon)
