from itertools import product

import pytest
from hypothesis import given

from circuitproof.errors import DeclarationError
from circuitproof_lab.surrogate.machines import TEMPLATES, StateMachine, ladder
from circuitproof_lab.surrogate.refutation import check_tree
from circuitproof_lab.surrogate.registers import Constant, Counter, Toggle
from circuitproof_lab.surrogate.synthesis import GaveUp, synthesise
from circuitproof_lab.surrogate.template import FilledTemplate
from surrogate_twin import (
    NO_YES,
    SMALL,
    SMALL_SIGNATURE,
    all_words,
    automaton_teacher,
    oracle_of,
    random_teachers,
    relation_of,
    twin_meanings,
)

WORDS = all_words(2, 1, 4)
LADDER = ladder(TEMPLATES, SMALL_SIGNATURE)
TWINS = {template.name: twin_meanings(template.name, 2, 2, WORDS) for template in LADDER}
PARITY_OF_THREE = automaton_teacher([(1, 0), (2, 1), (0, 2)], [0, 0, 1])


@given(random_teachers(most_states=5))
def test_a_random_machine_is_recovered_by_the_smallest_template_or_there_is_none(relation):
    """Complete and smallest first: the brute-force twin, which shares no code, agrees on every count."""
    found = synthesise(relation, oracle_of(relation), LADDER)
    able = [template for template in LADDER if relation.decided in TWINS[template.name]]
    if able:
        assert isinstance(found.outcome, FilledTemplate)
        assert found.outcome.template == able[0]
        assert found.outcome.automaton.row(SMALL).tolist() == list(relation.decided)
    else:
        assert found.outcome is None
    closed = LADDER[: LADDER.index(able[0])] if able else LADDER
    assert [one.template for one in found.exhausted] == list(closed)
    for one in found.exhausted:
        check_tree(one.template, one.tree, relation)


@given(random_teachers(most_states=5))
def test_every_trial_agreed_with_the_examples_before_it(relation):
    """That is what counterexample-guided means; no example is met twice."""
    found = synthesise(relation, oracle_of(relation), LADDER)
    examples = []
    for trial in found.trials:
        answer = trial.program.automaton.answer
        assert all(answer(word) == relation.answer(word) for word in examples)
        assert answer(trial.word) != relation.answer(trial.word)
        examples.append(trial.word)
    assert len(set(examples)) == len(examples)


def test_a_relation_that_no_machine_computes_has_no_program():
    """Words of four tokens, of which only palindromes are answered yes."""
    relation = relation_of("palindromes", SMALL, NO_YES, lambda word: int(word == word[::-1]))
    found = synthesise(relation, oracle_of(relation), LADDER)
    assert found.outcome is None
    assert not any(relation.decided in meanings for meanings in TWINS.values())


def test_examples_given_at_the_start_save_trials():
    """A fitted explanation hands on what refuted the ones before it."""
    found = synthesise(PARITY_OF_THREE, oracle_of(PARITY_OF_THREE), [StateMachine(3)])
    again = synthesise(
        PARITY_OF_THREE, oracle_of(PARITY_OF_THREE), [StateMachine(3)], [trial.word for trial in found.trials]
    )
    assert found.trials
    assert not again.trials
    assert again.outcome == found.outcome


def test_a_search_that_reaches_its_budget_says_so():
    """Nothing is known then about the template and those after it."""
    found = synthesise(PARITY_OF_THREE, oracle_of(PARITY_OF_THREE), [Constant(), StateMachine(3)], budget=5)
    assert found.outcome == GaveUp(StateMachine(3))
    assert [one.template for one in found.exhausted] == [Constant()]


def test_an_oracle_that_refutes_without_reason_is_refused():
    """Else the search would never end."""
    relation = relation_of("constant", SMALL, NO_YES, lambda _: 0)
    with pytest.raises(
        DeclarationError, match=r"the oracle refutes a program with \(0,\), on which it agrees"
    ):
        synthesise(relation, lambda _: (0,), [Constant()])


def test_a_family_without_templates_is_refused():
    """No search is no proof that there is nothing."""
    with pytest.raises(DeclarationError, match="no templates to search"):
        synthesise(PARITY_OF_THREE, oracle_of(PARITY_OF_THREE), [])


def test_holes_that_no_word_reads_take_the_simplest_choice():
    """The teacher says nothing about them."""
    relation = relation_of("constant", SMALL, NO_YES, lambda _: 0)
    found = synthesise(relation, oracle_of(relation), [Toggle()])
    assert isinstance(found.outcome, FilledTemplate)
    assert found.outcome == FilledTemplate(
        Toggle(), SMALL_SIGNATURE, {"on a": "stay", "on b": "stay", "even": "no", "odd": "no"}
    )


@pytest.mark.parametrize("depth", [1, 2])
def test_brackets_are_counted(depth):
    """The teacher of the second study, over two tokens: yes from some depth on."""
    steps = [(min(count + 1, 5), max(count - 1, 0)) for count in range(6)]
    relation = automaton_teacher(steps, [int(count >= depth) for count in range(6)])
    found = synthesise(relation, oracle_of(relation), [Counter(1)])
    assert isinstance(found.outcome, FilledTemplate)
    chosen = found.outcome.choices
    assert (chosen["on a"], chosen["on b"], chosen["thresholds"]) == ("up", "down", str(depth))


def test_the_twin_covers_every_template():
    """Nothing of the family is left unchecked."""
    assert set(TWINS) == {template.name for template in TEMPLATES}
    assert len(TWINS["machine 2"]) == len(
        {
            automaton_teacher(steps, answers).decided
            for steps in product(product(range(2), repeat=2), repeat=2)
            for answers in product(range(2), repeat=2)
        }
    )
