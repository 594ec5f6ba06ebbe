import pytest

from circuitproof.programs.text import parse
from circuitproof.proof.claim import Claim
from circuitproof.proof.patterns.memo import Memo
from circuitproof.proof.patterns.plan import Share
from circuitproof.proof.patterns.regions import Missing, PromptRegion, UnsettledError
from circuitproof.proof.properties.equivalence import Equivalence
from hand_models import circuit_of, freeze
from models import random_model
from pattern_claims import GRAPH, SIZES, task_of
from pattern_paths import logits_of, memo_of, plans_of, prompts_of

SEEDS = range(10)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_plan_gives_every_prompt_of_its_region_the_logits_of_the_forward_pass(seed):
    """Each prompt of the region, and no other, is one path."""
    task, logits = memo_of(seed).claim.task.labelled, logits_of(seed)
    for region, plan in plans_of(seed):
        inside = sorted(
            prompt
            for prompt in logits
            if task.label_of(prompt) == region.label and region.length in (None, len(prompt))
        )
        found = sorted(prompts_of(plan.runs), key=lambda one: one.prompt)
        assert [one.prompt for one in found] == inside
        assert all(plan.logits(one) == logits[one.prompt] for one in found)


@pytest.mark.parametrize("seed", SEEDS)
def test_how_a_row_enters_is_what_its_weights_say_on_every_prompt(seed):
    """One key of weight is chosen, one sum divides all, and only what is neither varies."""
    for _, plan in plans_of(seed):
        found = list(prompts_of(plan.runs))
        for head in {row.head for row in plan.varying}:
            assert len({sum(step.weights[head] for step in one.steps) for one in found}) > 1
        for term in plan.terms:
            rows = [
                [step.weights[term.head] for step in one.steps]
                for one in found
                if term.share is not Share.LAST
            ]
            if term.share is Share.CHOSEN:
                assert all(sum(weight > 0 for weight in row) == 1 for row in rows)
            assert term.share is not Share.CONSTANT or {sum(row) for row in rows} == {term.total}


@pytest.mark.parametrize("seed", SEEDS)
def test_any_prompt_is_one_of_the_shortest(seed):
    """It is cheap to look at."""
    for _, plan in plans_of(seed):
        shortest = min(len(one.prompt) for one in prompts_of(plan.runs))
        assert len(plan.any_prompt().prompt) == shortest


def test_plans_of_all_kinds_were_met():
    """So that the laws above say something about each."""
    plans = [plan for seed in SEEDS for _, plan in plans_of(seed)]
    assert {term.share for plan in plans for term in plan.terms} == set(Share)
    assert any(plan.varying for plan in plans)
    assert {plan.is_exact for plan in plans} == {False, True}


def unsettled(edges, program="default 1\notherwise self", pattern="any{1..3} with exactly 1 of [0, 1]"):
    """Return why a circuit has no plan of a whole pattern."""
    programs = {head: parse(program) for layer in range(2) for head in GRAPH.heads_of(layer)}
    circuit = circuit_of(edges, layers=2, heads=2)
    claim = Claim(freeze(random_model(SIZES, 0, programs)), circuit, task_of(pattern), (Equivalence(),))
    memo = Memo(claim)
    with pytest.raises(UnsettledError) as caught:
        memo.plan((PromptRegion(), memo.tables(circuit).outline.heads), circuit)
    return caught.value.missing, caught.value.reason


def test_what_an_mlp_bends_together_is_told():
    """With the last position known one coordinate is left; two heads stay tangled in every region."""
    first = ["embed -> head 0.0", "head 0.0 -> mlp 0", "mlp 0 -> logits"]
    assert unsettled([*first, "embed -> mlp 0"]) == (
        Missing.LAST,
        "mlp 0 bends what head 0.0 and the last position bring together",
    )
    assert unsettled([*first, "embed -> head 0.1", "head 0.1 -> mlp 0"]) == (
        Missing.STRUCTURE,
        "mlp 0 bends what head 0.0 and head 0.1 bring together",
    )


def test_a_bend_behind_a_mixing_row_wants_its_sum_where_that_is_open():
    """With a sum that is the same for all prompts no smaller region helps."""
    edges = ["embed -> head 0.0", "head 0.0 -> mlp 0", "mlp 0 -> logits"]
    reason = "mlp 0 bends what head 0.0 mixes from several keys"
    assert unsettled(edges) == (Missing.SUM, reason)
    assert unsettled(edges, pattern="any{3} with exactly 1 of [0, 1]") == (Missing.STRUCTURE, reason)
