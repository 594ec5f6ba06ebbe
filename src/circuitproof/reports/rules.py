"""Rules that give the right answer, in words."""

from collections.abc import Sequence
from typing import TypeAlias, assert_never

from circuitproof.tasks.answer_rules import (
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
from circuitproof.tasks.names import TokenNames, named
from circuitproof.tasks.rules import AnswerRule, AnswerTable, OnlyOpener

_OfTokens: TypeAlias = (
    Maximum | Minimum | First | Last | MostFrequent | Count | Sum | AfterPrevious | NextAbove
)
_SHOWN = 12


def rule_words(rule: AnswerRule, names: TokenNames) -> str | None:
    """Say what a rule over the sequence answers; tables and openers are shown otherwise."""
    if isinstance(rule, (AnswerTable, OnlyOpener)):
        return None
    if isinstance(rule, StateMachine):
        states = len(rule.transitions)
        return f"by an automaton of {states} states and {len(rule.tokens)} classes of tokens"
    return _said(rule, names)


def _said(rule: _OfTokens, names: TokenNames) -> str:
    of = _listed(names, rule.of)
    match rule:
        case Maximum():
            return f"of the tokens that occur the last in this order: {of}"
        case Minimum():
            return f"of the tokens that occur the first in this order: {of}"
        case First():
            return f"the prompt's first token of {of}"
        case Last():
            return f"the prompt's last token of {of}"
        case MostFrequent():
            return f"the most frequent token, of several the one listed first: {of}"
        case Count(_, answers):
            return f"by how many tokens are of {of}, modulo {len(answers)}: {_listed(names, answers)}"
        case Sum(_, answers):
            return f"by the sum of places, from 0, in {of}, modulo {len(answers)}: {_listed(names, answers)}"
        case AfterPrevious():
            return f"the token after the previous occurrence of the last one, both of {of}"
        case NextAbove():
            return f"of the tokens that occur the first behind the last token in this order: {of}"
        case _:
            assert_never(rule)


def _listed(names: TokenNames, tokens: Sequence[int]) -> str:
    shown = ", ".join(named(names, token) for token in tokens[:_SHOWN])
    return f"{shown}, … ({len(tokens)} in all)" if len(tokens) > _SHOWN else shown
