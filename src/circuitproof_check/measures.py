"""Measures: by how much a circuit is right on a list, as integers in units that are computed here alone.

Each function of a row is a row of the table in `docs/certificate.md`, where the proof of its ends stands.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from .architecture import Edges, all_edges
from .case import Case
from .claim import Property
from .counted import SPANS, MeasureBracket
from .decimals import shortened
from .enclosed.functions import ln_floor
from .enclosed.rows import RowBall, exponentials
from .exact import longest
from .reading import integer, require
from .work import NUMBER, OBJECT, paid, spend, spend_numbers, weight


@dataclass(frozen=True, slots=True)
class Ends:
    """Between which integers a number lies, in units, or so many times the number."""

    low: int
    high: int
    times: int = 1


FoundMeasure = tuple[str, MeasureBracket, Ends | None]
"""A bracket, with its place and the ends of its number, if they are known."""


def proved(case: Case, evidence: object, claimed: Property) -> None:
    """Check that every bracket holds all that the number can be."""
    for where, bracket, ends in _evaluated(case, evidence, claimed):
        is_met = ends is not None and _is_met(bracket, ends, case.precision)
        require("every_bracket_is_met", is_met, where, "" if is_met else _said(ends, case.precision))


def refuted(case: Case, evidence: object, claimed: Property) -> None:
    """Check that some bracket holds nothing that the number can be."""
    found = _evaluated(case, evidence, claimed)
    is_missed = any(
        ends is not None and _is_missed(bracket, ends, case.precision) for _, bracket, ends in paid(found)
    )
    require("some_bracket_is_missed", is_missed, claimed.kind)


def _said(ends: Ends | None, precision: int) -> str:
    """Say between which decimals a number lies."""
    if ends is None:
        return "not known"
    spend(2 * weight(longest((ends.low, ends.high))))
    low, high = (Fraction(one, ends.times << precision) for one in (ends.low, ends.high))
    return f"{shortened(low, is_raised=False)} to {shortened(high, is_raised=True)}"


def _evaluated(case: Case, evidence: object, claimed: Property) -> list[FoundMeasure]:
    """Return each bracket that is claimed with the ends of its number."""
    where, count = claimed.kind, len(case.claim.prompts)
    _, (stated,) = case.open(evidence, claimed, where)
    require("evaluations_count_the_prompts", integer(stated, where) == count, where, stated, count)
    match claimed.kind:
        case "loss":
            found = [_mean(_losses(case))]
        case "logit difference":
            each = _differences(case, case.claim.edges, range(count))
            lows, highs = [one.low for one in paid(each, NUMBER)], [one.high for one in each]
            found = [Ends(min(lows), min(highs)), _mean(each), Ends(max(lows), max(highs))]
        case _:
            found = [_mean(_shares(case, claimed))]
    names = SPANS if len(found) > 1 else ("mean",)
    entries = zip(names, claimed.counted.brackets, found, strict=True)
    return [(f"{where}, {name}", one, ends) for name, one, ends in entries if one is not None]


def _mean(each: Sequence[Ends | None]) -> Ends | None:
    """Return the ends of the sum, which is so many times the mean; of what is not known, none."""
    known = [one for one in paid(each, NUMBER) if one is not None]
    if len(known) < len(each):
        return None
    return Ends(sum(one.low for one in known), sum(one.high for one in known), len(known))


def _losses(case: Case) -> list[Ends]:
    edges, count = case.claim.edges, len(case.claim.prompts)
    case.prepare(edges)
    return [
        loss(case.row(prompt, edges), _place(case, prompt), case.precision)
        for prompt in paid(range(count), OBJECT)
    ]


def _differences(case: Case, edges: Edges, prompts: Sequence[int]) -> list[Ends]:
    case.prepare(edges, prompts=prompts)
    return [difference(case.row(prompt, edges), _place(case, prompt)) for prompt in paid(prompts, OBJECT)]


def _shares(case: Case, claimed: Property) -> list[Ends | None]:
    """Return how much of the model's logit difference each prompt that is not listed keeps."""
    left_out, every = set(paid(claimed.counted.listed)), all_edges(case.claim.architecture)
    prompts = [one for one in paid(range(len(case.claim.prompts))) if one not in left_out]
    circuits = case.claim.edges, (), every
    own, bare, model = (_differences(case, edges, prompts) for edges in paid(circuits))
    triples = zip(own, bare, model, strict=True)
    return [share(_less(a, b), _less(c, b), case.precision) for a, b, c in triples]


def _place(case: Case, prompt: int) -> int:
    """Return the place of the right answer among the candidates."""
    return paid(case.claim.task.candidates).index(case.claim.task.answers[prompt])


def difference(row: RowBall, place: int) -> Ends:
    """Return the logit at a place less the largest other one."""
    spend_numbers(len(row.midpoints), row.bits)
    others = max(one for other, one in enumerate(row.midpoints) if other != place)
    lead = row.midpoints[place] - others
    return Ends(lead - 2 * row.radius, lead + 2 * row.radius)


def loss(row: RowBall, place: int, precision: int) -> Ends:
    """Return -ln of the softmax of the logits at a place."""
    spend_numbers(len(row.midpoints), row.bits)
    mass, count = sum(exponentials(row.midpoints, precision)), len(row.midpoints)
    behind = max(row.midpoints) - row.midpoints[place]
    low, high = ln_floor(mass, precision), ln_floor(mass + count, precision) + 1
    return Ends(low + behind - 2 * row.radius, high + behind + 2 * row.radius)


def _less(one: Ends, other: Ends) -> Ends:
    return Ends(one.low - other.high, one.high - other.low)


def share(above: Ends, below: Ends, precision: int) -> Ends | None:
    """Return a quotient; where what is below may be zero, it is not known."""
    if below.low <= 0 <= below.high:
        return None
    tops, bottoms = (above.low, above.high), (below.low, below.high)
    spend(8 * weight(longest((*tops, *bottoms)) + precision))
    pairs = [(one << precision, other) for one in tops for other in bottoms]
    return Ends(min(one // other for one, other in pairs), max(-(-one // other) for one, other in pairs))


def _is_met(bracket: MeasureBracket, ends: Ends, precision: int) -> bool:
    unit = ends.times << precision
    is_above = bracket.low is None or _beyond(bracket.low, ends.low, unit) >= 0
    return is_above and (bracket.high is None or _beyond(bracket.high, ends.high, unit) <= 0)


def _is_missed(bracket: MeasureBracket, ends: Ends, precision: int) -> bool:
    unit = ends.times << precision
    is_above = bracket.high is not None and _beyond(bracket.high, ends.low, unit) > 0
    return is_above or (bracket.low is not None and _beyond(bracket.low, ends.high, unit) < 0)


def _beyond(end: Fraction, number: int, unit: int) -> int:
    """Return by how much, times something positive, a number of units is above an end."""
    spend(2 * weight(longest((end.numerator, end.denominator, number, unit))))
    return number * end.denominator - end.numerator * unit
