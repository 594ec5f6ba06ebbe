"""How a leaf says that one candidate leads another: weights, or a division of what a head adds."""

from dataclasses import dataclass
from itertools import pairwise
from typing import cast

from circuitproof_check.reading import fields, integers, items, mapping, require, text
from circuitproof_check.work import NUMBER, OBJECT, paid, spend

_MOST_NESTED = 64


@dataclass(frozen=True, slots=True)
class CutWeights:
    """Two integers for each summed head, which are no less than 0."""

    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CutParts:
    """What a head adds, divided at some numbers that count 2^-16, with a tree for each part."""

    head: str
    at: tuple[int, ...]
    parts: tuple["CutTree", ...]


CutTree = CutWeights | CutParts


def read_cuts(value: object, where: str, places: int, winner: int) -> dict[int, CutTree]:
    """Return the trees of a leaf by the place of the candidate that each is about."""
    entries, found = items(value, where), dict[int, CutTree]()
    require("cuts_cut_something", entries, where)
    for entry in paid(entries, OBJECT):
        over, tree = fields(entry, where, "over", "tree")
        others, cut = integers(over, where, 0), _read_tree(tree, where, 0)
        require("cuts_are_about_candidates", others and all(one < places for one in paid(others)), where)
        for other in paid(others, NUMBER):
            is_new = other != winner and other not in found
            require("cuts_are_about_each_other_candidate_once", is_new, where, other)
            found[other] = cut
    return found


def _read_tree(value: object, where: str, depth: int) -> CutTree:
    spend(OBJECT)
    if isinstance(value, list):
        return CutWeights(integers(cast("object", value), where, 0))
    require("cuts_nest_little", depth < _MOST_NESTED, where)
    name, listed, parts = fields(mapping(value, where), where, "head", "at", "parts")
    at, trees = integers(listed, where), items(parts, where)
    require("parts_of_a_range_increase", at and all(a < b for a, b in pairwise(paid(at))), where)
    require("parts_cover_a_range", len(trees) == len(at) + 1, where, len(trees), len(at))
    return CutParts(text(name, where), at, tuple(_read_tree(tree, where, depth + 1) for tree in paid(trees)))


def count_of_weights(tree: CutTree) -> int:
    """Return how many weights there are in a tree."""
    spend(NUMBER)
    if isinstance(tree, CutWeights):
        return 1
    return sum(count_of_weights(part) for part in paid(tree.parts))
