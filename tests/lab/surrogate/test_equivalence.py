from dataclasses import dataclass

import pytest

from circuitproof.errors import InputError
from circuitproof.proof.verdict import Verdict
from circuitproof.solvers.cvc5 import Cvc5
from circuitproof.solvers.results import Failed, Satisfiable, Unknown, Unsatisfiable
from circuitproof.solvers.z3 import Z3
from circuitproof.tasks.alphabet import Alphabet
from circuitproof_lab.surrogate.equivalence import (
    Differs,
    DisagreementError,
    Examiners,
    NoAnswer,
    Same,
    WordCounterexample,
    compare,
    describe,
    replay,
)
from circuitproof_lab.surrogate.registers import Constant, Predicate, When
from circuitproof_lab.surrogate.template import FilledTemplate, Signature
from circuitproof_lab.surrogate.words import Words
from surrogate_twin import AB, NO_YES, network_of

PAIR = Words(AB, 1, 2)
SIGNATURE = Signature(Words(AB, 1, 2), NO_YES)
SEES_B = network_of(PAIR, NO_YES, ([[0, 1, 0, 1]], [0]), ([[0], [2]], [1, 0]))
EVER_B = FilledTemplate(
    Predicate(When.EVER), SIGNATURE, {"in a": "no", "in b": "yes", "outside": "no", "inside": "yes"}
)
LAST_B = FilledTemplate(Predicate(When.LAST), SIGNATURE, EVER_B.choices)


@dataclass(frozen=True)
class Scripted:
    """A solver that says what it is told to say."""

    result: object
    name: str = "scripted"

    def solve(self, _text, _wanted, _seconds):
        """Return the scripted answer."""
        return self.result


def spelling(*word):
    """Return a solver's values for a word."""
    return Satisfiable({f"token_{place}_{token}": True for place, token in enumerate(word)})


@pytest.fixture
def ask(tmp_path):
    """Return a function that compares through the given solvers."""

    def ask_solvers(program, network, *solvers):
        return compare(program, network, Examiners(solvers, 20, tmp_path / "dispute.smt2"))

    return ask_solvers


def test_enumeration_and_both_solvers_prove_what_holds(ask, tmp_path):
    """Three ways, one verdict."""
    found = ask(EVER_B, SEES_B, Z3(), Cvc5())
    assert found.verdict is Verdict.PROVED
    assert found.replies == {"enumeration": Same(), "z3": Same(), "cvc5": Same()}
    assert set(map(describe, found.replies.values())) == {"proved"}
    assert not (tmp_path / "dispute.smt2").exists()


def test_a_refutation_carries_the_shortest_counterexample_computed_again(ask):
    """The only word of two tokens with b but not at its end."""
    found = ask(LAST_B, SEES_B, Z3(), Cvc5())
    assert found.verdict is Verdict.REFUTED
    assert found.counterexample == WordCounterexample((1, 0), program=0, surrogate=frozenset({1}))
    assert set(found.replies.values()) == {Differs((1, 0))}


def test_a_tie_of_the_surrogate_refutes():
    """It equals no answer."""
    tied = network_of(PAIR, NO_YES, ([[0] * 4], [0]), ([[0], [0]], [1, 1]))
    found = replay(EVER_B.automaton, tied, (0,))
    assert found == WordCounterexample((0,), program=0, surrogate=frozenset({0, 1}))


@pytest.mark.parametrize(
    "lie",
    [Unsatisfiable(), spelling(0, 0), spelling(0, 0, 0), Satisfiable({})],
    ids=["denies", "agrees there", "too long", "spells nothing"],
)
def test_answers_that_contradict_each_other_are_a_failure_and_leave_the_question(ask, tmp_path, lie):
    """A false proof, or a word on which both agree or that is not in the domain: nothing is decided."""
    with pytest.raises(DisagreementError, match=r"the answers contradict each other .* nothing is decided"):
        ask(LAST_B, SEES_B, Scripted(lie))
    assert "(check-sat)" in (tmp_path / "dispute.smt2").read_text()


def test_a_counterexample_against_a_proof_is_a_failure(ask, tmp_path):
    """The other way round: enumeration proves, a solver refutes."""
    with pytest.raises(DisagreementError, match=r"enumeration: proved; scripted: refuted by \[1, 0\]"):
        ask(EVER_B, SEES_B, Scripted(spelling(1, 0)))
    assert (tmp_path / "dispute.smt2").exists()


@pytest.mark.parametrize("silence", [Unknown("timeout"), Failed("timeout")])
def test_a_solver_without_an_answer_counts_for_nothing(ask, silence):
    """Neither for the claim nor against it; the reason is kept."""
    found = ask(EVER_B, SEES_B, Scripted(silence))
    assert found.verdict is Verdict.PROVED
    assert found.replies["scripted"] == NoAnswer("timeout")


@pytest.mark.parametrize("silence", [Unknown("timeout"), Failed("timeout")])
def test_where_nobody_answers_nothing_is_decided(ask, silence):
    """Words too many to list, and solvers that give up: undecided, never proved."""
    words = Words(AB, 1, 30)
    network = network_of(words, NO_YES, ([[0, 1] * 30], [0]), ([[0], [2]], [1, 0]))
    program = FilledTemplate(Predicate(When.EVER), Signature(Words(AB, 1, 30), NO_YES), EVER_B.choices)
    found = ask(program, network, Scripted(silence))
    assert (found.verdict, list(found.replies)) == (Verdict.UNDECIDED, ["scripted"])
    assert describe(found.replies["scripted"]) == "no answer: timeout"
    assert ask(program, network).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(
    "signature",
    [
        Signature(Words(Alphabet(("a", "c")), 1, 2), NO_YES),
        Signature(Words(AB, 1, 2), Alphabet(("no", "maybe"))),
        Signature(Words(AB, 1, 3), NO_YES),
    ],
)
def test_a_program_of_another_signature_is_not_compared(ask, signature):
    """An alphabet mismatch is one sentence, never a verdict."""
    with pytest.raises(InputError, match="different tokens, answers or lengths"):
        ask(FilledTemplate(Constant(), signature, {"always": "no"}), SEES_B)
