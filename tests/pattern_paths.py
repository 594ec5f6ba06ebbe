"""Every prompt of a region by walking its graph: the slow obvious twin of what is minimised over it."""

from functools import cache

from circuitproof.proof.fold import fold
from circuitproof.proof.patterns.memo import Memo
from circuitproof.proof.patterns.plan import FoundPrompt
from circuitproof.proof.patterns.regions import PromptRegion, UnsettledError
from pattern_claims import random_claim
from pattern_strategies import all_prompts


def prompts_of(runs):
    """Return every prompt of a region with the steps that it takes."""
    left = [(start, (), ()) for start in runs.starts]
    while left:
        node, prompt, steps = left.pop()
        for step in runs.layers[len(prompt)].get(node, ()):
            for token in runs.machine.atoms[step.atom]:
                longer = (*prompt, token), (*steps, step)
                if step.target is None:
                    yield FoundPrompt(*longer)
                else:
                    left.append((step.target, *longer))


@cache
def memo_of(seed):
    """Return what the properties of a random claim share; tests may fill it but not change the claim."""
    return Memo(random_claim(seed))


@cache
def plans_of(seed):
    """Return the plans that can be made of a random claim, by label and length."""
    memo, found = memo_of(seed), []
    task, circuit = memo.claim.task, memo.claim.circuit
    for label in task.labelled.labels:
        for length in (None, task.longest):
            try:
                place = PromptRegion(label, length), memo.tables(circuit).outline.heads
                if memo.runs(place) is not None:
                    found.append((place[0], memo.plan(place, circuit)))
            except UnsettledError:
                continue
    return found


@cache
def logits_of(seed):
    """Return the exact logits of every prompt of a random claim, by the forward pass."""
    claim = memo_of(seed).claim
    prompts = all_prompts(claim.task.labelled.machine)
    folds = fold(claim.frozen, claim.task.candidates, [claim.circuit], prompts).of(claim.circuit)
    return {prompt: one.logits for prompt, one in zip(prompts, folds, strict=True)}
