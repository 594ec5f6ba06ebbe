from dataclasses import replace
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from circuitproof.forward.interface import Interface, Span
from circuitproof.proof.fold import Fold
from circuitproof.proof.patterns.goals import Seen, others
from circuitproof.proof.patterns.regions import PromptRegion
from circuitproof.proof.properties.equivalence import Right
from circuitproof.proof.properties.invariance import Alike
from circuitproof.proof.properties.necessity import Idle
from circuitproof.proof.properties.robustness import Robust, Robustness, robust_goal
from circuitproof.proof.regions.robustness import Directions
from circuitproof.tasks.labelling import Label
from pattern_claims import random_claim, task_of

TASK = task_of("any{1..2} with exactly 1 of [0, 1]", candidates=(1, 0, 2))
CIRCUIT = random_claim(0).circuit
numbers = st.integers(-2, 2).map(Fraction)
folds = st.lists(numbers, min_size=3, max_size=3).map(lambda row: Fold(tuple(row)))
rows = st.lists(st.lists(numbers, min_size=2, max_size=2).map(tuple), min_size=3, max_size=3)
robusts = st.builds(Robust, st.sampled_from([Fraction(1, 3), Fraction(1)]), rows.map(tuple).map(Directions))


def seen(fold, answer=0, lesion=None):
    """Return a prompt with its logits, the opener being its right answer and its class."""
    return Seen((answer,), Label(answer, answer), fold, lesion)


def moved(logits, directions, eta):
    """Return logits after a perturbation of the final residual."""
    steps = [sum(a * b for a, b in zip(row, eta, strict=True)) for row in directions.rows]
    return Fold(tuple(logit + step for logit, step in zip(logits, steps, strict=True)))


@given(folds, st.sampled_from([0, 1]))
def test_a_right_answer_is_the_only_maximal_one(fold, answer):
    """Ties and others break the goal, with the prompt as evidence."""
    broken, place = Right(TASK).broken_by(seen(fold, answer)), TASK.candidates.index(answer)
    rest = [logit for k, logit in enumerate(fold.logits) if k != place]
    assert (broken is None) == (fold.logits[place] > max(rest))
    assert broken is None or broken.prompts == (seen(fold, answer).replayed(),)
    assert Right(TASK).decision(PromptRegion(), seen(fold, answer)) == place
    assert Right(TASK).decision(PromptRegion(Label(1 - answer, 0)), seen(fold, answer)) != place


@given(st.lists(st.tuples(folds, st.sampled_from([0, 1])), max_size=5))
def test_some_prompt_breaks_likeness_unless_every_class_has_one_clear_decision(found):
    """In whatever order they are seen; the evidence is a tie or a pair of one class."""
    goal = Alike()
    broken = [one for fold, group in found if (one := goal.broken_by(seen(fold, group))) is not None]
    groups = {group: {fold.decision for fold, one in found if one == group} for _, group in found}
    is_alike = all(len(one) == 1 and len(next(iter(one))) == 1 for one in groups.values())
    assert (not broken) == is_alike
    for one in broken:
        decided = [replayed.leaf.fold.decision for replayed in one.prompts]
        assert len(decided[0]) > 1 if len(decided) == 1 else decided[0] != decided[1]


@given(robusts, folds)
def test_robustness_is_broken_by_a_perturbation_that_does_what_it_says(goal, fold):
    """It is small enough and ends the clear decision; where there is none, no corner of the ball does."""
    broken, epsilon = goal.broken_by(seen(fold)), goal.epsilon
    if broken is not None:
        eta = broken.prompts[0].perturbation
        assert all(abs(entry) <= epsilon for entry in eta)
        assert moved(fold.logits, goal.rows, eta).decision != fold.decision or not fold.is_clear
    else:
        corners = [(a * epsilon, b * epsilon) for a in (-1, 1) for b in (-1, 1)]
        assert all(moved(fold.logits, goal.rows, eta).decision == fold.decision for eta in corners)


@given(folds, folds)
def test_an_edge_is_idle_on_a_prompt_unless_a_clear_decision_changes_without_it(fold, lesion):
    """A decision that is no decision shows nothing."""
    goal = Idle(CIRCUIT)
    changes = len(fold.decision) == 1 and fold.decision != lesion.decision
    assert (goal.broken_by(seen(fold, lesion=lesion)) is not None) == changes
    assert goal.decision(PromptRegion(), seen(fold, lesion=lesion)) in fold.decision


@given(folds, folds, robusts)
def test_margins_above_the_least_ones_leave_no_prompt_that_breaks_a_goal(fold, lesion, robust):
    """What settles a region by minima is true of its prompts."""
    goals = [Right(TASK), Right(TASK, robust), Alike(), robust, Idle(CIRCUIT)]
    for goal in goals:
        one = seen(fold, lesion=lesion)
        if not fold.is_clear:
            continue
        winner = goal.decision(PromptRegion(), one)
        told = [fold, lesion] if isinstance(goal, Idle) else [fold]
        if all(
            row.logits[winner] - row.logits[other] > goal.least(winner, other)
            for row in told
            for other in others(3, winner)
        ):
            assert goal.broken_by(one) is None


def test_robustness_is_asked_over_patterns_at_the_final_residual_alone():
    """Elsewhere there is no goal, rather than a wrong one."""
    claim, prop = random_claim(0), Robustness(Fraction(1, 8))
    assert robust_goal(claim, prop) == Robust(Fraction(1, 8), claim.directions())
    assert robust_goal(claim, replace(prop, at=Interface(positions=Span.ALL))) is None
