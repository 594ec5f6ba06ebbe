"""Trees over the prompts of a pattern: splits by label, length and token, and the leaves below them."""

from collections.abc import Callable
from dataclasses import dataclass

from circuitproof_check.case import Case
from circuitproof_check.claim import Property
from circuitproof_check.gates import Leaf
from circuitproof_check.patterns.shapes import TokenClass, read_tokens
from circuitproof_check.reading import fields, integer, items, mapping, require, text
from circuitproof_check.rules import Label
from circuitproof_check.work import NUMBER, OBJECT, STEP, paid, spend

from .areas import Area
from .cuts import CutTree, read_cuts

_SHOWN = ("prompt", "decided")
"""The keys of a prompt that a leaf shows."""
Parts = list[tuple[Area, object]]
"""The parts of an area, each with the evidence about it."""


@dataclass(frozen=True, slots=True, eq=False)
class SettledLeaf:
    """An area of which a leaf says what is decided, with how many prompts of each label it has."""

    area: Area
    where: str
    counts: dict[Label, int]
    winner: int
    """The place of the candidate."""
    cuts: dict[int, CutTree]
    """By the place of another candidate, how its lead over that one is shown."""


@dataclass(frozen=True, slots=True, eq=False)
class ShownLeaf:
    """An area of which a leaf shows prompts, each with what is said to be decided."""

    area: Area
    where: str
    counts: dict[Label, int]
    shown: list[tuple[int, object]]


PatternLeaf = SettledLeaf | ShownLeaf


class TreeReader:
    """Goes through a tree of evidence about a property; of accuracy, parts may be left out."""

    def __init__(self, case: Case, claimed: Property) -> None:
        self._case, self._claimed = case, claimed
        self._may_leave_out = claimed.kind == "accuracy"
        self.leaves: list[PatternLeaf] = []

    def read(self, tree: object, area: Area, where: str) -> list[PatternLeaf]:
        """Return the leaves of a tree about an area, in their order."""
        spend(OBJECT)
        content = mapping(tree, where)
        if "split" not in content:
            self.leaves.append(self._leaf(tree, area, where))
            return self.leaves
        name = text(content["split"], where)
        require("parts_of_sums_are_by_known_questions", name in _QUESTIONS, where, name)
        for number, (part, child) in enumerate(_QUESTIONS[name](self, tree, area, where)):
            self.read(child, part, f"{where}, {name} {number}")
        return self.leaves

    def _leaf(self, tree: object, area: Area, where: str) -> PatternLeaf:
        leaf, values = self._case.open(tree, self._claimed, where)
        counts = area.counts()
        require("leaves_have_prompts", counts, where)
        if leaf is Leaf.ENCLOSURE_PROMPTS:
            entries = [fields(one, where, *_SHOWN) for one in items(values[0], where)]
            last = len(self._case.claim.prompts) - 1
            shown = [(integer(prompt, where, 0, last), decided) for prompt, decided in entries]
            return ShownLeaf(area, where, counts, shown)
        places = len(self._case.claim.task.candidates)
        winner = integer(values[0], where, 0, places - 1)
        cuts = read_cuts(values[1], where, places, winner) if leaf is Leaf.ENCLOSURE_CUTS else {}
        return SettledLeaf(area, where, counts, winner, cuts)

    def by_label(self, tree: object, area: Area, where: str) -> Parts:
        require("labels_are_asked_once", area.label is None, where)
        last = self._case.claim.architecture.vocabulary - 1
        parts: dict[Label, object] = {}
        children = items(fields(tree, where, "split", "children")[1], where)
        for child in paid(children, OBJECT):
            answer, group, evidence = fields(child, where, "answer", "class", "evidence")
            parts[integer(answer, where, 0, last), integer(group, where, 0, last)] = evidence
        require("labels_of_parts_are_distinct", len(parts) == len(children), where)
        left = [] if self._may_leave_out else [one for one in area.counts() if one not in parts]
        require("labels_of_parts_exhaust_the_area", not left, where, len(left))
        return [(area.of_label(label), evidence) for label, evidence in paid(parts, NUMBER).items()]

    def by_length(self, tree: object, area: Area, where: str) -> Parts:
        require("lengths_are_asked_once", not area.is_of_length, where)
        parts: dict[int, object] = {}
        children = items(fields(tree, where, "split", "children")[1], where)
        for child in paid(children, OBJECT):
            length, evidence = fields(child, where, "length", "evidence")
            parts[integer(length, where, 1, area.automaton.longest)] = evidence
        require("lengths_of_parts_are_distinct", len(parts) == len(children), where)
        left = [] if self._may_leave_out else [one for one in paid(area.graphs) if one not in parts]
        require("lengths_of_parts_exhaust_the_area", not left, where, len(left))
        return [(area.of_length(length), evidence) for length, evidence in paid(parts, NUMBER).items()]

    def by_token(self, tree: object, area: Area, where: str) -> Parts:
        """Part an area by the token at a position, which every prompt of it has."""
        _, place, children = fields(tree, where, "split", "position", "children")
        position = integer(place, where, 0, area.automaton.longest - 1)
        parts: list[tuple[TokenClass, object]] = []
        for child in paid(items(children, where), OBJECT):
            tokens, evidence = fields(child, where, "class", "evidence")
            parts.append((read_tokens(tokens, where, self._case.claim.architecture), evidence))
        shortest = min(paid(area.graphs), default=position + 1)
        require("positions_of_parts_are_in_every_prompt", position < shortest, where, position, shortest)
        standing: set[int] = set()
        for graph in paid(area.graphs, NUMBER).values():
            standing.update(paid(graph.standing(position)))
        for token in paid(standing, NUMBER + STEP * len(parts)):
            count = sum(token in one for one, _ in parts)
            require("tokens_have_one_part", count < 2, where, token)  # noqa: PLR2004  # or none
            require("tokens_of_parts_exhaust_the_area", count or self._may_leave_out, where, token)
        return [(area.of_token(position, one), evidence) for one, evidence in paid(parts, NUMBER)]


_QUESTIONS: dict[str, Callable[[TreeReader, object, Area, str], Parts]] = {
    "label": TreeReader.by_label,
    "length": TreeReader.by_length,
    "token": TreeReader.by_token,
}
