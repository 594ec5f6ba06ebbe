"""Evidence: a closed tree of splits, whose children exhaust a question, and leaves that can be replayed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias, assert_never

from circuitproof.declare.circuits.circuit import Circuit
from circuitproof.prove.balls.regions import Tree, tree_to_json
from circuitproof.text.canonical import Digest, Json
from circuitproof.text.reading import write_rational


@dataclass(frozen=True, slots=True)
class FoldLeaf:
    """A prompt's exact logits, by the index of their fold, with what else the property is about.

    `lesion` is the fold without an edge, `model` that of the whole model, `radius` the exact radius,
    `regions` the evidence that a ball of perturbations keeps the decision.
    """

    fold: int
    lesion: int | None = None
    model: int | None = None
    radius: "Radius | None" = None
    regions: Tree | None = None

    def folds(self) -> tuple[int, ...]:
        """Return the folds that the leaf refers to."""
        return tuple(fold for fold in (self.fold, self.lesion, self.model) if fold is not None)


@dataclass(frozen=True, slots=True)
class Radius:
    """The infimum of ‖η‖ over perturbations that change a decision; without a value there are none."""

    value: Fraction | None

    def exceeds(self, epsilon: Fraction) -> bool:
        """Say whether no perturbation of size at most `epsilon` changes the decision."""
        return self.value is None or self.value > epsilon

    def __str__(self) -> str:
        return "infinite" if self.value is None else write_rational(self.value)


@dataclass(frozen=True, slots=True)
class Replayed:
    """One prompt of a replay, and with a perturbation if the property has one."""

    prompt: int
    leaf: FoldLeaf
    perturbation: tuple[Fraction, ...] | None = None


@dataclass(frozen=True, slots=True)
class Replay:
    """Prompts on which anyone can see what is said."""

    prompts: tuple[Replayed, ...]


@dataclass(frozen=True, slots=True)
class PromptSplit:
    """Which prompt? One leaf per prompt of the domain, in its order."""

    children: tuple[FoldLeaf, ...]


@dataclass(frozen=True, slots=True)
class EdgeSplit:
    """Which edge? One replay per kept edge, in their order."""

    children: tuple[Replay, ...]


@dataclass(frozen=True, slots=True)
class OneEdge:
    """An edge, by its place, and evidence about it."""

    edge: int
    evidence: PromptSplit


@dataclass(frozen=True, slots=True)
class CircuitSplit:
    """Which smaller circuit? For each, in order, a replay that refutes it or a proof that it suffices."""

    children: "tuple[Replay | PromptSplit, ...]"


@dataclass(frozen=True, slots=True)
class OneCircuit:
    """A smaller circuit, and evidence about it."""

    circuit: Circuit
    evidence: "Replay | PromptSplit"


@dataclass(frozen=True, slots=True)
class TensorSplit:
    """Which tensor? For each that is left without the program heads, in order of names, its one digest."""

    digests: tuple[Digest, ...]


@dataclass(frozen=True, slots=True)
class OneTensor:
    """A tensor that is not what it was."""

    name: str


@dataclass(frozen=True, slots=True)
class Open:
    """A question left open, and why."""

    reason: str


Evidence: TypeAlias = (
    PromptSplit | EdgeSplit | CircuitSplit | TensorSplit | OneEdge | OneCircuit | OneTensor | Replay | Open
)


def evidence_to_json(evidence: Evidence, numbers: Mapping[int, int]) -> Json:
    """Return evidence as it stands in a certificate; `numbers` says what a fold is called there."""
    match evidence:
        case PromptSplit(children):
            return {"split": "prompt", "children": list(_prompt_leaves(children, numbers))}
        case EdgeSplit(children):
            return {"split": "edge", "children": [evidence_to_json(child, numbers) for child in children]}
        case CircuitSplit(children):
            return {"split": "circuit", "children": [evidence_to_json(child, numbers) for child in children]}
        case TensorSplit(digests):
            return {"split": "tensor", "children": [{"same": str(digest)} for digest in digests]}
        case OneTensor(name):
            return {"tensor": name}
        case OneEdge(edge, tree):
            return {"edge": edge, "evidence": evidence_to_json(tree, numbers)}
        case OneCircuit(circuit, tree):
            names: list[Json] = [str(edge) for edge in circuit]
            return {"circuit": names, "evidence": evidence_to_json(tree, numbers)}
        case Replay(prompts):
            return {"replay": [_replayed(prompt, numbers) for prompt in prompts]}
        case Open(reason):
            return {"open": reason}
        case _:
            assert_never(evidence)


def fold_order(trees: Iterable[Evidence]) -> tuple[int, ...]:
    """Return the folds that some evidence refers to, in order of appearance."""
    return tuple(dict.fromkeys(fold for tree in trees for leaf in _leaves(tree) for fold in leaf.folds()))


def _leaves(evidence: Evidence) -> Iterator[FoldLeaf]:
    match evidence:
        case PromptSplit(children):
            yield from children
        case EdgeSplit(children) | CircuitSplit(children):
            for child in children:
                yield from _leaves(child)
        case OneEdge(_, tree) | OneCircuit(_, tree):
            yield from _leaves(tree)
        case Replay(prompts):
            yield from (replayed.leaf for replayed in prompts)
        case Open() | TensorSplit() | OneTensor():
            return
        case _:
            assert_never(evidence)


def _prompt_leaves(children: Sequence[FoldLeaf], numbers: Mapping[int, int]) -> Iterator[dict[str, Json]]:
    """Walk the leaves as JSON; a tree of regions that an earlier prompt has is named by that prompt."""
    owners: dict[int, int] = {}
    for prompt, leaf in enumerate(children):
        owner = prompt if leaf.regions is None else owners.setdefault(id(leaf.regions), prompt)
        if owner == prompt:
            yield _leaf(leaf, numbers)
        else:
            yield {**_leaf(replace(leaf, regions=None), numbers), "regions": {"as prompt": owner}}


def _leaf(leaf: FoldLeaf, numbers: Mapping[int, int]) -> dict[str, Json]:
    content: dict[str, Json] = {"fold": numbers[leaf.fold]}
    if leaf.lesion is not None:
        content["lesion"] = numbers[leaf.lesion]
    if leaf.model is not None:
        content["model"] = numbers[leaf.model]
    if leaf.radius is not None:
        content["radius"] = str(leaf.radius)
    if leaf.regions is not None:
        content["regions"] = tree_to_json(leaf.regions)
    return content


def _replayed(replayed: Replayed, numbers: Mapping[int, int]) -> Json:
    content: dict[str, Json] = {"prompt": replayed.prompt, **_leaf(replayed.leaf, numbers)}
    if replayed.perturbation is not None:
        content["eta"] = [write_rational(number) for number in replayed.perturbation]
    return content
