"""A claim beside its certificate: folds that are compared with what is computed, splits, replays."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from .architecture import Edges
from .circuits import Biases
from .claim import Claim, Property
from .enclosed.decisions import leader
from .enclosed.forward import Enclosures
from .enclosed.rows import RowBall
from .exact import digest_of, reckon
from .forward import Forward
from .gates import Leaf, open_leaf
from .reading import fields, integer, items, require
from .work import NUMBER, key, paid, spend

Decision = frozenset[int]
"""The candidates of the largest logit."""
Fold = tuple[Fraction, ...]
"""One logit per candidate."""


class _Tie(frozenset[int]):
    """Several candidates; Python joins the hashes of members with no secret, and a bundle chooses them."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(key(sorted(paid(self))))


@dataclass(frozen=True, slots=True)
class Case:
    """A claim, what its circuit computes, and the folds of the certificate."""

    claim: Claim
    forward: Forward
    folds: tuple[Fold | str, ...]
    """Rows, or their digests, as the certificate states them."""
    enclosures: Enclosures | None = None
    """What is computed instead where the arithmetic is enclosed."""
    referred: dict[int, Fold] = field(default_factory=dict[int, Fold])
    """The folds that evidence has referred to, each as it is computed."""
    apart: dict[int, list[Fraction]] = field(default_factory=dict[int, list[Fraction]])
    """By a winner, how fast a perturbation of the final residual closes its lead over each other one."""
    _lesions: dict[int, Edges] = field(default_factory=dict[int, Edges])

    def fold(self, value: object, prompt: int, where: str, edges: Edges | None = None) -> Fold:
        """Return the fold that evidence refers to: the logits of the circuit, or of other edges."""
        index = integer(value, f"{where}: fold", 0, len(self.folds) - 1)
        logits = self.logits(prompt, self.claim.edges if edges is None else edges)
        stated = self.referred.get(index, self.folds[index])
        if isinstance(stated, str):
            require("digests_are_of_the_logits", stated == digest_of(logits), where, stated)
        else:
            require("folds_are_the_logits", stated == logits, where, stated, logits)
        self.referred[index] = logits
        return logits

    def logits(self, prompt: int, edges: Edges, biases: Biases = frozenset()) -> Fold:
        return self.forward.logits(edges, self.claim.prompts[prompt], biases)

    def decision(self, value: object, prompt: int, where: str, edges: Edges | None = None) -> Decision:
        """Return the decision of the fold that evidence refers to, or the known one that it states."""
        if self.enclosures is None:
            return self.decide(self.fold(value, prompt, where, edges))
        candidates = self.claim.task.candidates
        stated = candidates[integer(value, f"{where}: decided", 0, len(candidates) - 1)]
        found = self.known(prompt, self.claim.edges if edges is None else edges)
        require("decided_is_what_is_known", found == frozenset({stated}), where, stated, found)
        return frozenset({stated})

    def known(self, prompt: int, edges: Edges, biases: Biases = frozenset()) -> Decision | None:
        """Return what is decided, or nothing where that is not known."""
        if self.enclosures is None:
            return self.decide(self.logits(prompt, edges, biases))
        row = self.row(prompt, edges, biases)
        best = leader(row.midpoints, row.radius)
        return None if best is None else frozenset({self.claim.task.candidates[best]})

    def row(self, prompt: int, edges: Edges, biases: Biases = frozenset()) -> RowBall:
        """Return enclosed logits, in a claim of enclosed arithmetic."""
        assert self.enclosures is not None  # noqa: S101  # leaves of exact arithmetic are not judged by them
        spend(NUMBER)
        return self.enclosures.logits(edges, self.claim.prompts[prompt], biases)

    @property
    def precision(self) -> int:
        """Return that of enclosed arithmetic."""
        assert self.enclosures is not None  # noqa: S101  # as above
        return self.enclosures.precision

    def are_apart(self, prompt: int, edges: Edges, others: Edges) -> bool:
        """Say whether two circuits are known to have different logits."""
        if self.enclosures is None:
            return self.logits(prompt, edges) != self.logits(prompt, others)
        one, other = self.row(prompt, edges), self.row(prompt, others)
        spend(NUMBER * len(one.midpoints))
        pairs = zip(one.midpoints, other.midpoints, strict=True)
        return any(abs(a - b) > one.radius + other.radius for a, b in pairs)

    def prepare(self, *circuits: Edges, prompts: Sequence[int] | None = None) -> None:
        """Compute circuits on all prompts together, or on some, if they are enclosed."""
        if self.enclosures is None:
            return
        listed = self.claim.prompts
        chosen = listed if prompts is None else [listed[one] for one in paid(prompts, NUMBER)]
        for edges in paid(circuits, NUMBER):
            self.enclosures.prepare(edges, chosen)

    def decide(self, logits: Fold) -> Decision:
        reckon(logits)
        pairs, largest = zip(self.claim.task.candidates, logits, strict=True), max(logits)
        best = [candidate for candidate, logit in pairs if logit == largest]
        return frozenset(best) if len(best) == 1 else _Tie(best)

    def lesion(self, edge: int) -> Edges:
        """Return the circuit without one of its edges, made once."""
        if edge not in self._lesions:
            spend(len(self.claim.edges))
            self._lesions[edge] = self.claim.edges[:edge] + self.claim.edges[edge + 1 :]
        return self._lesions[edge]

    def open(self, value: object, claimed: Property, where: str) -> tuple[Leaf, list[object]]:
        """Return the content of a leaf whose gate the claim has passed."""
        return open_leaf(self.claim, claimed, value, where)

    def by_prompt(
        self, value: object, claimed: Property, where: str, *circuits: Edges
    ) -> Iterator[tuple[int, str, Leaf, list[object]]]:
        """Return index, place, kind and content of each leaf of a split, one per prompt of the domain.

        The leaves are about `circuits`.
        """
        leaves = split(value, "prompt", len(self.claim.prompts), where)
        self.prepare(*circuits)
        for prompt, leaf in enumerate(leaves):
            place = f"{where}, prompt {prompt}"
            yield prompt, place, *self.open(leaf, claimed, place)

    def replay(self, value: object, claimed: Property, where: str) -> tuple[int, list[object]]:
        """Return the prompt and the other content of the only entry of a replay."""
        entries = self.replays(value, claimed, where)
        require("replays_are_single", len(entries) == 1, where, len(entries))
        return entries[0]

    def replays(self, value: object, claimed: Property, where: str) -> list[tuple[int, list[object]]]:
        """Return the prompt and the other content of each entry of a replay."""
        found: list[tuple[int, list[object]]] = []
        for entry in items(fields(value, where, "replay")[0], where):
            _, (prompt, *others) = self.open(entry, claimed, where)
            found.append((integer(prompt, f"{where}: prompt", 0, len(self.claim.prompts) - 1), others))
        return found


def split(value: object, question: str, count: int, where: str) -> list[object]:
    """Return the children of a split by a question that has so many answers."""
    found, children = fields(value, where, "split", "children")
    require("splits_are_by_the_question", found == question, where, found, question)
    entries = items(children, where)
    require("children_exhaust_the_split", len(entries) == count, where, len(entries), count)
    return entries


def check_clear(decision: Decision, where: str) -> None:
    """Demand that one candidate leads alone."""
    require("decision_is_clear", len(decision) == 1, where, decision)
