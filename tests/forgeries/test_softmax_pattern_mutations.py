"""Random changes to honest bundles about patterns for softmax heads: what is still accepted is true.

`CIRCUITPROOF_CHANGES=100000 pytest tests/forgeries/test_softmax_pattern_mutations.py` is the nightly size.
"""

import os
import random
from collections import Counter
from copy import deepcopy
from functools import cache

import pytest

from bundle_maker import Bundle
from circuitproof_check.main import Outcome, check
from enclosed_twin import EnclosedNaive, leader
from json_changes import change_json
from softmax_pattern_claims import TWO, SoftmaxPattern
from softmax_pattern_forgeries import by_label, has_errors, is_uniform, suiting

CHANGES = int(os.environ.get("CIRCUITPROOF_CHANGES", "800")) // 4
PARTS = ("evidence", "evidence", "evidence", "answer", "properties", "task", "pattern", "prompts")


@cache
def counted(heads: int) -> SoftmaxPattern:
    """Return a claim of exactly how many prompts are right, by leaves of all kinds."""
    made = SoftmaxPattern(5, TWO if heads > 1 else None, heads=heads)
    return made.accuracy(exactly=str(made.right()))


@cache
def equivalent() -> SoftmaxPattern:
    """Return a claim of equivalence and invariance."""
    made = suiting(is_uniform, loudness=8)
    for kind in ("equivalence", "invariance"):
        remarks = ["implied by equivalence"] * (kind == "invariance")
        made.answer({"kind": kind}, "proved", made.tree(made.prompts), remarks)
    return made


@cache
def listed() -> SoftmaxPattern:
    """Return a claim of which prompts are wrong."""
    made = suiting(has_errors)
    wrong = sorted(made.show(prompt) for prompt in made.prompts if not made.is_right(prompt))
    return made.accuracy(evidence=by_label(made, made.shown), wrong=wrong)


HONEST = {
    "one head": lambda: counted(1),
    "two heads": lambda: counted(2),
    "equivalence": equivalent,
    "list": listed,
}


def is_true(bundle: Bundle, prompts: list[tuple[int, ...]]) -> bool:
    """Say whether all that is claimed holds, by looking at every prompt."""
    task, edges = bundle.claim["task"], bundle.claim["circuit"]["edges"]
    answers = dict(map(tuple, task["answer"]["answers"]))
    right, classes, wrong = 0, dict[int, set[int | None]](), list[list[int]]()
    for prompt in prompts:
        openers = [token for token in prompt if token in answers]
        group = next((token for token in prompt if token in task["relation"]["openers"]), -1)
        found = leader(EnclosedNaive(bundle, edges, list(prompt), 256).enclosed())
        decided = None if found is None else task["candidates"][found]
        classes.setdefault(group, set()).add(decided)
        is_right = len(openers) == 1 and decided == answers[openers[0]]
        right, wrong = right + is_right, wrong if is_right else [*wrong, list(prompt)]
    for claimed in bundle.claim["properties"]:
        match claimed:
            case {"kind": "accuracy", "least": least}:
                holds = right >= int(least)
            case {"kind": "accuracy", "exactly": number}:
                holds = right == int(number)
            case {"kind": "accuracy", "wrong": numbers}:
                shown = [bundle.domain["prompts"][number] for number in numbers]
                holds = sorted(shown) == sorted(wrong)
            case {"kind": "equivalence"}:
                holds = not wrong
            case _:
                holds = all(len(found) == 1 and None not in found for found in classes.values())
        if not holds:
            return False
    return True


def prompts_of(bundle: Bundle, made: SoftmaxPattern) -> list[tuple[int, ...]] | None:
    """Return the prompts of the (changed) pattern; none where it is another than is listed."""
    pattern = bundle.domain["pattern"]
    return made.prompts if pattern == made.pattern else None


@pytest.mark.parametrize("name", HONEST)
def test_what_is_still_accepted_is_still_true(name, tmp_path):
    """Most changes are refused; none makes the checker stop, and none makes it believe what is false."""
    made = HONEST[name]()
    honest = made.sealed()
    outcome, reason = check(deepcopy(honest).write(tmp_path / "honest"))
    assert outcome is Outcome.VALID, reason
    outcomes: Counter[Outcome] = Counter()
    for number in range(CHANGES // len(HONEST)):
        draw = random.Random(number)  # noqa: S311  # changes, not secrets
        bundle = deepcopy(honest)
        answers = bundle.certificate["answers"]
        parts = {
            "evidence": draw.choice(answers)["evidence"],
            "answer": answers,
            "properties": bundle.claim["properties"],
            "task": bundle.claim["task"],
            "pattern": bundle.domain["pattern"],
            "prompts": bundle.domain,
        }
        part = draw.choice(PARTS)
        change_json(parts[part], draw)
        if part == "properties":  # what is claimed and what is answered are changed alike
            for answer, claimed in zip(answers, bundle.claim["properties"], strict=False):
                answer["property"] = claimed
        outcome, reason = check(bundle.write(tmp_path / str(number)))
        outcomes[outcome] += 1
        assert outcome is not Outcome.FAILURE, (number, part, reason)
        prompts = prompts_of(bundle, made)
        assert outcome is not Outcome.VALID or prompts is None or is_true(bundle, prompts), (number, part)
    assert outcomes[Outcome.INVALID] > outcomes.total() // 2
