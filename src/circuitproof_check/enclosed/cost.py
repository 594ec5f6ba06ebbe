"""How much work a claim of enclosed arithmetic is, before it is done: weights times rows times precision.

What counts is which circuits the answers refer to, and on how many tokens. Numbers are taken to be of the
usual size; the work itself is paid for as it is done, whatever this says.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from circuitproof_check.architecture import (
    EMBED,
    Architecture,
    Edges,
    Node,
    all_edges,
    live_nodes,
    logits_node,
)
from circuitproof_check.case import Case
from circuitproof_check.claim import Claim, Property
from circuitproof_check.counted import COUNTED
from circuitproof_check.reading import items, mapping
from circuitproof_check.work import NUMBER, OBJECT, foresee, paid, spend

from .functions import cost as cost_of_exp
from .maps import TOGETHER

_LOADED = 60
"""Operations to read a weight and bring it into a map."""
_USUAL = 72
"""More bits than a number has before its binary point and its weight altogether, mostly."""


@dataclass(frozen=True, slots=True)
class Evaluations:
    """Circuits that are evaluated on all prompts, those that are on one, and those that may be on all."""

    whole: list[Edges] = field(default_factory=list[Edges])
    single: list[Edges] = field(default_factory=list[Edges])
    perhaps: list[Edges] = field(default_factory=list[Edges])
    some: list[tuple[Edges, int]] = field(default_factory=list[tuple[Edges, int]])
    """Circuits that are evaluated on so many prompts."""


def foresee_work(case: Case, answers: Sequence[object]) -> None:
    """Refuse to begin what is more than is allowed, with a number of operations that is enough."""
    if case.enclosures is None:
        return
    claim, precision = case.claim, case.enclosures.precision
    found, every = Evaluations(), all_edges(claim.architecture) if _needs_model(claim) else ()
    losses = 0
    for claimed, answer in zip(claim.properties, answers, strict=False):
        content = mapping(answer, "answers")
        if claimed.kind != "lesion identity" and content.get("verdict") in ("proved", "refuted"):
            one = _circuits(case, claimed, content, every)
            found.whole.extend(edges for edges in paid(one.whole) if edges not in found.whole)
            found.single.extend(one.single)
            found.perhaps.extend(one.perhaps)
            found.some.extend(one.some)
            losses += _losses(claim, precision) if claimed.kind == "loss" else 0
    spend(NUMBER * (len(claim.prompts) + len(found.whole) + len(found.single)))
    tokens, longest = sum(map(len, claim.prompts)), max(map(len, claim.prompts))
    listed = sum(map(len, paid(claim.ablation.prompts))) + (tokens if claim.ablation.partners else 0)
    counted = [*((edges, tokens) for edges in found.whole), *((edges, longest) for edges in found.single)]
    some = [(edges, count) for edges, count in paid(found.some) if edges not in found.whole]
    counted += [(edges, min(tokens, longest * count)) for edges, count in some]
    counted += [(every, listed)] if listed and counted else []
    least = sum(_work(claim, edges, count, precision) for edges, count in paid(counted, OBJECT))
    further = sum(_work(claim, edges, tokens, precision) for edges in paid(found.perhaps, OBJECT))
    foresee(least + losses + _loading(claim, counted), further)


def _needs_model(claim: Claim) -> bool:
    spend(NUMBER * len(claim.properties))
    return not claim.ablation.is_zero or any(
        one.kind in ("faithfulness", "recovered difference") for one in claim.properties
    )


def _circuits(case: Case, claimed: Property, answer: dict[str, object], every: Edges) -> Evaluations:
    """Return the circuits that the evidence of an answer and its remarks are about."""
    claim, own, is_proved = case.claim, case.claim.edges, answer["verdict"] == "proved"
    if claimed.kind == "necessity":
        if not is_proved:
            return Evaluations([own, case.lesion(0)])
        lesions = [case.lesion(place) for place in paid(range(len(own)), NUMBER)]
        may_be_biased = claim.architecture.biases and claim.ablation.is_zero
        return Evaluations([], [own, *lesions], [own, *lesions] if may_be_biased else [])
    if claimed.kind in ("subset minimality", "minimum"):
        children = items(mapping(answer.get("evidence"), claimed.kind).get("children", []), claimed.kind)
        return Evaluations([own], [own] * len(children), [own] * len(claimed.circuits))
    if claimed.kind in COUNTED:
        return _counted(case, claimed, answer, every)
    others = [every] if claimed.kind == "faithfulness" else []
    others += [claim.other] if claimed.kind == "agreement" else []
    if not is_proved:
        return Evaluations([], [own, own, *others])
    bare = [] if claim.ablation.is_zero else [(), every]
    return Evaluations([own, *others, *bare], [()])


def _counted(case: Case, claimed: Property, answer: dict[str, object], every: Edges) -> Evaluations:
    """Return the circuits that a count or a measure is about, and those of its remark on the whole model."""
    claim, own, count = case.claim, case.claim.edges, len(case.claim.prompts)
    is_compared = answer["verdict"] == "proved" and not claim.ablation.is_zero
    whole, evaluated, left = [own, every] if is_compared else [], [own], count
    if claimed.kind == "recovered difference":
        evaluated, left = [own, (), every], count - len(claimed.counted.listed)
    if claimed.kind == "accuracy":
        replayed = mapping(answer.get("evidence"), claimed.kind).get("replay")
        left = count if replayed is None else len(items(replayed, claimed.kind))
    if left == count:
        return Evaluations(evaluated + [one for one in paid(whole) if one not in evaluated])
    return Evaluations(whole, some=[(edges, left) for edges in paid(evaluated)])


def _losses(claim: Claim, precision: int) -> int:
    """Return the work of the losses of all prompts, beside that of the logits."""
    return len(claim.prompts) * (len(claim.task.candidates) + 4) * (cost_of_exp(precision) + 2 * NUMBER)


def _loading(claim: Claim, counted: Sequence[tuple[Edges, int]]) -> int:
    """Return the work of reading the weights of all circuits once."""
    loaded, size = set[Node](), claim.architecture
    for edges, _ in paid(counted, NUMBER):
        loaded |= live_nodes(edges, size)
    readout = len(claim.task.candidates) * size.width
    return _LOADED * (readout + sum(_weights(size, node) for node in paid(loaded, NUMBER)))


def _weights(size: Architecture, node: Node) -> int:
    if node.is_head:
        return 4 * size.width * size.head_width
    return 0 if node in (EMBED, logits_node(size)) else 2 * size.width * size.mlp_width


def _work(claim: Claim, edges: Edges, tokens: int, precision: int) -> int:
    """Return the work of a circuit on so many tokens: maps, activations, attention, and what nodes read."""
    size, nodes = claim.architecture, live_nodes(edges, claim.architecture)
    heads = sum(node.is_head for node in paid(nodes))
    blocks = len(nodes - {EMBED, logits_node(size)}) - heads
    number = NUMBER + (precision + _USUAL) // 50
    weights = sum(_weights(size, node) for node in nodes) + len(claim.task.candidates) * size.width
    chunks = -(-tokens // TOGETHER) + ((precision + _USUAL) // 8 + 4) * tokens // 400
    outputs = heads * (3 * size.head_width + size.width) + blocks * (size.mlp_width + size.width)
    longest = max(map(len, claim.prompts))
    pair = 5 * number * size.head_width + cost_of_exp(precision) + 2 * NUMBER
    attended = heads * (longest + 1) * pair // 2
    read = (3 * heads + blocks + 1) * (OBJECT * len(nodes) + 8 * number * size.width)
    bent = blocks * size.mlp_width * _bending(size, precision, number)
    return 3 * weights * chunks + tokens * (2 * number * outputs + bent + attended + read)


def _bending(size: Architecture, precision: int, number: int) -> int:
    """Return the work of an activation of one number."""
    if not isinstance(size.activation, str):
        return number
    return cost_of_exp(precision) * (4 if size.activation == "gelu exact" else 1)
