"""Accuracy: on which prompts of a list a circuit decides the right answer, or on how many at least."""

from itertools import pairwise

from .case import Case, Decision
from .claim import Property
from .reading import require
from .work import paid


def proved(case: Case, evidence: object, claimed: Property) -> None:
    """Check that just the listed prompts are wrong, or that enough are right."""
    least = claimed.counted.least
    if least:
        found = _replayed(case, evidence, claimed, is_right=True)
        require("enough_prompts_are_right", found >= least, claimed.kind, found, least)
        return
    wrong = set(paid(claimed.counted.listed))
    for prompt, where, _, (fold,) in case.by_prompt(evidence, claimed, claimed.kind, case.claim.edges):
        decision = case.decision(fold, prompt, where)
        is_as_listed = _is_right(case, prompt, decision) != (prompt in wrong)
        require("listed_prompts_are_the_wrong_ones", is_as_listed, where, decision)


def refuted(case: Case, evidence: object, claimed: Property) -> None:
    """Check a prompt that is right and listed, or neither, or that too many are wrong."""
    where, least, count = claimed.kind, claimed.counted.least, len(case.claim.prompts)
    if least:
        found = _replayed(case, evidence, claimed, is_right=False)
        require("too_many_prompts_are_wrong", found > count - least, where, found, count - least)
        return
    prompt, (fold,) = case.replay(evidence, claimed, where)
    decision = case.decision(fold, prompt, where)
    is_listed = prompt in paid(claimed.counted.listed)
    require("list_is_wrong_of_the_prompt", _is_right(case, prompt, decision) == is_listed, where, decision)


def _replayed(case: Case, evidence: object, claimed: Property, *, is_right: bool) -> int:
    """Return how many prompts are shown to be right, or wrong."""
    where, entries = claimed.kind, case.replays(evidence, claimed, claimed.kind)
    prompts = [prompt for prompt, _ in paid(entries)]
    require("replayed_prompts_increase", all(a < b for a, b in pairwise(paid(prompts))), where)
    case.prepare(case.claim.edges, prompts=prompts)
    for prompt, (fold,) in paid(entries):
        decision, place = case.decision(fold, prompt, where), f"{where}, prompt {prompt}"
        is_as_said = _is_right(case, prompt, decision) == is_right
        require("replayed_prompts_are_as_said", is_as_said, place, decision)
    return len(prompts)


def _is_right(case: Case, prompt: int, decision: Decision) -> bool:
    return decision == frozenset({case.claim.task.answers[prompt]})
