"""Counts and measures as slowly and plainly as `docs/certificate.md` has them, and honest claims of them.

Nothing here is shared with the engine or the checker; ln is mpmath's, with so many digits that no floor is in
doubt.
"""

import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import mpmath

from bundle_maker import every_edge
from enclosed_twin import DIGITS, EnclosedProver, Row, exponential, floor_of, leader

Ends = tuple[int, int, int]
"""Bounds of so many times a number, in units."""
MEASURES = ("loss", "logit difference", "recovered difference")
SPANS = ("least", "mean", "greatest")


def logarithm(top: int, p: int) -> int:
    """Return ⌊2^p·ln(top/2^p)⌋."""
    if top == 2**p:
        return 0
    with mpmath.workdps(2 * (DIGITS + p)):
        return floor_of(mpmath.ldexp(mpmath.log(mpmath.ldexp(top, -p)), p), p)


def difference(row: Row, place: int) -> tuple[int, int]:
    """Return the bounds of a logit difference."""
    numbers, radius = row
    lead = numbers[place] - max(one for t, one in enumerate(numbers) if t != place)
    return lead - 2 * radius, lead + 2 * radius


def loss(row: Row, place: int, p: int) -> tuple[int, int]:
    """Return the bounds of a loss."""
    numbers, radius = row
    z = sum(exponential(one - max(numbers), p) for one in numbers)
    behind = max(numbers) - numbers[place]
    high = logarithm(z + len(numbers), p) + 1 + behind + 2 * radius
    return logarithm(z, p) + behind - 2 * radius, high


def share(n: tuple[int, int], d: tuple[int, int], p: int) -> tuple[int, int] | None:
    """Return the bounds of a recovered share."""
    if d[0] <= 0 <= d[1]:
        return None
    quotients = [Fraction(2**p * one, other) for one in n for other in d]
    return math.floor(min(quotients)), math.ceil(max(quotients))


def less(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    """Return the bounds of a difference."""
    return one[0] - other[1], one[1] - other[0]


def place_of(prover: EnclosedProver, prompt: int) -> int:
    """Return the place of the right answer."""
    task = prover.claim["task"]
    return task["candidates"].index(task["answer"]["answers"][prompt])


def ends_of(prover: EnclosedProver, kind: str, without: Iterable[int] = ()) -> dict[str, Ends | None]:
    """Return the bounds of each number that a measure is about."""
    prompts, p = [one for one in range(len(prover.prompts)) if one not in without], prover.p

    def apart(edges: list[str], prompt: int) -> tuple[int, int]:
        return difference(prover.row(prompt, edges), place_of(prover, prompt))

    if kind == "recovered difference":
        every = every_edge(prover.claim["architecture"])
        each = [
            share(less(apart(prover.edges, x), apart([], x)), less(apart(every, x), apart([], x)), p)
            for x in prompts
        ]
    elif kind == "loss":
        each = [loss(prover.row(x), place_of(prover, x), p) for x in prompts]
    else:
        each = [apart(prover.edges, x) for x in prompts]
    if None in each:
        return {"mean": None}
    lows, highs = [one[0] for one in each if one], [one[1] for one in each if one]
    found: dict[str, Ends | None] = {"mean": (sum(lows), sum(highs), len(each))}
    if kind == "logit difference":
        found |= {"least": (min(lows), min(highs), 1), "greatest": (max(lows), max(highs), 1)}
    return found


def bracket(ends: Ends | None, p: int, inward: tuple[int, int] = (0, 0)) -> list[str]:
    """Return the tightest bracket that is met, or one whose ends are moved inward by units of the sum."""
    assert ends is not None
    low, high, times = ends
    return [str(Fraction(low + inward[0], times << p)), str(Fraction(high - inward[1], times << p))]


def measured(prover: EnclosedProver, kind: str, without: Iterable[int] = ()) -> dict[str, Any]:
    """Return the measure with the tightest brackets that are met."""
    left_out = sorted(without)
    found = {name: bracket(one, prover.p) for name, one in ends_of(prover, kind, left_out).items()}
    return {"kind": kind, **found} | ({"without": left_out} if kind == "recovered difference" else {})


def evaluated(
    prover: EnclosedProver, entry: dict[str, Any], verdict: str = "proved", count: int | None = None
) -> EnclosedProver:
    """Claim a measure with its evidence, whether it holds or not."""
    prover.answer(entry, verdict, {"evaluated": len(prover.prompts) if count is None else count})
    return prover


def errors(prover: Any) -> list[int]:
    """Return the prompts that are not known to be right."""
    answers = prover.claim["task"]["answer"]["answers"]
    return [p for p in range(len(prover.prompts)) if prover.decision(p) != {answers[p]}]


def counting(prover: Any, wrong: list[int] | None = None) -> Any:
    """Claim an accuracy by its errors, with evidence for each prompt."""
    entry = {"kind": "accuracy", "wrong": errors(prover) if wrong is None else wrong}
    prover.answer(entry, "proved", prover.by_prompt(lambda p: {"fold": prover.fold(p)}))
    return prover


def replaying(prover: Any, least: int, prompts: list[int], verdict: str = "proved") -> Any:
    """Claim an accuracy of at least so many prompts, with evidence for some."""
    entries = [{"prompt": p, "fold": prover.fold(p)} for p in prompts]
    prover.answer({"kind": "accuracy", "least": least}, verdict, {"replay": entries})
    return prover


def on_constants(claim: dict[str, Any], entry: dict[str, Any]) -> list[str]:
    """Remark that one answer is as often right."""
    answers = claim["task"]["answer"]["answers"]
    most = Counter(answers).most_common(1)[0][1]
    right = entry["least"] if "least" in entry else len(answers) - len(entry["wrong"])
    return [f"no better than a constant: {most}"] * (most >= right)


def on_unedged(prover: EnclosedProver, entry: dict[str, Any]) -> list[str]:
    """Remark that the circuit without any edge is, or may be, right as often."""
    answers, p = prover.claim["task"]["answer"]["answers"], range(len(prover.prompts))
    right = entry["least"] if "least" in entry else len(answers) - len(entry["wrong"])
    found = [leader(prover.row(one, [])) for one in p]
    sure = sum(found[one] == place_of(prover, one) for one in p)
    if sure >= right:
        return ["decided without edges"]
    if prover.claim["circuit"]["ablation"] == "zero" and None in found:
        at_most = Counter(answers).most_common(1)[0][1]
    else:
        at_most = sure + found.count(None)
    return ["perhaps decided without edges"] * (at_most >= right)


def holds(prover: EnclosedProver, entry: dict[str, Any]) -> bool:
    """Say whether a count or a measure is known to be true."""
    if entry["kind"] == "accuracy":
        known = {p: leader(prover.row(p)) for p in range(len(prover.prompts))}
        right = [p for p, one in known.items() if one == place_of(prover, p)]
        if "least" in entry:
            return len(right) >= entry["least"] > 0
        wrong = [p for p, one in known.items() if one not in (None, place_of(prover, p))]
        return wrong == entry["wrong"] and len(right) + len(wrong) == len(known)
    found = ends_of(prover, entry["kind"], entry.get("without", ()))
    return all(
        ends is not None and is_met(entry[name], ends, prover.p)
        for name, ends in found.items()
        if entry[name] is not None
    )


def is_met(spelled: list[str | None], ends: Ends, p: int) -> bool:
    """Say whether all that a number can be is in a bracket."""
    low, high = (None if one is None else Fraction(one) for one in spelled)
    least, most = (Fraction(one, ends[2] << p) for one in ends[:2])
    return (low is None or low <= least) and (high is None or most <= high)
