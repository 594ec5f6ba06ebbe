"""Graphs of prompts are those of a listing: how many of each label there are, which tokens stand where."""

import random
from collections import Counter
from itertools import product
from typing import Any

import pytest

from bundle_maker import architecture
from circuitproof_check import work
from circuitproof_check.architecture import read_architecture
from circuitproof_check.patterns.runs import World
from circuitproof_check.patterns.shapes import read_pattern, read_tokens
from circuitproof_check.rules import OpenerRules, read_rule
from circuitproof_check.sums.areas import Area, whole
from circuitproof_check.sums.automaton import Automaton
from circuitproof_check.task import DeclaredPattern

VOCABULARY = 5
SIZE = read_architecture(architecture(vocabulary=VOCABULARY, context=9), "test")
ANY: dict[str, Any] = {"all but": []}
OF = [3, 0, 4]
RULES: list[dict[str, Any]] = [
    *({"kind": kind, "of": OF} for kind in ("maximum", "minimum", "first", "last", "most frequent")),
    *({"kind": kind, "of": OF} for kind in ("after previous", "next above")),
    {"kind": "count", "of": OF, "answers": [1, 2, 1]},
    {"kind": "sum", "of": OF, "answers": [2, 0]},
]
PATTERNS: list[dict[str, Any]] = [
    {"shape": {"repeat": ANY, "least": 1, "most": 3}, "clauses": [], "longest": 3},
    {
        "shape": {"sequence": [{"repeat": {"tokens": [0, 3]}, "least": 1, "most": None}, ANY]},
        "clauses": [{"of": {"tokens": [4]}, "first": 2, "last": 3}],
        "longest": 4,
    },
    {
        "shape": {"choice": [{"sequence": [{"tokens": [3]}, {"repeat": ANY, "least": 0, "most": 2}]}, ANY]},
        "clauses": [{"of": {"tokens": [0, 4]}, "least": 1, "most": 2}],
        "longest": 3,
    },
]
Prompt = tuple[int, ...]
EVERY = [one for n in range(1, 5) for one in product(range(VOCABULARY), repeat=n)]


@pytest.fixture(autouse=True)
def allowed():
    """Allow more work than a test takes; whatever was judged before left another number."""
    work.allow(10**12)


def label_of(rules: Any, prompt: Prompt) -> Any:
    """Return the label of a prompt by following the rules token by token."""
    found = None
    for start in rules.starts():
        known = start
        for token in prompt:
            known = rules.see(known, token)
        found = rules.label(known) if rules.is_guessed(known) else found
    return found


def world_of(pattern: dict[str, Any], rule: dict[str, Any] | None) -> World:
    """Return a pattern with the rules that label its prompts."""
    openers = OpenerRules({0: 1, 3: 2}, frozenset({0, 3}))
    rules = openers if rule is None else read_rule(rule, "test", VOCABULARY)
    return World(DeclaredPattern(read_pattern(pattern, "pattern", SIZE), rules), VOCABULARY, {})


def check(area: Area, prompts: dict[Prompt, Any]) -> None:
    """Demand that an area is what a listing says."""
    assert area.counts() == Counter(prompts.values())
    assert set(area.graphs) == {len(prompt) for prompt in prompts}
    for length, graph in area.graphs.items():
        alike = [prompt for prompt in prompts if len(prompt) == length]
        assert graph.count() == len(alike)
        for position in range(length):
            assert graph.standing(position) == sorted({prompt[position] for prompt in alike})


@pytest.mark.parametrize("pattern", PATTERNS, ids=["any", "in order", "chosen"])
@pytest.mark.parametrize("rule", RULES, ids=[rule["kind"] for rule in RULES])
def test_areas_are_those_of_a_listing(pattern, rule):
    """Whatever is asked in whatever order; prompts without a label are noticed."""
    world, draw = world_of(pattern, rule), random.Random(str(rule))  # noqa: S311  # questions, not secrets
    automaton = Automaton(world)
    listed = {prompt: label_of(world.rules, prompt) for prompt in EVERY if world.holds(prompt)}
    assert automaton.is_labelled == (None not in listed.values())
    known = {prompt: label for prompt, label in listed.items() if label is not None}
    assert automaton.labels == sorted(set(known.values()))
    area = whole(automaton)
    if not automaton.is_labelled:
        return
    check(area, known)
    for _ in range(4):
        part, left = area, known
        for question in draw.sample(("label", "length", "token"), 3):
            if not left:
                break
            if question == "label":
                label = draw.choice(sorted(set(left.values())))
                part, left = part.of_label(label), {p: one for p, one in left.items() if one == label}
            elif question == "length":
                length = draw.randrange(1, 5)
                part, left = part.of_length(length), {p: one for p, one in left.items() if len(p) == length}
            else:
                position = draw.randrange(min(map(len, left)))
                tokens = read_tokens({"tokens": sorted(draw.sample(range(VOCABULARY), 2))}, "test", SIZE)
                part = part.of_token(position, tokens)
                left = {p: one for p, one in left.items() if p[position] in tokens}
            check(part, left)
            assert all(part.holds(prompt, known[prompt]) == (prompt in left) for prompt in known)


def test_openers_label_prompts_as_well():
    """The rule of the first format: one opener in each prompt."""
    world = world_of(PATTERNS[0] | {"clauses": [{"of": {"tokens": [0, 3]}, "least": 1, "most": 1}]}, None)
    listed = {prompt: label_of(world.rules, prompt) for prompt in EVERY if world.holds(prompt)}
    check(whole(Automaton(world)), listed)


def test_nodes_from_which_the_same_comes_are_one():
    """Of "the largest token is y" two are left at each position, whatever the vocabulary."""
    automaton = Automaton(world_of(PATTERNS[0], {"kind": "maximum", "of": list(range(VOCABULARY))}))
    graph = automaton.graph((3, 3), 3)
    assert graph is not None
    assert [len(layer) for layer in graph.layers] == [1, 2, 2]
