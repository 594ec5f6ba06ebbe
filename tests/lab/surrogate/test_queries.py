import pytest
from hypothesis import given, settings

from circuitproof.solvers.cvc5 import Cvc5
from circuitproof.solvers.results import Satisfiable, Unsatisfiable
from circuitproof.solvers.z3 import Z3
from circuitproof_lab.surrogate.equivalence import Differs, Same, enumerate_words, replay
from circuitproof_lab.surrogate.queries import disagreement, spelled_word, symbols
from circuitproof_lab.surrogate.registers import Predicate, When
from circuitproof_lab.surrogate.template import FilledTemplate, Signature
from circuitproof_lab.surrogate.words import Words
from surrogate_twin import AB, NO_YES, SMALL, network_of, networks, programs

SOLVERS = [Z3(), Cvc5()]
LONG = 40


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
@settings(max_examples=15)
@given(program=programs(), network=networks())
def test_the_text_is_satisfiable_just_where_going_through_all_words_finds_a_difference(
    solver, program, network
):
    """The symbolic question against the slow obvious one; ties count as differences in both."""
    automaton = program.automaton
    answer = solver.solve(disagreement(automaton, network), symbols(SMALL), 20)
    match enumerate_words(automaton, network):
        case Same():
            assert answer == Unsatisfiable()
        case Differs():
            assert isinstance(answer, Satisfiable)
            word = spelled_word(SMALL, answer.values)
            assert word in SMALL
            assert replay(automaton, network, word) is not None


def ever_b(words, yes_from):
    """Return the program "some token is b", and a network that counts b and says yes from a count on."""
    choices = {"in a": "no", "in b": "yes", "outside": "no", "inside": "yes"}
    program = FilledTemplate(Predicate(When.EVER), Signature(Words(AB, 1, words.longest), NO_YES), choices)
    counts = ([[0, 1] * words.longest], [0])
    return program, network_of(words, NO_YES, counts, ([[0], [2]], [2 * yes_from - 1, 0]))


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
def test_words_far_too_many_to_list_are_settled_symbolically(solver):
    """About 2^41 words: the text has a variable per position and token, not a line per word."""
    words = Words(AB, 1, LONG)
    program, network = ever_b(words, yes_from=1)
    text = disagreement(program.automaton, network)
    assert len(text) < 40_000
    assert solver.solve(text, symbols(words), 60) == Unsatisfiable()
    program, network = ever_b(words, yes_from=2)
    answer = solver.solve(disagreement(program.automaton, network), symbols(words), 60)
    assert isinstance(answer, Satisfiable)
    word = spelled_word(words, answer.values)
    assert sum(word) == 1
    assert replay(program.automaton, network, word) is not None


def test_the_text_says_what_the_surrogate_computes():
    """Every unit has an equation: rational weights stay what they are, times what makes a row whole."""
    words = Words(AB, 1, 1)
    halves = network_of(words, NO_YES, ([["1/2", "1/3"]], ["1/4"]), ([["1/5"], [1]], [0, "-1/7"]))
    program, _ = ever_b(words, yes_from=1)
    text = disagreement(program.automaton, halves)
    hidden = "(+ (* 6.0 (ite token_0_0 1.0 0.0)) (* 4.0 (ite token_0_1 1.0 0.0)) 3.0)"
    assert f"(assert (= {hidden} (* 12.0 residual_3)))" in text
    assert "(assert (= (* 7.0 mlp_5) (+ (* 7.0 residual_7) 1.0)))" in text
    assert text.count("Real)") == 4


def test_values_that_a_solver_leaves_out_are_false():
    """They may be anything."""
    assert spelled_word(SMALL, {"token_0_1": True, "token_1_0": True, "token_1_1": False}) == (1, 0)
