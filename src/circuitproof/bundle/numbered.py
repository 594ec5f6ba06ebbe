"""Evidence as it stands in a certificate, where prompts and folds are numbers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import assert_never

from circuitproof.files.canonical import Json
from circuitproof.files.reading import write_rational
from circuitproof.models.declaration import head_key
from circuitproof.proof.evidence import (
    BoxWeights,
    ByKey,
    ByLabel,
    ByLength,
    BySum,
    ByToken,
    Cases,
    CaseSplit,
    CircuitSplit,
    CutTree,
    EdgeSplit,
    EnclosureLeaf,
    Evaluated,
    Evidence,
    FoldLeaf,
    Leaf,
    Led,
    Listed,
    OneCircuit,
    OneEdge,
    OneTensor,
    Open,
    PromptSplit,
    RatioCut,
    Replay,
    Replayed,
    Settled,
    TensorSplit,
    logits_of,
)
from circuitproof.proof.fold import Fold
from circuitproof.proof.known import known_decision
from circuitproof.proof.regions.regions import tree_to_json
from circuitproof.tasks.domain import Prompt
from circuitproof.tasks.labelling import Label
from circuitproof.tasks.patterns import TokenClass, tokens_to_json


@dataclass(slots=True)
class Numbering:
    """What the prompts and folds of a certificate are called: their places, folds in order of appearance."""

    prompts: dict[Prompt, int]
    folds: dict[Fold, int] = field(default_factory=dict[Fold, int])
    second: str = ""
    """What the second circuit is called in evidence that compares two."""

    def evidence(self, evidence: Evidence) -> Json:
        """Return evidence as it stands in a certificate."""
        match evidence:
            case PromptSplit(children):
                return {"split": "prompt", "children": list(self._prompt_leaves(children))}
            case EdgeSplit(children) | CircuitSplit(children):
                name = "edge" if isinstance(evidence, EdgeSplit) else "circuit"
                return {"split": name, "children": [self.evidence(child) for child in children]}
            case TensorSplit() | OneTensor() | Evaluated() | Open():
                return _unnumbered(evidence)
            case OneEdge(edge, part):
                return {"edge": edge, "evidence": self.evidence(part)}
            case OneCircuit(circuit, part):
                names: list[Json] = [str(edge) for edge in circuit]
                return {"circuit": names, "evidence": self.evidence(part)}
            case Replay(prompts):
                return {"replay": [self._replayed(prompt) for prompt in prompts]}
            case _:
                return self._cases(evidence)

    def _cases(self, cases: Cases) -> Json:
        match cases:
            case Settled(decision, margins, second):
                found: dict[str, Json] = {"decision": decision, "margins": _rationals(margins)}
                return found if second is None else {**found, self.second: _rationals(second)}
            case Led(decision, cuts):
                shown: list[Json] = [
                    {"over": list(rivals), "tree": _tree_to_json(tree)} for rivals, tree in cuts
                ]
                return {"decided": decision, **({"cuts": shown} if shown else {})}
            case Listed(prompts):
                return {"prompts": [self._replayed(prompt) for prompt in prompts]}
            case ByLabel():
                return {"split": "label", "children": self._children(cases)}
            case ByLength():
                return {"split": "length", "children": self._children(cases)}
            case ByToken(position):
                return {"split": "token", "position": position, "children": self._children(cases)}
            case BySum(head):
                return {"split": "sum", "head": head_key(head), "children": self._children(cases)}
            case ByKey(head):
                return {"split": "key", "head": head_key(head), "children": self._children(cases)}
            case _:
                assert_never(cases)

    def _children(self, cases: CaseSplit) -> list[Json]:
        return [{**_answer(answer), "evidence": self._cases(child)} for answer, child in cases.children]

    def _prompt_leaves(self, children: Sequence[Leaf]) -> Iterator[dict[str, Json]]:
        """Walk the leaves as JSON; a tree of regions that an earlier prompt has is named by that prompt."""
        owners: dict[int, int] = {}
        for prompt, leaf in enumerate(children):
            tree = leaf.regions if isinstance(leaf, FoldLeaf) else None
            owner = prompt if tree is None else owners.setdefault(id(tree), prompt)
            if owner == prompt:
                yield self._leaf(leaf)
            else:
                assert isinstance(leaf, FoldLeaf)  # noqa: S101  # it has a tree
                yield {**self._leaf(replace(leaf, regions=None)), "regions": {"as prompt": owner}}

    def _leaf(self, leaf: Leaf) -> dict[str, Json]:
        if isinstance(leaf, EnclosureLeaf):
            return self._decided(leaf)
        content: dict[str, Json] = {"fold": self._fold(leaf.fold)}
        if leaf.second is not None:
            content[self.second] = self._fold(leaf.second)
        if leaf.radius is not None:
            content["radius"] = str(leaf.radius)
        if leaf.regions is not None:
            content["regions"] = tree_to_json(leaf.regions)
        return content

    def _decided(self, leaf: EnclosureLeaf) -> dict[str, Json]:
        """Return what enclosed logits decide; a certificate never says where they lie."""
        names = zip(("decided", self.second), logits_of(leaf), strict=False)
        return {name: min(known_decision(found)) for name, found in names}

    def _replayed(self, replayed: Replayed) -> Json:
        leaf = self._leaf(replayed.leaf)
        content: dict[str, Json] = {"prompt": self.prompts[replayed.prompt], **leaf}
        if replayed.perturbation is not None:
            content["eta"] = _rationals(replayed.perturbation)
        return content

    def _fold(self, fold: Fold) -> int:
        return self.folds.setdefault(fold, len(self.folds))


def _unnumbered(evidence: TensorSplit | OneTensor | Evaluated | Open) -> Json:
    """Return evidence that names no prompt and no fold."""
    match evidence:
        case TensorSplit(digests):
            return {"split": "tensor", "children": [{"same": str(digest)} for digest in digests]}
        case OneTensor(name):
            return {"tensor": name}
        case Evaluated(prompts):
            return {"evaluated": prompts}
        case Open(reason):
            return {"open": reason}
        case _:
            assert_never(evidence)


def _tree_to_json(tree: CutTree) -> Json:
    match tree:
        case BoxWeights(numbers):
            return list(numbers)
        case RatioCut(head, at, parts):
            return {"head": head_key(head), "at": list(at), "parts": [_tree_to_json(part) for part in parts]}
        case _:
            assert_never(tree)


def _answer(answer: Label | int | TokenClass | Fraction | tuple[int, int]) -> dict[str, Json]:
    match answer:
        case Label(right, group):
            return {"answer": right, "class": group}
        case int():
            return {"length": answer}
        case TokenClass():
            return {"class": tokens_to_json(answer)}
        case Fraction():
            return {"sum": write_rational(answer)}
        case (first, last):
            return {"first": first, "last": last}


def _rationals(numbers: tuple[Fraction, ...]) -> list[Json]:
    return [write_rational(number) for number in numbers]
