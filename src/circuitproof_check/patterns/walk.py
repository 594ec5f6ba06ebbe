"""Proofs about every prompt of a pattern: trees of questions that part it, and least margins in the parts.

A question's answers are found by the checker itself, so that no prompt is left out. A part is settled by the
least margins over all its prompts, or by its prompts one by one.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

from circuitproof_check.architecture import Edges, logits_node
from circuitproof_check.case import Case, Decision
from circuitproof_check.circuits import Circuit
from circuitproof_check.claim import Property
from circuitproof_check.exact import key_of, reckon
from circuitproof_check.forward import Forward
from circuitproof_check.gates import Leaf
from circuitproof_check.reading import fields, integer, items, mapping, rational, rationals, require, text
from circuitproof_check.regions.robustness import distances
from circuitproof_check.rules import Label
from circuitproof_check.sums.settle import sums_of
from circuitproof_check.task import DeclaredPattern
from circuitproof_check.work import NUMBER, OBJECT, STEP, key, paid, spend

from .cells import Cell, coordinates
from .relevance import KeyChoice, Relevance, choices, token_key
from .rows import UnsettledError, is_local
from .runs import Head, PromptRegion, Runs, Step, World
from .shapes import TokenClass, read_tokens
from .values import Values

_KEPT = 64
"""How many graphs are kept: those of long prompts are large."""
EvidenceTree = object
Parts = tuple[list[tuple[PromptRegion, EvidenceTree]], bool]
"""The parts of a region with the evidence about each, and whether they leave no prompt out."""
Gathered = TypeVar("Gathered")


class FaultError(Exception):
    """The checker contradicts itself: nothing that it says can be relied on."""


class ClaimWalks:
    """What the walks about one claim share, made when it is first needed."""

    def __init__(self, forward: Forward, declared: DeclaredPattern) -> None:
        claim = forward.claim
        self.world = World(declared, claim.architecture.vocabulary, claim.programs)
        self._forward = forward
        self._values: dict[Circuit, Values] = {}
        self._runs: dict[tuple[PromptRegion, tuple[Head, ...]], Runs] = {}
        self._cells: dict[tuple[PromptRegion, tuple[Head, ...], Circuit], Cell] = {}

    def values(self, edges: Edges) -> Values:
        """Return what tokens contribute in a circuit."""
        circuit = self._forward.circuit(edges)
        if circuit not in self._values:
            self._values[circuit] = Values(self._forward, edges)
        return self._values[circuit]

    def runs(self, region: PromptRegion, heads: tuple[Head, ...]) -> Runs:
        """Return the graph of a region in which some rows are followed."""
        spend(OBJECT + NUMBER * (len(region.tokens) + len(region.sums) + len(region.keys)))
        if (region, heads) not in self._runs:
            if len(self._runs) >= _KEPT:
                self._runs.clear()
                self._cells.clear()
            made = Runs(self.world, region, heads)
            self._refuse_lost_prompts(made)
            self._runs[region, heads] = made
        return self._runs[region, heads]

    def _refuse_lost_prompts(self, runs: Runs) -> None:
        """Stop where rows are followed by guesses and not just one guess about each prompt survives.

        Where a region tells sums or keys of rows, its prompts are known by guesses only: those are counted
        where nothing is told of rows, and the guesses about other rows here.
        """
        told = runs.region.heads
        if told:
            self.runs(replace(runs.region, sums=(), keys=()), told)
        if any(not is_local(self.world.programs[head]) for head in runs.heads if head not in told):
            prompts, paths = self.runs(runs.region, told).count(), runs.count()
            if paths != prompts:
                raise FaultError(f"a graph has {paths} paths for {prompts} prompts")

    def cell(self, region: PromptRegion, heads: tuple[Head, ...], edges: Edges) -> Cell:
        """Return a circuit in a region."""
        about = (region, heads, self._forward.circuit(edges))
        if about not in self._cells:
            self._cells[about] = Cell(self.values(edges), self.runs(region, heads))
        return self._cells[about]


@lru_cache(maxsize=4)
def _walks(forward: Forward) -> ClaimWalks:
    declared = forward.claim.declared
    assert declared is not None  # noqa: S101  # asked only where a claim is about a pattern
    return ClaimWalks(forward, declared)


class Walk:
    """A walk through a tree about a claim; `edge` is the place of an edge that no prompt may need."""

    def __init__(self, case: Case, claimed: Property, edge: int | None = None) -> None:
        claim = case.claim
        self.case, self.claimed, self.edge = case, claimed, edge
        self.walks = _walks(case.forward)
        self.world = self.walks.world
        self.circuits: list[Edges] = [claim.edges]
        self.second = "lesion" if claimed.kind == "necessity" else "other"
        if edge is not None:
            self.circuits.append(case.lesion(edge))
        if claimed.kind == "agreement":
            self.circuits.append(claim.other)
        self.decided: dict[int, Decision] = {}

    def walk(self, tree: EvidenceTree, region: PromptRegion, where: str) -> None:
        """Check the evidence about a region."""
        content = mapping(tree, where)
        if "split" in content:
            self._walk_parts(content, tree, region, where)
            return
        leaf, values = self.case.open(tree, self.claimed, where)
        if leaf in (Leaf.MARGINS, Leaf.LESION_MARGINS, Leaf.OTHER_MARGINS):
            self._settle(values, region, where)
        else:
            self._walk_prompts(items(values[0], where), region, where)

    def _walk_parts(
        self, content: dict[str, object], tree: EvidenceTree, region: PromptRegion, where: str
    ) -> None:
        name = text(content["split"], where)
        require("questions_are_known", name in _QUESTIONS, where, name)
        try:
            parts, is_covered = _QUESTIONS[name](self, tree, region, where)
        except UnsettledError as error:
            parts, is_covered = [], False
            where = f"{where} ({error})"
        require("answers_exhaust_the_region", is_covered, where)
        for number, (part, child) in enumerate(parts):
            self.walk(child, part, f"{where}, {name} {number}")

    def by_label(self, tree: EvidenceTree, region: PromptRegion, where: str) -> Parts:
        parts: list[tuple[PromptRegion, EvidenceTree]] = []
        last = self.case.claim.architecture.vocabulary - 1
        for child in paid(items(fields(tree, where, "split", "children")[1], where), OBJECT):
            answer, group, evidence = fields(child, where, "answer", "class", "evidence")
            label = integer(answer, where, 0, last), integer(group, where, 0, last)
            parts.append((replace(region, label=label), evidence))
        found = {step.label for _, step in self._plain(region).steps() if step.is_last}
        return parts, found <= {part.label for part, _ in parts}

    def by_length(self, tree: EvidenceTree, region: PromptRegion, where: str) -> Parts:
        parts: list[tuple[PromptRegion, EvidenceTree]] = []
        for child in paid(items(fields(tree, where, "split", "children")[1], where), OBJECT):
            length, evidence = fields(child, where, "length", "evidence")
            most = self.world.pattern.longest
            parts.append((replace(region, length=integer(length, where, 1, most)), evidence))
        found = {position + 1 for position, step in self._plain(region).steps() if step.is_last}
        return parts, found <= {part.length for part, _ in parts}

    def by_token(self, tree: EvidenceTree, region: PromptRegion, where: str) -> Parts:
        """Part a region by the token at a position, which every prompt of it has."""
        _, place, children = fields(tree, where, "split", "position", "children")
        position = integer(place, where, 0, self.world.pattern.longest - 1)
        classes: list[tuple[TokenClass, EvidenceTree]] = []
        for child in paid(items(children, where), OBJECT + len(region.tokens)):
            tokens, evidence = fields(child, where, "class", "evidence")
            classes.append((read_tokens(tokens, where, self.case.claim.architecture), evidence))
        runs = self._plain(region)
        is_there = all(at >= position for at, step in runs.steps() if step.is_last)
        standing = {step.atom for at, step in runs.steps() if at == position}
        is_covered = is_there and all(_is_covered(runs.atoms[atom], classes) for atom in standing)
        return [(region.and_token(position, one), evidence) for one, evidence in classes], is_covered

    def by_sum(self, tree: EvidenceTree, region: PromptRegion, where: str) -> Parts:
        _, name, children = fields(tree, where, "split", "head", "children")
        head = self._head(name, where)
        parts: list[tuple[PromptRegion, EvidenceTree]] = []
        for child in paid(items(children, where), OBJECT + len(region.sums)):
            total, evidence = fields(child, where, "sum", "evidence")
            told = (head, key_of(rational(total, where)))
            parts.append((replace(region, sums=(*region.sums, told)), evidence))
        found = self._reached(region, head, (Fraction(0), key_of), lambda old, _, weight: old + weight)
        return parts, found.keys() <= {part.sums[-1][1] for part, _ in parts}

    def by_key(self, tree: EvidenceTree, region: PromptRegion, where: str) -> Parts:
        """Part a region by where the keys of a head stand."""
        _, name, children = fields(tree, where, "split", "head", "children")
        head, most = self._head(name, where), self.world.pattern.longest - 1
        parts: list[tuple[PromptRegion, EvidenceTree]] = []
        for child in paid(items(children, where), OBJECT + len(region.keys)):
            low, high, evidence = fields(child, where, "first", "last", "evidence")
            bounds = integer(low, where, 0, most), integer(high, where, 0, most)
            parts.append((replace(region, keys=(*region.keys, (head, *bounds))), evidence))
        found = self._reached(region, head, (tuple[int, ...](), key), _first_and_last)
        spend(NUMBER * len(found) * (1 + len(parts)))
        ranges = [part.keys[-1][1:] for part, _ in parts]
        return parts, all(
            keys and any(low <= keys[0] and keys[-1] <= high for low, high in ranges)
            for keys in found.values()
        )

    def _reached(
        self,
        region: PromptRegion,
        head: Head,
        begin: tuple[Gathered, Callable[[Gathered], bytes]],
        step: Callable[[Gathered, int, Fraction], Gathered],
    ) -> dict[bytes, Gathered]:
        """Return by its key all that may be gathered from the weights of a head along prompts of a region."""
        spend(NUMBER * (1 + len(region.sums) + len(region.keys)))
        runs = self.walks.runs(region, tuple(dict.fromkeys((*region.heads, head))))
        place, ends = runs.heads.index(head), dict[bytes, Gathered]()
        start, name = begin
        reached = {node: {name(start): start} for node in runs.starts}
        for position, layer in enumerate(runs.layers):
            after: dict[int, dict[bytes, Gathered]] = {}
            for node, steps in layer.items():
                for one in steps:
                    known = paid(reached.get(node, {}), OBJECT + runs.rows[place].cost).values()
                    found = [step(old, position, one.weights[place]) for old in known]
                    kept = ends if one.is_last else after.setdefault(one.target, {})
                    kept.update((name(gathered), gathered) for gathered in found)
            reached = after
        return ends

    def _plain(self, region: PromptRegion) -> Runs:
        return self.walks.runs(region, region.heads)

    def _head(self, name: object, where: str) -> Head:
        spend(NUMBER * len(self.case.claim.programs))
        spelled = {f"{layer}.{index}": (layer, index) for layer, index in self.case.claim.programs}
        if (head := spelled.get(text(name, where))) is None:
            raise UnsettledError("the head has no program")
        if self.case.claim.programs[head].has_brackets:
            raise UnsettledError("a row depends on brackets")
        return head

    def _settle(self, values: list[object], region: PromptRegion, where: str) -> None:
        """Check the least margins of a region."""
        place, *rows = values
        winner = integer(place, where, 0, len(self.case.claim.task.candidates) - 1)
        stated = [rationals(row, where) for row in rows]
        reckon(*stated)
        try:
            labels, found = self._least(region, winner)
        except UnsettledError as error:
            labels, found, is_settled, reason = set[Label](), stated, False, str(error)
        else:
            is_settled, reason = True, ""
        require("leaves_can_be_settled", is_settled, where, reason)
        require("margins_are_the_least", stated == found, where, stated, found)
        bounds = self._bounds(winner)
        is_enough = all(m > bound for row in stated for m, bound in zip(row, bounds, strict=False))
        require("margins_suffice", is_enough, where, stated, bounds)
        self._enter(labels, frozenset({self.case.claim.task.candidates[winner]}), where)

    def _least(self, region: PromptRegion, winner: int) -> tuple[set[Label], list[tuple[Fraction, ...]]]:
        """Return the labels of a region, and the least margins of each circuit."""
        values = [self.walks.values(edges) for edges in self.circuits]
        ends = logits_node(self.case.claim.architecture)
        read = [coordinates(one, source) for one in values for source in paid(one.sources.get(ends, []))]
        spend(sum(NUMBER + STEP * len(found) for found in read))
        heads = tuple(
            sorted({*region.heads, *(head for found in read for head in found if head is not None)})
        )
        labels: set[Label] = {
            step.label
            for _, step in self.walks.runs(region, heads).steps()
            if step.is_last and step.label is not None
        }
        if not labels:
            raise UnsettledError("there are no prompts")
        cells = [self.walks.cell(region, heads, edges) for edges in self.circuits]
        return labels, [cell.margins(winner) for cell in cells]

    def _bounds(self, winner: int) -> list[Fraction]:
        """Return what the margins over the other candidates must exceed."""
        if self.claimed.kind != "robustness":
            return [Fraction(0)] * len(self.case.claim.task.candidates)
        apart = distances(self.case, winner)
        reckon(apart, [self.claimed.epsilon] * len(apart))
        return [self.claimed.epsilon * one for one in apart]

    def _enter(self, labels: set[Label], decision: Decision, where: str) -> None:
        """Check the decision of a region against the labels of its prompts."""
        for answer, group in labels:
            is_right = self.claimed.kind != "equivalence" or decision == frozenset({answer})
            require("regions_are_decided_right", is_right, where, decision, answer)
            first = self.decided.setdefault(group, decision)
            is_alike = self.claimed.kind != "invariance" or decision == first
            require("regions_of_a_class_are_decided_alike", is_alike, where, decision, first)

    def _walk_prompts(self, listed: list[object], region: PromptRegion, where: str) -> None:
        """Check a region by a prompt for each choice of tokens at the positions that matter."""
        names = ("prompt", "fold") if len(self.circuits) == 1 else ("prompt", "fold", self.second)
        entries = [fields(entry, where, *names) for entry in listed]
        prompts = [integer(entry[0], where, 0, len(self.case.claim.prompts) - 1) for entry in entries]
        try:
            is_filled = self._is_filled(region, prompts)
        except UnsettledError:
            is_filled = False
        require("shown_prompts_fill_the_region", is_filled, where, len(prompts))
        for prompt, (_, *folds) in zip(prompts, entries, strict=True):
            self._check_prompt(prompt, folds, f"{where}, prompt {prompt}")

    def _is_filled(self, region: PromptRegion, shown: list[int]) -> bool:
        """Say whether every choice that prompts of a region make is that of a shown prompt like them."""
        claim = self.case.claim
        lengths = {position + 1 for position, step in self._plain(region).steps() if step.is_last}
        for length in lengths:
            spend(NUMBER * length)
            runs = Runs(self.world, replace(region, length=length), region.heads, tuple(claim.programs))
            followed = [Relevance(claim, edges, runs) for edges in self.circuits]
            places = sorted(frozenset[int]().union(*(one.positions() for one in followed)))
            made: set[KeyChoice] = set()
            for number in paid(shown, NUMBER * (1 + len(places))):
                prompt = claim.prompts[number]
                label = claim.task.answers[number], claim.task.classes[number]
                if len(prompt) == length and followed[0].allows(prompt):
                    made.add((label, b"".join(token_key(prompt[place]) for place in places)))
            if not choices(runs, frozenset(places)) <= made:
                return False
        return True

    def _check_prompt(self, prompt: int, folds: list[object], where: str) -> None:
        rows = [
            self.case.fold(fold, prompt, where, edges)
            for fold, edges in zip(folds, self.circuits, strict=True)
        ]
        decision, *others = map(self.case.decide, rows)
        if self.edge is not None:
            is_kept = len(decision) > 1 or decision == others[0]
            require("shown_prompts_do_not_need_the_edge", is_kept, where, decision, others)
            return
        reckon(rows[0], rows[0])
        winner = rows[0].index(max(rows[0]))
        leads = [max(rows[0]) - row for place, row in enumerate(rows[0]) if place != winner]
        pairs = zip(leads, self._bounds(winner), strict=False)
        require("shown_prompts_are_decided", all(lead > bound for lead, bound in pairs), where, leads)
        claim = self.case.claim
        label = claim.task.answers[prompt], claim.task.classes[prompt]
        self._enter({label}, decision, where)
        is_alike = all(other == decision for other in others)
        require("shown_prompts_are_decided_alike", is_alike, where, decision, others)


def proved(case: Case, evidence: object, claimed: Property) -> None:
    """Check that a property holds of every prompt of the pattern."""
    Walk(case, claimed).walk(evidence, PromptRegion(), claimed.kind)


def idle(case: Case, evidence: object, claimed: Property) -> None:
    """Check that no prompt of the pattern needs an edge."""
    index, tree = fields(evidence, claimed.kind, "edge", "evidence")
    edge = integer(index, f"{claimed.kind}.edge", 0, len(case.claim.edges) - 1)
    Walk(case, claimed, edge).walk(tree, PromptRegion(), claimed.kind)


def check_prompts(case: Case) -> None:
    """Demand that all prompts of a pattern have a label, and that those shown are of the pattern."""
    if case.claim.declared is not None:
        world = _walks(case.forward).world
        for number, prompt in enumerate(case.claim.prompts):
            require("shown_prompts_are_of_the_pattern", world.holds(prompt), f"prompt {number}", prompt)
        if case.claim.is_enclosed:
            is_labelled = sums_of(case).automaton.is_labelled
        else:
            is_labelled = all(step.label is not None for _, step in _ends(case))
        require("prompts_of_patterns_have_labels", is_labelled, "pattern")


def shortest(case: Case) -> int:
    """Return how many tokens of each prompt that a claim is about are read at least."""
    claim = case.claim
    if claim.declared is None:
        return min(claim.architecture.reads(claim.task.decided(one), one) for one in paid(claim.prompts))
    return min(position + 1 for position, _ in _ends(case))


def labels(case: Case) -> set[Label]:
    """Return right answer and class of each prompt that a claim is about, each pair once."""
    task = case.claim.task
    if case.claim.declared is None:
        return set(zip(task.answers, task.classes, strict=True))
    if case.claim.is_enclosed:
        return set(paid(sums_of(case).counts, NUMBER))
    return {step.label for _, step in _ends(case) if step.label is not None}


def _ends(case: Case) -> list[tuple[int, Step]]:
    """Return the steps with which prompts of a pattern end."""
    steps = _walks(case.forward).runs(PromptRegion(), ()).steps()
    return [(position, step) for position, step in steps if step.is_last]


def count(case: Case) -> int:
    """Return how many prompts a claim is about."""
    if case.claim.declared is None:
        return len(case.claim.prompts)
    if case.claim.is_enclosed:
        return sums_of(case).count
    return _walks(case.forward).runs(PromptRegion(), ()).count()


def _is_covered(members: tuple[int, ...], classes: list[tuple[TokenClass, EvidenceTree]]) -> bool:
    """Say whether each token is in one of some classes."""
    spend(STEP * len(members) * (1 + len(classes)))
    return all(any(token in one for one, _ in classes) for token in members)


def _first_and_last(keys: tuple[int, ...], position: int, weight: Fraction) -> tuple[int, ...]:
    return (*keys[:1], position) if weight else keys


_QUESTIONS: dict[str, Callable[[Walk, EvidenceTree, PromptRegion, str], Parts]] = {
    "label": Walk.by_label,
    "length": Walk.by_length,
    "token": Walk.by_token,
    "sum": Walk.by_sum,
    "key": Walk.by_key,
}
