from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from circuitproof.circuits.graph import Head
from circuitproof.programs.meaning import row
from circuitproof.programs.text import parse
from circuitproof.proof.patterns import runs as module
from circuitproof.proof.patterns.regions import PromptRegion, UnsettledError
from circuitproof.proof.patterns.runs import build_runs, cheapest, through
from circuitproof.tasks.labelling import Label
from circuitproof.tasks.patterns import TokenClass
from pattern_claims import PATTERNS, task_of
from pattern_strategies import all_prompts

HEAD = Head(0, 0)
PROGRAM = parse("default 0\nadd 1 when key_token in {0, 2}\nadd 1/2 when key_position == 0\notherwise self")


def walked(runs):
    """Return every prompt of a graph with its steps."""
    found, paths = [], [((), (), start) for start in runs.starts if start in runs.layers[0]]
    while paths:
        prompt, steps, node = paths.pop()
        if node is None:
            found.append((prompt, steps))
            continue
        for step in runs.layers[len(prompt)][node]:
            members = runs.machine.atoms[step.atom]
            paths += [((*prompt, token), (*steps, step), step.target) for token in members]
    return found


def regions():
    """Draw a region of the random tasks."""
    return st.builds(
        PromptRegion,
        label=st.sampled_from([None, Label(0, 0), Label(1, 1)]),
        length=st.sampled_from([None, 2, 3]),
        tokens=st.sampled_from(
            [(), ((1, TokenClass((0, 3))),), ((0, TokenClass((2,), is_complement=True)),)]
        ),
        sums=st.sampled_from([(), ((HEAD, Fraction(1)),), ((HEAD, Fraction(3, 2)),)]),
        keys=st.sampled_from([(), ((HEAD, 0, 1),)]),
    )


def is_inside(task, region, prompt):
    """Say whether a prompt is in a region, by its definition."""
    keys = dict(enumerate(_weights(prompt)))
    return (
        region.label in (None, task.labelled.label_of(prompt))
        and region.length in (None, len(prompt))
        and all(place < len(prompt) and prompt[place] in tokens for place, tokens in region.tokens)
        and all(sum(keys.values()) == total for _, total in region.sums)
        and all(
            any(keys.values()) and all(a <= place <= b for place in keys if keys[place])
            for _, a, b in region.keys
        )
    )


def _weights(prompt):
    return [Fraction(token in (0, 2)) + Fraction(place == 0, 2) for place, token in enumerate(prompt)]


@given(st.sampled_from(PATTERNS), regions())
def test_the_paths_are_the_prompts_of_the_region(text, region):
    """Each prompt stands on one path, with the weights of the program's row."""
    task = task_of(text)
    inside = [prompt for prompt in all_prompts(task.labelled.machine) if is_inside(task, region, prompt)]
    runs = build_runs(task.labelled, region, {HEAD: PROGRAM})
    found = [] if runs is None else walked(runs)
    assert sorted(prompt for prompt, _ in found) == sorted(inside)
    for prompt, steps in found:
        weights = [step.weights[0] for step in steps]
        total = sum(weights)
        if total:
            expected = row(PROGRAM, prompt, len(prompt) - 1)
            assert tuple((k, Fraction(w, total)) for k, w in enumerate(weights) if w) == expected


@settings(max_examples=15)
@given(st.sampled_from(PATTERNS[3:5]), st.integers(0, 1000))
def test_the_cheapest_path_is_the_cheapest(text, seed):
    """Over all prompts, also of those with weight, and of those through each step."""
    draw = Random(seed)  # noqa: S311  # costs, not secrets
    runs = build_runs(task_of(text).labelled, PromptRegion(), {HEAD: PROGRAM})
    costs = {(k, step): Fraction(draw.randint(-5, 5)) for k, step in runs.steps()}
    paths = [steps for _, steps in walked(runs)]

    def cost(position, step):
        return costs[position, step]

    def total(steps):
        return sum(costs[k, step] for k, step in enumerate(steps))

    found = cheapest(runs, cost)
    assert found.cost == total(found.steps) == min(map(total, paths))
    heavy = [steps for steps in paths if any(step.weights[0] > 1 for step in steps)]
    weighty = cheapest(runs, cost, lambda step: step.weights[0] > 1)
    assert (weighty is None) == (not heavy)
    if weighty is not None:
        assert weighty.cost == min(map(total, heavy))
    least = {}
    for position, step, value in through(runs, cost):
        least[position, step] = min(value, least.get((position, step), value))
    for (position, step), value in least.items():
        via = [steps for steps in paths if len(steps) > position and steps[position] == step]
        assert value == min(map(total, via))


def test_more_steps_than_can_be_followed_are_not_followed(monkeypatch):
    """Memory is finite; the answer is then open."""
    monkeypatch.setattr(module, "_MOST_STEPS", 10)
    with pytest.raises(UnsettledError, match="more than 10 steps"):
        build_runs(task_of(PATTERNS[0]).labelled, PromptRegion(), {})


def test_a_region_is_named_by_what_it_tells():
    """For sentences about what is open."""
    region = (
        PromptRegion(Label(1, 0), 3)
        .with_token(1, TokenClass((4,), is_complement=True))
        .with_sum(HEAD, Fraction(2))
    )
    assert str(region.with_keys(HEAD, 0, 4).with_keys(HEAD, 0, 2)) == (
        "opener 0, length 3, position 1 in all but {4}, weights of head 0.0 sum to 2, "
        "keys of head 0.0 at 0 to 2"
    )
    assert str(PromptRegion()) == "all prompts"
