"""Evidence about patterns: trees of questions whose answers exhaust a region, minima, concrete prompts."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from circuitproof.declare.circuits.graph import Head
from circuitproof.declare.tasks.domain import Prompt
from circuitproof.declare.tasks.patterned import Label
from circuitproof.declare.tasks.patterns import Tokens, tokens_to_json
from circuitproof.text.canonical import Json
from circuitproof.text.reading import write_rational


@dataclass(frozen=True, slots=True)
class Settled:
    """Throughout a region one candidate leads each other by at least a margin, with and without an edge.

    Margins stand in the order of the other candidates; `lesion` has those without an edge where one is meant.
    """

    decision: int
    """The candidate's place."""
    margins: tuple[Fraction, ...]
    lesion: tuple[Fraction, ...] | None = None
    is_attained: bool = True
    """Whether some prompt has each margin, so that none is larger than said."""


@dataclass(frozen=True, slots=True)
class Listed:
    """All prompts of a small region, each to be computed by itself."""

    prompts: "tuple[Replayed, ...]"


@dataclass(frozen=True, slots=True)
class ByLabel:
    """Which answer and class? A child for each that some prompt has."""

    children: "tuple[tuple[Label, Tree], ...]"


@dataclass(frozen=True, slots=True)
class ByLength:
    """How long? A child for each length that some prompt has."""

    children: "tuple[tuple[int, Tree], ...]"


@dataclass(frozen=True, slots=True)
class ByToken:
    """Which token at a position? Classes that do not overlap."""

    position: int
    children: "tuple[tuple[Tokens, Tree], ...]"


@dataclass(frozen=True, slots=True)
class BySum:
    """What do the weights of a head's row sum to, before they are divided by it?"""

    head: Head
    children: "tuple[tuple[Fraction, Tree], ...]"


@dataclass(frozen=True, slots=True)
class ByKey:
    """Where do the keys of a head's row stand? Ranges of positions that hold all, and at least one."""

    head: Head
    children: "tuple[tuple[tuple[int, int], Tree], ...]"


Tree: TypeAlias = Settled | Listed | ByLabel | ByLength | ByToken | BySum | ByKey


@dataclass(frozen=True, slots=True)
class Replayed:
    """A concrete prompt with its exact logits; without an edge, or perturbed, where that is meant."""

    prompt: Prompt
    logits: tuple[Fraction, ...]
    lesion: tuple[Fraction, ...] | None = None
    perturbation: tuple[Fraction, ...] | None = None


@dataclass(frozen=True, slots=True)
class Replays:
    """Prompts on which anyone can see what is said."""

    prompts: tuple[Replayed, ...]


@dataclass(frozen=True, slots=True)
class ByEdge:
    """Which edge? A prompt that needs it for each kept edge, in their order."""

    children: tuple[Replayed, ...]


@dataclass(frozen=True, slots=True)
class IdleEdge:
    """An edge, by its place, that no prompt needs."""

    edge: int
    tree: Tree


@dataclass(frozen=True, slots=True)
class Open:
    """A question left open, and why."""

    reason: str


Evidence: TypeAlias = Tree | Replays | ByEdge | IdleEdge | Open


def leaves(tree: Tree) -> Iterator[Settled | Listed]:
    """Return the leaves of a tree."""
    if isinstance(tree, (Settled, Listed)):
        yield tree
        return
    for _, child in tree.children:
        yield from leaves(child)


def shown(evidence: Evidence) -> tuple[Replayed, ...]:
    """Return the concrete prompts of some evidence."""
    match evidence:
        case Replays(prompts) | ByEdge(prompts):
            return prompts
        case Open():
            return ()
        case IdleEdge(_, tree) | tree:
            return tuple(one for leaf in leaves(tree) if isinstance(leaf, Listed) for one in leaf.prompts)


@dataclass(slots=True)
class Ledger:
    """The prompts and folds of a certificate, which evidence refers to by their places."""

    prompts: dict[Prompt, int] = field(default_factory=dict[Prompt, int])
    folds: dict[tuple[Fraction, ...], int] = field(default_factory=dict[tuple[Fraction, ...], int])

    def evidence_to_json(self, evidence: Evidence) -> dict[str, Json]:
        """Return evidence as it stands in a certificate."""
        match evidence:
            case Replays(prompts):
                return {"replay": [self._replayed(prompt) for prompt in prompts]}
            case ByEdge(children):
                return {"split": "edge", "children": [{"replay": [self._replayed(one)]} for one in children]}
            case IdleEdge(edge, tree):
                return {"edge": edge, "evidence": self._tree(tree)}
            case Open(reason):
                return {"open": reason}
            case _:
                return self._tree(evidence)

    def _tree(self, tree: Tree) -> dict[str, Json]:
        match tree:
            case Settled(decision, margins, lesion, _):
                found: dict[str, Json] = {"decision": decision, "margins": _rationals(margins)}
                return found if lesion is None else {**found, "lesion": _rationals(lesion)}
            case Listed(prompts):
                return {"prompts": [self._replayed(prompt) for prompt in prompts]}
            case ByLabel():
                return {"split": "label", "children": self._children(tree)}
            case ByLength():
                return {"split": "length", "children": self._children(tree)}
            case ByToken(position):
                return {"split": "token", "position": position, "children": self._children(tree)}
            case BySum(head):
                return {"split": "sum", "head": _name(head), "children": self._children(tree)}
            case ByKey(head):
                return {"split": "key", "head": _name(head), "children": self._children(tree)}

    def _children(self, tree: ByLabel | ByLength | ByToken | BySum | ByKey) -> list[Json]:
        return [{**_answer(answer), "evidence": self._tree(child)} for answer, child in tree.children]

    def _replayed(self, replayed: Replayed) -> Json:
        content: dict[str, Json] = {
            "prompt": self.prompts.setdefault(replayed.prompt, len(self.prompts)),
            "fold": self.folds.setdefault(replayed.logits, len(self.folds)),
        }
        if replayed.lesion is not None:
            content["lesion"] = self.folds.setdefault(replayed.lesion, len(self.folds))
        if replayed.perturbation is not None:
            content["eta"] = _rationals(replayed.perturbation)
        return content


def _answer(answer: Label | int | Tokens | Fraction | tuple[int, int]) -> dict[str, Json]:
    """Return an answer to a question."""
    match answer:
        case Label(right, group):
            return {"answer": right, "class": group}
        case int():
            return {"length": answer}
        case Tokens():
            return {"class": tokens_to_json(answer)}
        case Fraction():
            return {"sum": write_rational(answer)}
        case (first, last):
            return {"first": first, "last": last}


def _name(head: Head) -> str:
    return f"{head.layer}.{head.index}"


def _rationals(numbers: tuple[Fraction, ...]) -> list[Json]:
    return [write_rational(number) for number in numbers]
