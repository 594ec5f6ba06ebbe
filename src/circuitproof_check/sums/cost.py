"""How much work the leaves about a pattern are, before any number of theirs is computed."""

from collections.abc import Sequence
from dataclasses import dataclass

from circuitproof_check.case import Case
from circuitproof_check.claim import Property
from circuitproof_check.enclosed.functions import cost as cost_of_exp
from circuitproof_check.reading import mapping
from circuitproof_check.work import NUMBER, OBJECT, paid, spend

from .answers import leaves_of
from .boxes import MOVE, TOKEN
from .cells import in_cells
from .cuts import count_of_weights
from .graphs import Graph
from .settle import PatternSums, sums_of
from .tree import SettledLeaf, ShownLeaf

_GUARD = 96
"""Bits that exponentials mostly have more than the precision, and numbers before their binary point."""
_LEAD = 3 * NUMBER
"""Operations for the leads on a cell over one other candidate, beside those for its tokens."""


@dataclass(slots=True)
class LeafWork:
    """What leaves need: operations, rows of pairs and ends of prompts, and prompts that are shown."""

    least: int = 0
    further: int = 0
    """Where the extremes of cells are not enough."""
    shown: int = 0
    pairs: int = 0
    """Pairs of a token and a position, with what they bring to the logits."""
    ends: int = 0


def is_by_leaves(claimed: Property, answer: dict[str, object]) -> bool:
    """Say whether an answer about a pattern has a tree that leads to leaves."""
    if claimed.kind == "accuracy":
        return "replay" not in mapping(answer.get("evidence"), claimed.kind)
    return claimed.kind in ("equivalence", "invariance") and answer.get("verdict") == "proved"


def work_of_leaves(case: Case, answers: Sequence[tuple[Property, object]]) -> LeafWork:
    """Return the work of all leaves of some answers."""
    found, sums, ends = LeafWork(), sums_of(case), set[tuple[int, int]]()
    for claimed, evidence in paid(answers, OBJECT):
        for leaf in paid(leaves_of(case, evidence, claimed), OBJECT):
            if isinstance(leaf, ShownLeaf):
                found.shown += len(leaf.shown)
            else:
                _add_settled(found, sums, leaf, ends)
    known: dict[int, int] = {}
    for length, _ in paid(ends, OBJECT):
        if length not in known:
            graph = sums.automaton.graph(None, length)
            known[length] = 0 if graph is None else _count_of_pairs(graph)
        found.least += sums.heads * known[length] * _of_pair(sums) // 2
    spend(NUMBER * len(known))
    found.pairs, found.ends = max(known.values(), default=0), len(ends)
    return found


def _count_of_pairs(graph: Graph) -> int:
    spend(NUMBER * len(graph.layers))
    return sum(len(graph.standing(position)) for position in range(len(graph.layers)))


def _of_pair(sums: PatternSums) -> int:
    """Return the work of a score and its exponential."""
    bits = sums.precision + _GUARD
    numbers = 2 * sums.head_width * (NUMBER + 2 * bits // 50)
    return numbers + cost_of_exp(bits) + 9 * NUMBER + bits // 10


def _add_settled(found: LeafWork, sums: PatternSums, leaf: SettledLeaf, ends: set[tuple[int, int]]) -> None:
    others = sums.places - 1
    cuts = paid(leaf.cuts, OBJECT)
    weights = others - len(cuts) + sum(count_of_weights(tree) for tree in cuts.values())
    for length, graph in paid(leaf.area.graphs, OBJECT).items():
        lasts, cells = graph.standing(length - 1), in_cells(graph)
        ends.update((length, last) for last in paid(lasts, NUMBER))
        count, tokens = len(lasts), cells.tokens - len(lasts) + 1
        scale = sums.heads * (200 + 2 * sums.precision + _GUARD) // 200
        path, shared = MOVE * cells.moves, NUMBER * len(cells.cells)
        each = OBJECT * (1 + sums.heads) + scale * (path + shared)
        of_end = sums.places * (OBJECT + sums.heads * (shared + _LEAD + 2 * NUMBER))
        of_end += 5 * NUMBER * cells.tokens
        found.least += count * (weights * each + of_end) // 2 + count * 4 * NUMBER * tokens
        found.further += count * weights * scale * (path + TOKEN * tokens) // 2
        found.further += sums.heads * sums.places * (_LEAD * len(cells.cells) + 4 * cells.tokens) // 2
