"""Bundles whose right answers are given by a rule that is none: each breaks one rule of the format."""

from collections.abc import Callable
from typing import Any

from bundle_maker import Bundle, fitting, proving

MACHINE: dict[str, Any] = {
    "kind": "automaton",
    "tokens": [[0, 1, 2], [3, 4]],
    "transitions": [[0, 0], [1, 1]],
    "answers": [[0, 1]],
}
"""An automaton that stays in its first state; nothing leads to the other."""


def ruled(answer: dict[str, Any], **change: Any) -> Bundle:
    """Return a proof of invariance, which does not ask what is right, with answers by a rule."""
    bundle = proving(fitting(), "invariance")
    candidates = bundle.claim["task"]["candidates"]
    tokens = {"answers": [[0, candidates[0]]]} if answer is MACHINE else {}
    bundle.claim["task"]["answer"] = {**answer, **tokens, **change}
    return bundle


def honest() -> Bundle:
    """Return one that holds."""
    return ruled(MACHINE)


def _by_count(**change: Any) -> Bundle:
    bundle = proving(fitting(), "invariance")
    candidates = bundle.claim["task"]["candidates"]
    rule = {"kind": "count", "of": [0], "answers": candidates, **change}
    bundle.claim["task"]["answer"] = rule
    return bundle


def _twice() -> Bundle:
    first, second, *_ = honest().claim["task"]["candidates"]
    return ruled(MACHINE, answers=[[0, first], [0, second]])


def _single() -> Bundle:
    first = honest().claim["task"]["candidates"][0]
    return ruled(MACHINE, answers=[[0, first, first]])


def _without_answers() -> Bundle:
    first = honest().claim["task"]["candidates"][0]
    return ruled(MACHINE, answers=[[1, first]])


FORGED: dict[str, Callable[[], Bundle]] = {
    "automata_have_few_states": lambda: ruled(MACHINE, transitions=[[0, 0]] * 10_001),
    "states_have_a_transition_for_each_class": lambda: ruled(MACHINE, transitions=[[0, 0], [1]]),
    "transitions_lead_to_states": lambda: ruled(MACHINE, transitions=[[0, 0], [1, 2]]),
    "classes_of_automata_have_tokens": lambda: ruled(MACHINE, tokens=[[0, 1, 2], []]),
    "states_have_answers": _single,
    "answers_are_of_states_once": _twice,
    "rules_list_tokens_once": lambda: ruled(MACHINE, tokens=[[0, 1, 2], [2, 4]]),
    "rules_speak_of_tokens": lambda: _by_count(of=[]),
    "rules_have_several_answers": lambda: _by_count(answers=honest().claim["task"]["candidates"][:1]),
    "rules_answer_each_prompt": _without_answers,
}
"""For each rule about rules a bundle that breaks just that rule."""
STOPPING = {"states_have_answers"}
REFUTING: set[str] = set()
