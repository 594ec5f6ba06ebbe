from fractions import Fraction

import pytest

from circuitproof.errors import InputError, UsageError
from circuitproof.proof.brackets import ClaimedBracket
from circuitproof.proof.properties.accuracy import Accuracy
from circuitproof.proof.properties.bounds import parse_bounds
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.properties.logit_difference import LogitDifferences
from circuitproof.proof.properties.loss import Loss
from circuitproof.proof.properties.recovered_difference import RecoveredDifference
from circuitproof.verbs.verification import parse_properties

NO_COUNT = "is no number of prompts; want a whole number of at least 1, and no share"
BAD = [
    (["loss"], "the bound 'loss' is no bound; want such as 'accuracy >= 4046' or 'loss <= 0.13'"),
    (
        ["perplexity <= 3"],
        (
            "the bound 'perplexity <= 3' is of 'perplexity'; want one of accuracy, loss, least difference, "
            "mean difference, greatest difference, recovered"
        ),
    ),
    (["loss < 3"], "the bound 'loss < 3' has the sign <; want <= or >="),
    (["loss == 3"], "the bound 'loss == 3' has the sign ==; want <= or >="),
    (["loss <= low"], "the bound 'loss <= low' is 'low', want a rational such as 22/5"),
    (["loss <= 1/0"], "the bound 'loss <= 1/0' is '1/0', want a rational such as 22/5"),
    (
        ["accuracy <= 3"],
        (
            "the bound 'accuracy <= 3' is from above; want how many prompts are right at least, such as "
            "'accuracy >= 4046'"
        ),
    ),
    (
        ["accuracy >= 0.98"],
        f"the bound 'accuracy >= 0.98' {NO_COUNT}",
    ),
    (
        ["accuracy >= 0"],
        f"the bound 'accuracy >= 0' {NO_COUNT}",
    ),
    (
        ["loss <= 3", "loss <= 2"],
        "the bounds loss <= 3 and loss <= 2 are of one direction; give one of them",
    ),
    (
        ["recovered >= 1", "recovered <= 0.9"],
        (
            "the bounds of recovered: a bracket from 1 to 0.9 holds no number; "
            "give a lower end that is no more than the upper one"
        ),
    ),
]


@pytest.mark.parametrize(("spelled", "sentence"), BAD)
def test_a_bound_that_says_nothing_clear_is_refused_in_a_sentence(spelled, sentence):
    """What was found, what is wanted."""
    with pytest.raises(InputError) as refusal:
        parse_properties([], None, bounds=spelled)
    assert str(refusal.value) == sentence


def test_bounds_are_what_is_claimed():
    """Two of a number are one bracket; a bound asks for its property, and then for no other."""
    spelled = ["accuracy >= 3", "loss<=0.13", "loss >= 0.1", " mean difference  >= 5/2", "recovered >= 9e-1"]
    assert parse_properties([], None, bounds=spelled) == (
        Accuracy(least=3),
        Loss(ClaimedBracket(Fraction(1, 10), Fraction(13, 100))),
        LogitDifferences(mean=ClaimedBracket(Fraction(5, 2), None)),
        RecoveredDifference(ClaimedBracket(Fraction(9, 10), None)),
    )


def test_what_is_not_bounded_is_to_be_found():
    """In the order of the kinds."""
    kinds = [Kind.RECOVERED_DIFFERENCE, Kind.LOSS, Kind.ACCURACY, Kind.LOGIT_DIFFERENCE]
    found = parse_properties(kinds, None)
    assert found == (Accuracy(), Loss(), LogitDifferences(), RecoveredDifference())
    assert all(prop.is_to_be_found for prop in found)


def test_a_bound_of_what_is_not_asked_for_is_refused():
    """It would do nothing."""
    with pytest.raises(
        UsageError, match=r"^the bound loss <= 1 is given, but loss is not among the properties"
    ):
        parse_properties([Kind.ACCURACY], None, bounds=["loss <= 1"])


def test_no_bounds_are_none():
    """Nothing is made up."""
    assert parse_bounds([]) == ()
