from itertools import product
from random import Random

import pytest

from circuitproof.errors import DeclarationError
from circuitproof.tasks.answer_rules import (
    SEQUENCE_RULES,
    AfterPrevious,
    Count,
    Maximum,
    MostFrequent,
    NextAbove,
    StateMachine,
    rule_answer,
)
from circuitproof.tasks.labelling import RuleLabels
from rule_twin import VOCABULARY, obvious, random_rule, ruled_task

PROMPTS = [prompt for size in range(1, 5) for prompt in product(range(VOCABULARY), repeat=size)]


@pytest.mark.parametrize("kind", SEQUENCE_RULES, ids=lambda kind: kind.tag)
def test_a_rule_answers_as_looking_at_the_whole_prompt_does(kind):
    """States are an economy; what they find is what the definition says, and no answer is none."""
    draw = Random(1)  # noqa: S311  # rules, not secrets
    for _ in range(6):
        rule = random_rule(draw, kind)
        found = {prompt: rule_answer(rule, prompt) for prompt in PROMPTS}
        assert found == {prompt: obvious(rule, prompt) for prompt in PROMPTS}, rule


@pytest.mark.parametrize(
    ("rule", "prompt", "answer"),
    [
        (MostFrequent((3, 1)), (1, 3, 0), 3),
        (MostFrequent((3, 1)), (1, 3, 1), 1),
        (AfterPrevious((0, 1, 2)), (1, 2, 0, 1), 2),
        (AfterPrevious((0, 1, 2)), (1, 1), 1),
        (AfterPrevious((0, 1, 2)), (1, 2), None),
        (AfterPrevious((0, 1)), (1, 2, 1), None),
        (NextAbove((0, 1, 2)), (2, 0, 1, 4), 0),
        (NextAbove((0, 1, 2)), (2, 0, 1, 4, 0), 1),
        (NextAbove((0, 1, 2)), (1, 2), None),
        (Count((1, 2), (4, 3)), (1, 2, 1), 3),
        (Maximum((2, 0, 1)), (2, 0, 2), 0),
    ],
)
def test_answers_by_hand(rule, prompt, answer):
    """Of several tokens that are as frequent, the one that is listed first."""
    assert rule_answer(rule, prompt) == answer


def test_a_state_may_become_just_the_labels_of_prompts_that_go_on_from_it():
    """A region of one label is then followed nowhere else."""
    labels = RuleLabels(Maximum((0, 1, 2)), 4)
    (start,) = labels.starts
    seen = labels.see(start, 1)
    wanted = {labels.label(labels.see(seen, token)) for token in range(4)}
    known = {labels.label(labels.see(start, token)) for token in range(3)}
    assert {label for label in known if labels.may_become(seen, label)} == wanted != known


def test_rules_of_too_many_states_are_refused_with_the_number():
    """How often each of six tokens occurs takes more states than are followed."""
    with pytest.raises(DeclarationError, match=r"rule 'most frequent' has \d+ states after \d+ of 40 tokens"):
        ruled_task(MostFrequent(tuple(range(6))), "any{1..40} with at least 1 of [0, 1, 2, 3, 4, 5]", 6)


@pytest.mark.parametrize(
    ("make", "found"),
    [
        (lambda: Maximum(()), r"the tokens of the rule are \(\), want one or more, distinct"),
        (lambda: Maximum((1, 1)), r"the tokens of the rule are \(1, 1\), want one or more, distinct"),
        (lambda: Count((1,), (1,)), r"has the answers \(1,\), want two or more"),
        (lambda: StateMachine(((1,),), ((0,), ()), ((0, 1),)), "state 1 of the automaton has 0 transitions"),
        (lambda: StateMachine(((1,), (1,)), ((0, 0),), ((0, 1),)), "token 1 stands in two classes"),
        (lambda: StateMachine(((1,), ()), ((0, 0),), ((0, 1),)), "a class of the automaton has no tokens"),
        (lambda: StateMachine(((1,),), ((1,),), ((0, 1),)), "speaks of state 1, want 0 to 0"),
        (
            lambda: StateMachine(((1,),), ((0,),), ((0, 1), (0, 2))),
            "a state of the automaton has two answers",
        ),
        (lambda: StateMachine(((1,),), ((0,),), ()), "no state of the automaton has an answer"),
        (
            lambda: StateMachine(((1,),), ((0,),) * 10_001, ((0, 1),)),
            "the automaton has 10001 states, want 1 to",
        ),
    ],
)
def test_what_is_no_rule_is_refused(make, found):
    """Nothing is guessed: a missing transition or a second answer ends it."""
    with pytest.raises(DeclarationError, match=found):
        make()


def test_a_prompt_without_an_answer_is_shown():
    """Its right answer would be anybody's guess."""
    with pytest.raises(DeclarationError, match=r"prompt \(0,\), to which rule 'maximum' gives no answer"):
        ruled_task(Maximum((1, 2)), "any{1..2}", candidates=(1, 2))
    with pytest.raises(DeclarationError, match=r"'after previous' gives no answer: it has a last token that"):
        ruled_task(AfterPrevious((1, 2)), "[1, 2]{2}", candidates=(1, 2))


def test_what_a_rule_may_answer_is_a_candidate():
    """Otherwise no decision could be right."""
    with pytest.raises(DeclarationError, match="answer 3 to some prompts by rule 'maximum' is not among"):
        ruled_task(Maximum((1, 2, 3)), "[1, 2]{2}", candidates=(1, 2))


@pytest.mark.parametrize("kind", SEQUENCE_RULES, ids=lambda kind: kind.tag)
def test_every_prompt_of_a_pattern_has_the_label_of_its_answer(kind):
    """With the label its example, and the guess about the last token that was right."""
    draw = Random(2)  # noqa: S311  # as above
    made = 0
    for _ in range(20):
        rule = random_rule(draw, kind)
        try:
            labelled = ruled_task(rule, "any{2..3}").labelled
        except DeclarationError:
            continue
        made += 1
        prompts = [prompt for prompt in PROMPTS if len(prompt) in (2, 3)]
        assert {prompt: labelled.label_of(prompt).answer for prompt in prompts} == {
            prompt: obvious(rule, prompt) for prompt in prompts
        }
        assert {label.answer for label in labelled.labels} == {obvious(rule, prompt) for prompt in prompts}
    assert made or kind in (AfterPrevious, NextAbove)
