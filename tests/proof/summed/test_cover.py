import pytest

from circuitproof.bundle.files import bundle_files, write_bundle
from circuitproof.proof.battery import prove
from circuitproof.proof.effort import Effort, Pace
from circuitproof.proof.evidence import Led, Listed, Open, _leaves
from circuitproof.proof.properties.accuracy import Accuracy
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.verdict import Verdict
from circuitproof_check.main import Beside, Outcome, inspect
from summed_claims import claim_of, listed

OUTCOMES = {
    Verdict.PROVED: Outcome.VALID,
    Verdict.REFUTED: Outcome.REFUTED,
    Verdict.UNDECIDED: Outcome.INCOMPLETE,
}
CHEAP = Effort(listed=1)
"""Lists next to nothing, so that regions have to be settled by sums."""
SEEDS = [(seed, heads) for heads in (1, 4) for seed in range(7)]


def alike(claim, truth):
    """Say whether all prompts of a class are decided alike."""
    groups = {}
    for prompt, (_, place) in truth.items():
        groups.setdefault(claim.task.labelled.label_of(prompt).group, set()).add(place)
    return all(len(found) == 1 and None not in found for found in groups.values())


@pytest.mark.parametrize(("seed", "heads"), SEEDS)
def test_an_answer_is_what_looking_at_every_prompt_says(seed, heads):
    """Sums over positions are another way to the decisions of the forward pass, never to others."""
    truth = listed(seed, heads)
    claim = claim_of(seed, (Equivalence(), Invariance(), Accuracy()), heads)
    same, invariant, counted = prove(claim, CHEAP).answers
    right = [is_right for is_right, _ in truth.values()]
    assert (same.verdict is Verdict.PROVED) == all(right)
    assert (same.verdict is Verdict.REFUTED) == (False in right)
    assert (invariant.verdict is Verdict.PROVED) == alike(claim, truth)
    assert counted.findings.right.right == right.count(True)
    assert counted.findings.right.open == right.count(None)


@pytest.mark.parametrize(("seed", "heads"), [(seed, heads) for heads in (1, 4) for seed in range(20, 23)])
def test_the_checker_agrees_with_every_answer(tmp_path, seed, heads):
    """The checker computes all sums by itself, from the weights and the page."""
    for place, properties in enumerate([(Equivalence(), Invariance()), (Accuracy(),), (Necessity(),)]):
        battery = prove(claim_of(seed, properties, heads), CHEAP)
        write_bundle(tmp_path / str(place), battery)
        report = inspect(tmp_path / str(place), Beside(operations=10**9))
        assert report.outcome is OUTCOMES[battery.verdict], report.reason


def test_regions_are_settled_by_sums_and_not_only_by_lists():
    """Otherwise nothing is gained over a list."""
    leaves = [
        leaf
        for seed, heads in SEEDS[:4] + SEEDS[7:11]
        for leaf in _leaves(prove(claim_of(seed, (Accuracy(),), heads), CHEAP).answers[0].evidence)
    ]
    assert sum(isinstance(leaf, Led) for leaf in leaves) > len(leaves) / 2


def test_wrong_prompts_are_listed_by_numbers_that_the_bundle_gives_them():
    """A claim names its errors by their places in the domain of the bundle."""
    seed = next(seed for seed in range(40) if 0 < errors(seed) <= 16)
    battery = prove(claim_of(seed, (Accuracy(),)))
    (answer,) = battery.answers
    assert answer.prop.wrong == tuple(range(errors(seed)))
    wrong = {prompt for prompt, (is_right, _) in listed(seed).items() if not is_right}
    assert set(battery.shown.prompts[: errors(seed)]) == wrong
    assert battery.claim.properties == (answer.prop,)


def errors(seed):
    return [is_right for is_right, _ in listed(seed).values()].count(False)


def test_what_is_asked_of_a_count_is_proved_refuted_or_left_open():
    """At least so many, exactly so many: either may be false, and neither is guessed."""
    seed = next(seed for seed in range(40) if 0 < errors(seed) < len(listed(seed)))
    right = len(listed(seed)) - errors(seed)
    for said, verdict in [
        (Accuracy(least=right), Verdict.PROVED),
        (Accuracy(least=right + 1), Verdict.REFUTED),
        (Accuracy(exactly=right), Verdict.PROVED),
        (Accuracy(exactly=right + 1), Verdict.REFUTED),
    ]:
        (answer,) = prove(claim_of(seed, (said,))).answers
        assert answer.verdict is verdict
        assert answer.prop.to_json().items() >= {"kind": "accuracy"}.items()


def test_more_exponentials_than_are_allowed_are_refused_before_they_are_computed():
    """A pattern may hold more pairs of tokens than anyone has time for."""
    (answer,) = prove(claim_of(0, (Equivalence(),)), Effort(exps=1, listed=1)).answers
    assert isinstance(answer.evidence, Open)
    assert "allow more with --exps" in answer.evidence.reason


def test_a_few_prompts_are_listed_where_sums_are_not_allowed():
    """Then nothing but the forward pass is asked."""
    (answer,) = prove(claim_of(0, (Accuracy(),)), Effort(exps=0, listed=10_000)).answers
    assert isinstance(answer.evidence, Listed)
    assert answer.findings.right.right + answer.findings.right.open == len(listed(0)) - errors(0)


def test_work_that_is_ended_leaves_regions_open():
    """What was not looked at is not decided."""
    battery = prove(claim_of(0, (Equivalence(),)), Effort(pace=Pace(deadline=-1.0)))
    assert battery.verdict is Verdict.UNDECIDED
    assert "ended" in battery.answers[0].evidence.reason


def test_a_bundle_holds_no_number_that_the_checker_could_compute():
    """Only decisions, cuts and weights stand in a certificate, so none can be forged."""
    bundle = bundle_files(prove(claim_of(0, (Equivalence(),)), CHEAP))["certificate.json"].decode()
    assert '"margins"' not in bundle
    assert '"folds": []' in bundle or '"folds":[]' in bundle
