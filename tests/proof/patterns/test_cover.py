import itertools
from fractions import Fraction
from functools import cache

import pytest

from circuitproof.circuits.graph import Head
from circuitproof.proof.effort import Effort, Pace
from circuitproof.proof.evidence import Open, Replay
from circuitproof.proof.fold import fold
from circuitproof.proof.patterns import cover as module
from circuitproof.proof.patterns.cover import Cover
from circuitproof.proof.patterns.goals import Seen
from circuitproof.proof.patterns.regions import PromptRegion
from circuitproof.proof.patterns.runs import build_runs
from circuitproof.proof.properties.equivalence import Right
from circuitproof.proof.properties.invariance import Alike
from circuitproof.proof.properties.necessity import Idle
from circuitproof.proof.properties.robustness import Robustness, robust_goal
from pattern_paths import memo_of, prompts_of
from pattern_strategies import all_prompts

SEEDS = range(8)
GOALS = ("right", "alike", "robust", "idle")


def specification_of(claim, name):
    """Return a goal by its name, for a claim."""
    match name:
        case "right":
            return Right(claim.task)
        case "alike":
            return Alike()
        case "robust":
            return robust_goal(claim, Robustness(Fraction(1, 8)))
        case _:
            return Idle(claim.circuit.lesions()[0])


@cache
def looked_at(seed, lesion):
    """Return every prompt of a claim as the forward pass sees it."""
    claim = memo_of(seed).claim
    circuits = [claim.circuit, *([] if lesion is None else [lesion])]
    prompts = all_prompts(claim.task.labelled.machine)
    folded = fold(claim.frozen, claim.task.candidates, circuits, prompts)
    rows = zip(prompts, *(folded.of(circuit) for circuit in circuits), strict=True)
    return [Seen(prompt, claim.task.labelled.label_of(prompt), *logits) for prompt, *logits in rows]


@pytest.mark.parametrize("effort", [Effort(), Effort(regions=1), Effort(regions=1, listed=2)], ids=str)
@pytest.mark.parametrize("name", GOALS)
def test_an_answer_is_what_looking_at_every_prompt_says(name, effort):
    """Evidence only where nothing breaks the goal, replays only where something does, or it is left open."""
    kinds = set()
    for seed in SEEDS:
        memo = memo_of(seed)
        found = Cover(memo, specification_of(memo.claim, name), effort).whole()
        judge = specification_of(memo.claim, name)
        is_broken = any([judge.broken_by(one) is not None for one in looked_at(seed, judge.second)])  # noqa: C419  # likeness remembers
        kinds.add(type(found))
        assert isinstance(found, Open) or isinstance(found, Replay) == is_broken
        if isinstance(found, Replay):
            known = {one.prompt: one.replayed() for one in looked_at(seed, judge.second)}
            assert all(known[one.prompt].leaf.fold == one.leaf.fold for one in found.prompts)
    assert len(kinds) > 1


@pytest.mark.parametrize("name", GOALS)
def test_prompts_in_batches_are_answered_as_all_at_once(name, monkeypatch):
    """A batch that breaks the goal is the last, and time that ends between two leaves the rest open."""
    lasting = Effort(regions=1)
    whole = [Cover(memo, specification_of(memo.claim, name), lasting).whole() for memo in map(memo_of, SEEDS)]
    monkeypatch.setattr(module, "_TOGETHER", 2)
    parts = [Cover(memo, specification_of(memo.claim, name), lasting).whole() for memo in map(memo_of, SEEDS)]
    assert parts == whole
    ticks = itertools.count()
    ending = Effort(regions=1, pace=Pace(4, ticks.__next__))
    late = [Cover(memo, specification_of(memo.claim, name), ending).whole() for memo in map(memo_of, SEEDS)]
    assert any(isinstance(found, Open) for found in late)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_survey_names_the_positions_that_matter(seed):
    """Prompts of a length that agree there have the same logits, and each choice is shown once."""
    memo = memo_of(seed)
    every = looked_at(seed, None)
    lengths = sorted({len(one.prompt) for one in every})
    found = list(Cover(memo, Right(memo.claim.task), Effort()).survey(PromptRegion()))
    for length, (positions, prompts) in zip(lengths, found, strict=False):
        logits = {}
        for one in every:
            if len(one.prompt) == length:
                choice = tuple(one.prompt[place] for place in positions)
                assert logits.setdefault(choice, one.fold.logits) == one.fold.logits
        assert sorted(tuple(prompt[place] for place in positions) for prompt in prompts) == sorted(logits)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_sums_of_a_row_are_those_of_its_prompts(seed):
    """Of all prompts of a region, and of no other."""
    claim = memo_of(seed).claim
    head, program = next(iter(claim.frozen.programs.items()))
    for length in (1, 2, 3):
        try:
            runs = build_runs(claim.task.labelled, PromptRegion(length=length), {head: program})
        except module.UnsettledError:
            continue
        if runs is not None:
            sums = {
                Fraction(sum(step.weights[0] for step in one.steps), runs.scales[0])
                for one in prompts_of(runs)
            }
            assert module._sums(runs, head) == sums


def test_halves_of_keys_part_their_range():
    """Down to single positions, which have none."""
    head, longest = Head(0, 0), 4
    regions, ends = [PromptRegion()], []
    while regions:
        region = regions.pop()
        parts = module._halves(region, head, longest)
        regions += [region.with_keys(*part) for part in parts]
        ends += [] if parts else [region.keys]
    assert sorted(ends) == [((head, place, place),) for place in range(4)]
    assert module._halves(PromptRegion(), None, longest) == []
