import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.circuits.graph import Head
from circuitproof.proof.fold import fold
from circuitproof.proof.patterns.regions import PromptRegion, UnsettledError
from circuitproof.proof.patterns.relevance import Relevance, projections
from circuitproof.proof.patterns.runs import build_runs
from pattern_claims import random_claim, task_of
from pattern_strategies import all_prompts


@pytest.mark.parametrize("seed", range(16))
def test_prompts_that_agree_where_it_matters_have_the_same_logits(seed):
    """In any circuit, with heads in series and bends behind mixing rows too."""
    claim = random_claim(seed)
    programs, circuit, task = claim.frozen.programs, claim.circuit.live(), claim.task
    told = [programs[node] for node in circuit.nodes() if isinstance(node, Head)]
    for length in range(1, task.longest + 1):
        runs = build_runs(task.labelled, PromptRegion(length=length), {}, told)
        if runs is None:
            continue
        matter = sorted(Relevance(circuit, programs, runs).positions())
        prompts = [prompt for prompt in all_prompts(task.labelled.machine) if len(prompt) == length]
        found = fold(claim.frozen, task.candidates, [circuit], prompts).of(circuit)
        logits = {}
        for prompt, one in zip(prompts, found, strict=True):
            choice = tuple(prompt[place] for place in matter)
            assert logits.setdefault(choice, one.logits) == one.logits
        shown = projections(runs, frozenset(matter), 10_000)
        assert {tuple(prompt[place] for place in matter) for prompt in shown} == set(logits)
        assert len(shown) == len(logits)


@given(st.sets(st.integers(0, 3)))
def test_a_prompt_is_returned_for_each_choice(places):
    """And each is a prompt of the region."""
    task = task_of("any{4} with exactly 1 of [0, 1]")
    runs = build_runs(task.labelled, PromptRegion(), {})
    shown = projections(runs, frozenset(places), 10_000)
    prompts = all_prompts(task.labelled.machine)
    wanted = {tuple(prompt[place] for place in sorted(places)) for prompt in prompts}
    assert sorted(tuple(prompt[place] for place in sorted(places)) for prompt in shown) == sorted(wanted)
    assert all(prompt in task.labelled.machine for prompt in shown)


def test_too_many_choices_are_not_looked_at():
    """The answer is then open, and says why."""
    runs = build_runs(task_of("any{4} with exactly 1 of [0, 1]").labelled, PromptRegion(), {})
    with pytest.raises(UnsettledError, match="more than 7 choices of tokens at 2 positions matter"):
        projections(runs, frozenset({0, 1}), 7)
