"""What rules over a sequence mean, said once more of whole prompts; rules and tasks drawn at random."""

from dataclasses import replace
from operator import itemgetter

from circuitproof.circuits.graph import Head
from circuitproof.circuits.spelling import parse_circuit
from circuitproof.programs.text import parse
from circuitproof.proof.claim import Claim
from circuitproof.tasks.alphabet import Vocabulary
from circuitproof.tasks.answer_rules import (
    SEQUENCE_RULES,
    AfterPrevious,
    Count,
    First,
    Last,
    Maximum,
    Minimum,
    MostFrequent,
    NextAbove,
    StateMachine,
    Sum,
)
from circuitproof.tasks.pattern_text import parse_pattern
from circuitproof.tasks.rules import SameAnswer
from circuitproof.tasks.task import Task
from hand_models import PLAIN, build, freeze

VOCABULARY = 5
PATTERNS = (
    "any{1..4}",
    "[0, 1]{2..3} any",
    "2 any* 3 up to 4 tokens",
    "any{3} with at least 1 of [0, 4]",
    "(0 1 | 2){1..2} 3?",
    "3 [0, 2]{1..2} 3",
    "(0 | 2 1) 4 0 4",
)

CHOSEN = {
    Maximum: max,
    Minimum: min,
    First: itemgetter(0),
    Last: itemgetter(-1),
    MostFrequent: lambda places: max(sorted(places), key=places.count),
    NextAbove: min,
}
"""Which of the places of a prompt's tokens is that of the answer."""


def obvious(rule, prompt):
    """Return the answer to a prompt, looked at as a whole; none where it has none."""
    if isinstance(rule, StateMachine):
        return _walked(rule, prompt)
    if isinstance(rule, AfterPrevious):
        return _after_previous(rule.of, prompt)
    places = [rule.of.index(token) for token in prompt if token in rule.of]
    if isinstance(rule, (Count, Sum)):
        number = len(places) if isinstance(rule, Count) else sum(places)
        return rule.answers[number % len(rule.answers)]
    if isinstance(rule, NextAbove):
        last = rule.of.index(prompt[-1]) if prompt[-1] in rule.of else -1
        places = [place for place in places if place > last]
    return rule.of[CHOSEN[type(rule)](places)] if places else None


def _after_previous(of, prompt):
    earlier = [place for place, token in enumerate(prompt[:-1]) if token == prompt[-1]]
    found = prompt[earlier[-1] + 1] if earlier and prompt[-1] in of else None
    return found if found in of else None


def _walked(rule, prompt):
    state = 0
    for token in prompt:
        for place, members in enumerate(rule.tokens):
            if token in members:
                state = rule.transitions[state][place]
                break
    return dict(rule.answers).get(state)


def random_rule(draw, kind=None):
    """Return a rule about some of five tokens."""
    kind = kind or draw.choice(SEQUENCE_RULES)
    of = tuple(draw.sample(range(VOCABULARY), draw.randint(2, VOCABULARY)))
    if kind in (Count, Sum):
        return kind(of, tuple(draw.choice((0, 1, 2)) for _ in range(draw.randint(2, 3))))
    if kind is StateMachine:
        cut, states = draw.randint(1, len(of) - 1), draw.randint(1, 4)
        rows = tuple((draw.randrange(states), draw.randrange(states)) for _ in range(states))
        answers = tuple((state, draw.choice((0, 1, 2))) for state in range(states))
        return StateMachine((of[:cut], of[cut:]), rows, answers[: draw.choice((states, max(1, states - 1)))])
    return kind(of)


def ruled_task(rule, text, vocabulary=VOCABULARY, candidates=None):
    """Return the task of answering every prompt of a pattern by a rule."""
    candidates = candidates or tuple(range(vocabulary))
    return Task("t", Vocabulary(vocabulary), candidates, parse_pattern(text), rule, SameAnswer())


def by_machine(task):
    """Return a task about openers with its answers given by an automaton instead."""
    (first, one), (second, other) = task.answer.answers
    machine = StateMachine(((first,), (second,)), ((1, 2), (1, 1), (2, 2)), ((1, one), (2, other)))
    return replace(task, answer=machine, relation=SameAnswer())


ATTENTION = {
    "largest": ["default 0", *(f"add {6**token} when key_token == {token}" for token in range(4))],
    "smallest": ["default 0", *(f"add {6 ** (3 - token)} when key_token == {token}" for token in range(4))],
    "first": ["default 0", "add 1 when key_position == 0"],
    "last": ["default 0", "add 1 when relative_distance == 0"],
    "all": ["default 1"],
}
"""Programs that look at some tokens more than at others."""
COPYING = replace(PLAIN, vocabulary=4, context=12, width=4, head_width=4, mlp_width=0)
SQUARE = [[int(row == column) for column in range(4)] for row in range(4)]
CIRCUIT = {"layers": 1, "heads": 1, "mlps": False, "granularity": "head", "ablation": "zero"}


def attending(rule, lines, text, properties):
    """Return a claim about a head that hands on the tokens that a program looks at."""
    weights = dict.fromkeys(("embed.token", "head.0.0.value.weight", "head.0.0.output.weight"), SQUARE)
    programs = {Head(0, 0): parse("\n".join([*lines, "otherwise nowhere"]))}
    frozen = freeze(build({**weights, "logits.weight": SQUARE}, COPYING, programs))
    circuit = parse_circuit({**CIRCUIT, "edges": ["embed -> head 0.0", "head 0.0 -> logits"]}, "test")
    return Claim(frozen, circuit, ruled_task(rule, text, 4), properties)
