"""Evidence: splits that exhaust a question, replays of single prompts, and folds of exact logits."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from circuitproof_check.circuit import Edge
from circuitproof_check.claim import Claim
from circuitproof_check.forward import Forward
from circuitproof_check.reading import ForgedError, fields, integer, items, show

Decision = frozenset[int]
"""The candidates of the largest logit."""
Fold = tuple[Fraction, ...]
"""One logit per candidate."""
Children = Iterator[tuple[int, object, str]]
"""The index, the content and the place of each child of a split."""


@dataclass(frozen=True, slots=True)
class Case:
    """A claim, what its circuit computes, and the folds of the certificate."""

    claim: Claim
    forward: Forward
    folds: tuple[Fold, ...]
    referred: set[int] = field(default_factory=set[int])

    def fold(self, value: object, prompt: int, edges: tuple[Edge, ...], where: str) -> Fold:
        """Return the fold that evidence refers to, which is the logits of this circuit at this prompt."""
        index = integer(value, f"{where}: fold", 0, len(self.folds) - 1)
        self.referred.add(index)
        logits = self.forward.logits(edges, self.claim.prompts[prompt])
        rule_fold_is_the_logits(self.folds[index], logits, where)
        return self.folds[index]

    def decision(self, value: object, prompt: int, edges: tuple[Edge, ...], where: str) -> Decision:
        """Return the decision of the fold that evidence refers to."""
        return self.decide(self.fold(value, prompt, edges, where))

    def decide(self, logits: Fold) -> Decision:
        """Return the candidates of the largest logit."""
        pairs = zip(self.claim.task.candidates, logits, strict=True)
        return frozenset(candidate for candidate, logit in pairs if logit == max(logits))

    def prompt(self, value: object, where: str) -> int:
        """Return the index of a prompt."""
        return integer(value, f"{where}: prompt", 0, len(self.claim.prompts) - 1)

    def lesion(self, edge: int) -> tuple[Edge, ...]:
        """Return the circuit without one of its edges."""
        return self.claim.edges[:edge] + self.claim.edges[edge + 1 :]


def split_by_prompt(case: Case, value: object, where: str) -> Children:
    """Return the children of a split, one per prompt of the domain."""
    return _split(value, "prompt", len(case.claim.prompts), where)


def split_by_edge(case: Case, value: object, where: str) -> Children:
    """Return the children of a split, one per kept edge."""
    return _split(value, "edge", len(case.claim.edges), where)


def _split(value: object, question: str, count: int, where: str) -> Children:
    found, children = fields(value, where, "split", "children")
    rule_split_is_by_the_question(found, question, where)
    entries = items(children, where)
    rule_children_exhaust_the_split(len(entries), count, where)
    places = (f"{where}, {question} {index}" for index in range(count))
    return zip(range(count), entries, places, strict=False)


def replays(value: object, where: str) -> list[object]:
    """Return the entries of a replay."""
    return items(fields(value, where, "replay")[0], f"{where}: replay")


def single_replay(value: object, where: str, *names: str) -> tuple[object, ...]:
    """Return the fields of the only entry of a replay."""
    entries = replays(value, where)
    if len(entries) != 1:
        raise ForgedError(f"{where}: {len(entries)} replays, want one")
    return fields(entries[0], where, *names)


def rule_fold_is_the_logits(fold: Fold, logits: Fold, where: str) -> None:
    """A fold is what the checker computes itself."""
    if fold != logits:
        raise ForgedError(f"{where}: the fold is {show(fold)}, the logits are {show(logits)}")


def rule_split_is_by_the_question(found: object, wanted: str, where: str) -> None:
    """A split is by the question that the property asks."""
    if found != wanted:
        raise ForgedError(f"{where}: the split is by {show(found)}, want {wanted!r}")


def rule_children_exhaust_the_split(found: int, wanted: int, where: str) -> None:
    """A split has one child per case."""
    if found != wanted:
        raise ForgedError(f"{where}: the split has {found} children, want {wanted}")
