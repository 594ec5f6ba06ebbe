"""How much work a claim of enclosed arithmetic is, before it is done: weights times rows times precision.

What counts is which circuits the answers refer to, and on how many tokens. Numbers are taken to be of the
usual size; the work itself is paid for as it is done, whatever this says.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from circuitproof_check.ablation import Prompt
from circuitproof_check.architecture import (
    EMBED,
    QUERY,
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
from circuitproof_check.sums.cost import LeafWork, is_by_leaves, work_of_leaves
from circuitproof_check.work import NUMBER, OBJECT, foresee, paid, spend
from circuitproof_check.work import key as bytes_of

from .functions import cost as cost_of_exp
from .maps import TOGETHER

_LOADED = 45
"""Operations to read a weight and bring it into a map."""
_USUAL = 72
"""More bits than a number has before its binary point and its weight altogether, mostly."""
_LISTED = 20 * OBJECT
"""Operations for a prompt, its leaf of evidence and what is needed of nodes on it."""
_ANSWERED = 3 * NUMBER
"""Operations to compare a candidate's logit with the others."""


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """On how many places circuits are computed: at every position of prompts, or at the last ones alone."""

    every: int
    """Positions, those counted once up to which prompts are alike."""
    last: int
    pairs: int
    """Pairs of a query anywhere and a key."""
    last_pairs: int

    def of(self, prompts: int, most: "TokenCounts") -> "TokenCounts":
        """Return the counts of so many prompts of at most this size, no more than those of all."""
        return TokenCounts(
            min(self.every * prompts, most.every),
            min(self.last * prompts, most.last),
            min(self.pairs * prompts, most.pairs),
            min(self.last_pairs * prompts, most.last_pairs),
        )


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
    losses, leaves = 0, list[tuple[Property, object]]()
    for claimed, answer in zip(claim.properties, answers, strict=False):
        content = mapping(answer, "answers")
        is_open = content.get("verdict") not in ("proved", "refuted")
        if claim.declared is not None and not is_open and is_by_leaves(claimed, content):
            leaves.append((claimed, content.get("evidence")))
        elif claimed.kind != "lesion identity" and not is_open:
            one = _circuits(case, claimed, content, every)
            found.whole.extend(edges for edges in paid(one.whole) if edges not in found.whole)
            found.single.extend(one.single)
            found.perhaps.extend(one.perhaps)
            found.some.extend(one.some)
            losses += _losses(claim, precision) if claimed.kind == "loss" else 0
    spend(NUMBER * (len(found.whole) + len(found.single)))
    counts, single = _counts(claim, claim.prompts), _single(claim)
    counted = [*((edges, counts) for edges in found.whole), *((edges, single) for edges in found.single)]
    sums = work_of_leaves(case, leaves) if leaves else LeafWork()
    found.some.append((claim.edges, sums.shown))
    some = [(edges, number) for edges, number in paid(found.some) if edges not in found.whole]
    counted += [(edges, single.of(number, counts)) for edges, number in some]
    listed = [*claim.ablation.prompts, *(paid(claim.prompts) if claim.ablation.partners else ())]
    counted += [(every, _counts(claim, listed))] if listed and counted else []
    least = sum(_work(claim, edges, count, precision) for edges, count in paid(counted, OBJECT))
    further = sum(_work(claim, edges, counts, precision) for edges in paid(found.perhaps, OBJECT))
    beside = losses + _leads(claim, precision) + _loading(claim, [edges for edges, _ in counted])
    least += _of_pairs(claim, sums, precision)
    least, further = least + 2 * sums.least, further + 2 * sums.further
    foresee(least // 2 + beside, further // 2)  # numbers with a radius are paid by half


def _of_pairs(claim: Claim, sums: LeafWork, precision: int) -> int:
    """Return the work of the rows of tokens at positions: keys, and what values bring to the logits."""
    if not sums.pairs:
        return 0
    size, price = claim.architecture, _Price(claim.architecture, precision)
    heads = sum(node.is_head for node in paid(live_nodes(claim.edges, size), NUMBER))
    brought = price.mapped(size.head_width, size.width, sums.pairs)
    brought += price.mapped(size.width, len(claim.task.candidates), sums.pairs)
    counts = TokenCounts(sums.pairs, sums.ends, 0, 0)
    return heads * brought + _work(claim, claim.edges, counts, precision)


def _counts(claim: Claim, prompts: Sequence[Prompt]) -> TokenCounts:
    """Count the places of prompts; where what cut edges carry depends on the prompt, none is shared."""
    is_masked = claim.architecture.is_masked
    is_shared = claim.ablation.is_uniform and is_masked
    known = dict[bytes, int]()
    every = pairs = 0
    for number, prompt in enumerate(paid(prompts, NUMBER)):
        here = -1 - number if not is_shared else 0
        for position, token in enumerate(paid(prompt, NUMBER)):
            name = bytes_of((here, token))
            is_new = name not in known
            here = known.setdefault(name, len(known) + 1)
            every, pairs = every + is_new, pairs + is_new * (position + 1 if is_masked else len(prompt))
    return TokenCounts(every, len(prompts), pairs, sum(map(len, prompts)))


def _single(claim: Claim) -> TokenCounts:
    """Return the counts of a prompt, the longest one."""
    longest = max(map(len, paid(claim.prompts)))
    pairs = longest * (longest + 1) // 2 if claim.architecture.is_masked else longest * longest
    return TokenCounts(longest, 1, pairs, longest)


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
    is_proved, is_zero = answer["verdict"] == "proved", claim.ablation.is_zero
    whole, evaluated, left = [own, every] if is_proved and not is_zero else [], [own], count
    is_bare = is_proved and claimed.kind == "accuracy"
    whole, single = whole + [()] * (is_bare and not is_zero), [()] * is_bare
    if claimed.kind == "recovered difference":
        evaluated, left = [own, (), every], count - len(claimed.counted.listed)
    if claimed.kind == "accuracy":
        replayed = mapping(answer.get("evidence"), claimed.kind).get("replay")
        left = count if replayed is None else len(items(replayed, claimed.kind))
    if left == count:
        return Evaluations(evaluated + [one for one in paid(whole) if one not in evaluated], single)
    return Evaluations(whole, single, some=[(edges, left) for edges in paid(evaluated)])


def _losses(claim: Claim, precision: int) -> int:
    """Return the work of the losses of all prompts, beside that of the logits."""
    return len(claim.prompts) * (len(claim.task.candidates) + 4) * (cost_of_exp(precision) + 2 * NUMBER)


def _loading(claim: Claim, circuits: Sequence[Edges]) -> int:
    """Return the work of reading the weights of all circuits once."""
    loaded, size = set[Node](), claim.architecture
    for edges in paid(circuits, NUMBER):
        loaded |= live_nodes(edges, size)
    readout = len(claim.task.candidates) * size.width
    return _LOADED * (readout + sum(_weights(size, node) for node in paid(loaded, NUMBER)))


def _weights(size: Architecture, node: Node) -> int:
    if node.is_head:
        return 4 * size.width * size.head_width
    return 0 if node in (EMBED, logits_node(size)) else 2 * size.width * size.mlp_width


def _leads(claim: Claim, precision: int) -> int:
    """Return the work of bounding leads through a final norm, of each prompt and of each winner."""
    size, task = claim.architecture, claim.task
    if size.norm is None or all(one.kind != "robustness" for one in paid(claim.properties)):
        return 0
    number, winners = NUMBER + (precision + 2 * _USUAL) // 50, min(len(task.candidates), len(claim.prompts))
    rows = len(task.candidates) * (len(claim.prompts) + 6 * winners) + 8 * len(claim.prompts)
    return rows * number * (size.width + 8)


def _read_everywhere(edges: Edges) -> set[Node]:
    """Return the nodes that are read at every position: as keys or values, or for what is itself."""
    found = set[Node]()
    for source, target in sorted(paid(edges, NUMBER), reverse=True):
        is_mixed = target.is_head and target.port != QUERY
        found |= {source} if is_mixed or target.reader in found else set()
    return found


def _work(claim: Claim, edges: Edges, counts: TokenCounts, precision: int) -> int:
    """Return the work of a circuit: maps, activations, attention, and what nodes read."""
    size, live = claim.architecture, live_nodes(edges, claim.architecture)
    price, everywhere = _Price(size, precision), _read_everywhere(edges)
    found = price.mapped(size.width, len(claim.task.candidates), counts.last)
    found += counts.last * (_LISTED + price.read(1) + _ANSWERED * len(claim.task.candidates))
    inputs = set[tuple[int, bool]]()
    for node in paid(live - {EMBED, logits_node(size)}, OBJECT):
        is_everywhere = node in everywhere
        rows = counts.every if is_everywhere else counts.last
        if node.is_head:
            pairs = counts.pairs if is_everywhere else counts.last_pairs
            found += price.head(rows, counts.every) + pairs * price.pair
        else:
            found += price.mlp(rows)
        if claim.shape.is_split or (node.stage, is_everywhere) not in inputs:
            inputs.add((node.stage, is_everywhere))
            found += (counts.every if node.is_head else rows) * price.read(len(live))
    return found


@dataclass(frozen=True, slots=True)
class _Price:
    """What parts of a forward pass cost, with numbers of the usual size."""

    size: Architecture
    precision: int

    @property
    def number(self) -> int:
        return NUMBER + (self.precision + _USUAL) // 50

    @property
    def pair(self) -> int:
        """Return the work of a query with a key."""
        return 5 * self.number * self.size.head_width + cost_of_exp(self.precision) + 2 * NUMBER

    def mapped(self, width: int, outputs: int, rows: int) -> int:
        """Return the work of an affine map of so many rows, some of which are computed together."""
        content = (self.precision + _USUAL) // 8
        chunks = -(-rows // TOGETHER) + content * rows // 400
        return 2 * width * outputs * chunks + rows * (2 * self.number * width + self.number * outputs)

    def head(self, rows: int, keys: int) -> int:
        width, inner = self.size.width, self.size.head_width
        found = self.mapped(width, inner, rows) + 2 * self.mapped(width, inner, keys)
        return found + self.mapped(inner, width, rows)

    def mlp(self, rows: int) -> int:
        width, inner = self.size.width, self.size.mlp_width
        found = self.mapped(width, inner, rows) + self.mapped(inner, width, rows)
        return found + rows * inner * self._bent()

    def read(self, sources: int) -> int:
        """Return the work of a row that a node reads, with its norm."""
        normed = 12 * self.number if self.size.norm is not None else 0
        return OBJECT * (2 + sources) + self.size.width * (self.number + sources + normed)

    def _bent(self) -> int:
        """Return the work of an activation of one number."""
        if not isinstance(self.size.activation, str):
            return self.number
        return cost_of_exp(self.precision) * (4 if self.size.activation == "gelu exact" else 1)
