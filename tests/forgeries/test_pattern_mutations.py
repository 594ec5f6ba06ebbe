"""Random changes to valid bundles about patterns, digests sealed anew: what is still accepted is true.

`CIRCUITPROOF_CHANGES=100000 pytest tests/forgeries/test_pattern_mutations.py` is the nightly size.
"""

import os
import random
from collections import Counter
from copy import deepcopy
from functools import cache
from itertools import product

import pytest

from bundle_maker import Naive
from circuitproof_check.main import Outcome, check
from json_changes import drawn_place, other_text
from pattern_forgeries import EQUIVALENCE, MEMBER, uniform

CHANGES = int(os.environ.get("CIRCUITPROOF_CHANGES", "1000")) // 4
LAST = [
    "default 0",
    "add 1 when key_token in {0, 2}",
    "add 1 when query_token == 5 and key_position > 7",
    "otherwise self",
]


@cache
def valid_bundles():
    """Return proofs with the least margins, divided by length and last token, and with prompts shown."""
    plain = uniform(programs=MEMBER)
    divided = uniform(programs={"0.0": LAST})

    def by_length(opener, answer):
        def part(length, tokens):
            prompts = [p for p in divided.of(opener) if len(p) == length and p[-1] in tokens]
            return {"class": {"tokens": tokens}, "evidence": divided.leaf(prompts, answer)}

        def by_token(length, classes):
            children = [part(length, tokens) for tokens in classes]
            return {"split": "token", "position": length - 1, "children": children}

        kinds = {1: [[opener]], 2: [[opener], [1, 3, 4], [5]]}
        children = [{"length": n, "evidence": by_token(n, classes)} for n, classes in kinds.items()]
        return {"split": "length", "children": children}

    shown = uniform(programs=MEMBER)
    return [
        plain.sealed(EQUIVALENCE, plain.settled()),
        divided.sealed(EQUIVALENCE, divided.by_label(by_length)),
        shown.sealed(EQUIVALENCE, shown.by_label(lambda opener, _: shown.shown(shown.of(opener)))),
    ]


def change(value, draw):
    """Change one place: a number, a rational, a word, or the number of entries."""
    parent, key = drawn_place(value, draw)
    old = parent[key]
    if isinstance(parent, list) and draw.random() < 0.3:
        parent.insert(key, deepcopy(old)) if draw.random() < 0.5 else parent.pop(key)
    elif isinstance(old, int):
        parent[key] = old + draw.choice((-1, 1, 2))
    elif isinstance(old, str):
        parent[key] = other_text(old, draw)
    elif old is None or isinstance(parent, dict):
        parent[key] = draw.choice((0, 1, 2, None, [], {}))


def matches(shape, prompt):
    """Say whether a shape matches a prompt, by trying every way to cut it."""
    match shape:
        case {"tokens": tokens}:
            return len(prompt) == 1 and prompt[0] in tokens
        case {"all but": tokens}:
            return len(prompt) == 1 and prompt[0] not in tokens
        case {"choice": parts}:
            return any(matches(part, prompt) for part in parts)
        case {"sequence": parts}:
            return _in_order(parts, prompt)
        case {"repeat": part, "least": least, "most": most}:
            most = len(prompt) + least if most is None else most
            return any(_in_order([part] * times, prompt) for times in range(least, most + 1))


def _in_order(parts, prompt):
    if not parts:
        return not prompt
    cuts = range(len(prompt) + 1)
    return any(matches(parts[0], prompt[:cut]) and _in_order(parts[1:], prompt[cut:]) for cut in cuts)


def is_denoted(pattern, prompt):
    """Say whether a prompt is one of a pattern."""
    for clause in pattern["clauses"]:
        found = [p for p, token in enumerate(prompt) if matches(clause["of"], (token,))]
        if "first" in clause and not all(clause["first"] <= p <= clause["last"] for p in found):
            return False
        if "least" in clause:
            most = clause["most"]
            if len(found) < clause["least"] or (most is not None and len(found) > most):
                return False
    return len(prompt) <= pattern["longest"] and matches(pattern["shape"], prompt)


def is_true(bundle):
    """Say whether the (changed) claim of equivalence holds, by looking at every prompt."""
    task, pattern = bundle.claim["task"], bundle.domain["pattern"]
    answers = {pair[0]: pair[1] for pair in task["answer"]["answers"]}
    size = bundle.claim["architecture"]
    lengths = range(1, size["context"] + 1)
    for prompt in (p for n in lengths for p in product(range(size["vocabulary"]), repeat=n)):
        if is_denoted(pattern, prompt):
            openers = [token for token in prompt if token in answers]
            logits = Naive(bundle, bundle.claim["circuit"]["edges"], list(prompt)).logits()
            best = [t for t, logit in zip(task["candidates"], logits, strict=True) if logit == max(logits)]
            if len(openers) != 1 or best != [answers[openers[0]]]:
                return False
    return True


@pytest.mark.parametrize("portion", range(3))
def test_what_is_still_accepted_is_still_true(portion, tmp_path):
    """Most changes are refused; none makes the checker stop, and none makes it believe what is false."""
    assert check(deepcopy(valid_bundles()[portion]).write(tmp_path / "valid"))[0] is Outcome.VALID
    outcomes = Counter()
    for number in range(CHANGES // 3):
        draw = random.Random(3 * number + portion)  # noqa: S311  # changes, not secrets
        bundle = deepcopy(valid_bundles()[portion])
        part = draw.choice(("task", "prompts", "pattern", "certificate", "evidence"))
        change(
            {
                "task": bundle.claim["task"],
                "prompts": bundle.domain["prompts"],
                "pattern": bundle.domain["pattern"],
                "certificate": bundle.certificate,
                "evidence": bundle.certificate["answers"][0]["evidence"],
            }[part],
            draw,
        )
        outcome, _ = check(bundle.write(tmp_path / str(number)))
        outcomes[outcome] += 1
        assert outcome is not Outcome.VALID or is_true(bundle), (number, part)
    assert outcomes[Outcome.INVALID] > outcomes.total() // 2
