from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.errors import DeclarationError, ExitCode
from circuitproof.proof.evidence import FoldLeaf, Open, PromptSplit, Replay, Replayed
from circuitproof.proof.findings import Findings
from circuitproof.proof.fold import Fold
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.faithfulness import Faithfulness
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.verdict import EXIT_CODES, Answer, Proved, Refuted, Undecided, Verdict, settle

LEAF = FoldLeaf(Fold((Fraction(1), Fraction(0))))
PROOF = Proved(PromptSplit((LEAF,)))
REFUTATION = Refuted(Replay((Replayed((0,), LEAF),)))
OPEN = Undecided(Open("nobody knows"))
OUTCOMES = {Verdict.PROVED: PROOF, Verdict.REFUTED: REFUTATION, Verdict.UNDECIDED: OPEN}
PROPERTIES = (Equivalence(), Invariance(), Necessity(), Robustness(Fraction(1)), Faithfulness())

verdict_lists = st.lists(st.sampled_from(Verdict), min_size=1, max_size=len(PROPERTIES))


def answer(verdict: Verdict, prop=PROPERTIES[0], obligations: int = 3) -> Answer:
    """Return an answer with a verdict and a fitting count."""
    met = obligations if verdict is Verdict.PROVED else obligations - 1
    return Answer(prop, OUTCOMES[verdict], obligations, met, Findings())


@pytest.mark.parametrize("verdict", Verdict)
def test_an_answer_is_known_by_its_outcome(verdict):
    """The verdict's name and the evidence come from one place and cannot disagree."""
    given_answer = answer(verdict)
    assert given_answer.verdict is verdict
    assert given_answer.evidence is OUTCOMES[verdict].evidence


@pytest.mark.parametrize("outcome", [PROOF, REFUTATION, OPEN])
@pytest.mark.parametrize("obligations", [0, -1])
def test_an_answer_about_nothing_is_none(outcome, obligations):
    """A loop over an empty domain meets everything and shows nothing."""
    with pytest.raises(DeclarationError, match="a verdict about nothing is none"):
        Answer(Equivalence(), outcome, obligations, obligations, Findings())


@given(st.integers(1, 50), st.integers(-5, 60))
def test_proved_means_that_every_obligation_was_counted_as_met(obligations, met):
    """Success is counted, never inferred from the absence of failures."""
    if met == obligations:
        assert Answer(Equivalence(), PROOF, obligations, met, Findings()).verdict is Verdict.PROVED
        return
    with pytest.raises(DeclarationError, match=f"{met} of {obligations} obligations met, yet proved"):
        Answer(Equivalence(), PROOF, obligations, met, Findings())


@pytest.mark.parametrize("outcome", [REFUTATION, OPEN])
def test_what_meets_every_obligation_is_neither_refuted_nor_open(outcome):
    """The count and the verdict must agree in both directions."""
    with pytest.raises(DeclarationError, match="3 of 3 obligations met, yet"):
        Answer(Equivalence(), outcome, 3, 3, Findings())


@pytest.mark.parametrize("outcome", [REFUTATION, OPEN])
@pytest.mark.parametrize("met", [-1, 4])
def test_a_count_that_cannot_be_is_refused(outcome, met):
    """No more can be met than there is, and no less than nothing."""
    with pytest.raises(DeclarationError, match=f"{met} of 3 obligations met"):
        Answer(Equivalence(), outcome, 3, met, Findings())


@given(verdict_lists)
def test_all_proofs_prove_and_one_refutation_refutes(verdicts):
    """Undecided is left where nothing is refuted and not everything is proved."""
    properties = PROPERTIES[: len(verdicts)]
    answers = [answer(verdict, prop) for verdict, prop in zip(verdicts, properties, strict=True)]
    settled = settle(properties, answers)
    assert (settled is Verdict.PROVED) == all(verdict is Verdict.PROVED for verdict in verdicts)
    assert (settled is Verdict.REFUTED) == any(verdict is Verdict.REFUTED for verdict in verdicts)


def test_no_properties_settle_nothing():
    """An empty claim would otherwise be proved."""
    with pytest.raises(DeclarationError, match="no properties to settle"):
        settle([], [])


@pytest.mark.parametrize(
    "answered",
    [
        [],
        [Equivalence()],
        [Invariance(), Equivalence()],
        [Equivalence(), Necessity()],
        [Equivalence(), Invariance(), Invariance()],
    ],
    ids=["none", "missing", "order", "other", "extra"],
)
def test_a_property_that_nobody_answered_is_an_error(answered):
    """Silence about a property must not pass for a proof of it."""
    answers = [answer(Verdict.PROVED, prop) for prop in answered]
    with pytest.raises(DeclarationError, match=f"^{len(answers)} answers do not match the 2 properties"):
        settle([Equivalence(), Invariance()], answers)


def test_an_answer_at_another_epsilon_is_no_answer():
    """A proof at a small epsilon must not pass for one at a large."""
    small = answer(Verdict.PROVED, Robustness(Fraction(1, 100)))
    with pytest.raises(DeclarationError, match="do not match"):
        settle([Robustness(Fraction(1, 2))], [small])


def test_each_verdict_has_its_documented_exit_code():
    """Scripts decide by these."""
    assert EXIT_CODES == {Verdict.PROVED: 0, Verdict.REFUTED: 1, Verdict.UNDECIDED: 4}
    assert set(EXIT_CODES.values()) <= set(ExitCode)
