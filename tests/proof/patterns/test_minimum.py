from functools import cache

import pytest

from circuitproof.proof.fold import fold
from circuitproof.proof.patterns.memo import Memo
from circuitproof.proof.patterns.minimum import Margin
from circuitproof.proof.patterns.plan import Share
from circuitproof.proof.patterns.regions import PromptRegion, UnsettledError
from pattern_claims import random_claim
from pattern_strategies import all_prompts


@cache
def planned(seed):
    """Return a claim, and the plan of each of its labels that can be made."""
    claim = random_claim(seed)
    memo, plans = Memo(claim), {}
    for label in claim.task.labelled.labels:
        for length in (None, *range(1, claim.task.longest + 1)):
            try:
                heads = memo.tables(claim.circuit).outline.heads
                place = (PromptRegion(label, length), heads)
                if memo.runs(place) is not None:
                    plans[label, length] = memo.plan(place, claim.circuit)
            except UnsettledError:
                continue
    return claim, plans


@pytest.mark.parametrize("seed", range(24))
def test_the_least_margin_is_that_of_some_prompt_and_of_none_below(seed):
    """Where at most one part varies it is exact; otherwise it is a lower bound."""
    claim, plans = planned(seed)
    prompts = all_prompts(claim.task.labelled.machine)
    logits = [
        one.logits
        for one in fold(claim.frozen, claim.task.candidates, [claim.circuit], prompts).of(claim.circuit)
    ]
    for (label, length), plan in plans.items():
        inside = [
            row
            for prompt, row in zip(prompts, logits, strict=True)
            if claim.task.labelled.label_of(prompt) == label and length in (None, len(prompt))
        ]
        least = Margin(plan, 0, 1).least()
        true = min(row[0] - row[1] for row in inside)
        assert least.value <= true
        assert not least.is_attained or least.value == true
        for found in least.prompts:
            assert plan.logits(found) == logits[prompts.index(found.prompt)]
        assert plan.logits(plan.any_prompt()) == logits[prompts.index(plan.any_prompt().prompt)]


def test_rows_of_all_kinds_were_met():
    """So that the test above says something about each."""
    plans = [plan for seed in range(24) for plan in planned(seed)[1].values()]
    assert {term.share for plan in plans for term in plan.terms} == set(Share)
    assert any(plan.varying for plan in plans)
    assert any(not plan.is_exact for plan in plans)
