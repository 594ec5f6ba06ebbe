"""Least sums, the boxes that they are about and what closes them are those of the twin, to the last bit."""

import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from checker_reading import checker_forward
from circuitproof_check import work
from circuitproof_check.sums.areas import Area
from circuitproof_check.sums.boxes import Box, LeadSums
from circuitproof_check.sums.cuts import CutTree, CutWeights, read_cuts
from circuitproof_check.sums.settle import PatternSums, endings
from softmax_pattern_claims import EVERY, TWO, SoftmaxPattern
from sums_twin import Prompt

THROUGH_MLP = [
    "embed -> mlp 0",
    "embed -> head 1.0",
    "embed -> logits",
    "mlp 0 -> head 1.0",
    "mlp 0 -> logits",
    "head 1.0 -> logits",
]
MODELS: dict[str, dict[str, Any]] = {
    "one head": {"edges": EVERY},
    "nothing but the head": {"edges": ["embed -> head 0.0", "head 0.0 -> logits"], "biases": False},
    "two heads": {"edges": TWO, "heads": 2},
    "two heads, rotated": {"edges": TWO, "heads": 2, "rotary": 2},
    "behind an MLP": {"edges": THROUGH_MLP, "layers": 2, "activation": {"kind": "gelu", "form": "exact"}},
    "steep": {"edges": EVERY, "attention_scale": "64"},
    "steep, in few bits": {"edges": EVERY, "attention_scale": "64", "p": 20},
    "no head": {"edges": ["embed -> logits"]},
}
Case = tuple[SoftmaxPattern, list[Prompt], tuple[int, int], LeadSums, Box]


@pytest.fixture(autouse=True)
def allowed():
    """Allow more work than a test takes; whatever was judged before left another number."""
    work.allow(10**12)


def cases(made: SoftmaxPattern) -> Iterator[Case]:
    """Return the sums of each length and end, in all prompts and in a part of them, with the prompts."""
    made.sealed()
    sums = PatternSums(checker_forward(made.bundle), made.p)
    label = made.label(made.prompts[0])
    for area in (sums.area, sums.area.of_label(label)):
        for ending in endings(area):
            listed = [
                one for one in prompts_of(made, area) if (len(one), one[-1]) == (ending.length, ending.last)
            ]
            for winner in range(len(made.candidates)):
                for other, found, box in sums.leads(ending, winner):
                    yield made, listed, (winner, other), found, box


def prompts_of(made: SoftmaxPattern, area: Area) -> list[Prompt]:
    """Return the prompts of an area."""
    return [prompt for prompt in made.prompts if area.holds(prompt, made.label(prompt))]


def trees(made: SoftmaxPattern, draw: random.Random, depth: int = 0) -> Any:
    """Return a tree of cuts as JSON."""
    heads = [head.removeprefix("head ") for head in made.twin.heads]
    if depth > 1 or not heads or draw.random() < 0.4:
        return [draw.choice((0, 1, 1, 3, 10**6)) for _ in range(2 * len(heads))]
    at = sorted(draw.sample(range(-(1 << 17), 1 << 17), draw.choice((1, 2))))
    parts = [trees(made, draw, depth + 1) for _ in range(len(at) + 1)]
    return {"head": draw.choice(heads), "at": at, "parts": parts}


def tree_of(value: Any) -> CutTree:
    """Return a tree as the checker reads it."""
    return read_cuts([{"over": [1], "tree": value}], "here", 2, 0)[1]


@pytest.mark.parametrize("name", MODELS)
def test_least_sums_are_those_of_listed_prompts(name):
    """Base, boxes and least sums are integers that two readers of the specification share."""
    seen = 0
    for number, (made, prompts, yt, found, box) in enumerate(cases(SoftmaxPattern(7, **MODELS[name]))):
        twin, draw = made.twin, random.Random(number)  # noqa: S311  # weights for a test
        assert found.base == twin.lead(prompts[0][-1], len(prompts[0]), *yt)
        assert list(box) == twin.box(prompts, *yt)
        if box:
            weights = draw.choice((twin.usual(), [draw.randrange(4) for _ in twin.usual()]))
            assert found.least(weights, box) == twin.least(prompts, yt, list(box), weights)
        seen += 1
    assert seen > 50


@pytest.mark.parametrize("name", ["one head", "two heads", "two heads, rotated", "no head"])
def test_trees_close_what_the_twin_says_they_close(name):
    """Divisions and weights at random; both answers occur."""
    closed: list[bool] = []
    for number, (made, prompts, yt, found, box) in enumerate(cases(SoftmaxPattern(8, **MODELS[name]))):
        draw = random.Random(number)  # noqa: S311  # trees for a test
        tree = trees(made, draw)
        closed.append(found.closes(tree_of(tree), box, "here"))
        assert closed[-1] == made.twin.closes(prompts, yt, tree), (prompts, yt, tree)
    assert 0 < sum(closed) < len(closed)


def leads(made: SoftmaxPattern, prompts: Sequence[Prompt], winner: int) -> bool:
    """Say whether a candidate is known to be decided on all prompts."""
    return all(made.decision(prompt) == winner for prompt in prompts)


def test_what_closes_for_all_others_is_decided_prompt_by_prompt():
    """So the specification's proof is tried on numbers: no leaf holds of a prompt that decides otherwise."""
    closed: dict[tuple[tuple[Prompt, ...], int], bool] = {}
    for name in ("one head", "two heads", "steep"):
        for made, prompts, (winner, _), found, box in cases(SoftmaxPattern(9, **MODELS[name])):
            usual = CutWeights(tuple(made.twin.usual()))
            key = tuple(prompts), winner
            closed[key] = closed.get(key, True) and found.closes(usual, box, "here")
        for (listed, winner), is_closed in closed.items():
            assert not is_closed or leads(made, listed, winner)
        assert any(closed.values())
        closed.clear()
