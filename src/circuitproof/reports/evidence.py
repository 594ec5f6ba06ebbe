"""What the evidence of a bundle shows: counterexamples, witnesses, and what is still open."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from circuitproof.bundle.opening import Answered, OpenedBundle
from circuitproof.circuits.graph import Edge
from circuitproof.files.printing import plural
from circuitproof.files.reading import Fields
from circuitproof.proof.fold import Fold
from circuitproof.proof.properties.property import Property
from circuitproof.proof.properties.robustness import Robustness, perturbed_folds
from circuitproof.proof.verdict import Verdict

_SHOWN = 20
"""Of the prompts that a piece of evidence replays, so many are shown."""


@dataclass(frozen=True, slots=True)
class KnownDecision:
    """What enclosed logits decide; by how much, a certificate does not say."""

    decision: frozenset[int]


ShownDecision: TypeAlias = Fold | KnownDecision


@dataclass(frozen=True, slots=True)
class Shown:
    """A prompt with what is decided there, and what is decided once something is changed."""

    prompt: int
    found: ShownDecision
    other: ShownDecision | None = None
    """Without the edge, by the whole model, or with what is added; nothing where nothing is changed."""
    perturbation: tuple[Fraction, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptWitness:
    """Prompts on which anyone can see what is said, with the edge that is cut or the circuit that decides."""

    prop: Property
    verdict: Verdict
    shown: tuple[Shown, ...]
    edge: Edge | None = None
    circuit: tuple[str, ...] = ()
    """The edges of another circuit, whose decisions are shown."""

    @property
    def is_refutation(self) -> bool:
        return self.verdict is Verdict.REFUTED

    def change(self) -> str:
        """Say what differs from the circuit as it is claimed."""
        if self.edge is not None:
            return f"without {self.edge}"
        if self.circuit:
            return f"with {', '.join(self.circuit)} alone"
        return "with η added" if any(one.perturbation for one in self.shown) else self.prop.beside


def witnesses(bundle: OpenedBundle) -> Iterator[PromptWitness]:
    """Return the counterexamples of refuted properties and the witnesses of needed edges."""
    for answer in bundle.answers:
        evidence = answer.evidence
        if evidence.has("replay"):
            yield _witness(bundle, answer, evidence)
        elif evidence.has("circuit") and evidence.fields("evidence").has("replay"):
            found = _witness(bundle, answer, evidence.fields("evidence"))
            yield replace(found, circuit=evidence.texts("circuit"))
        elif evidence.has("split") and evidence.value("split") == "edge":
            for edge, child in zip(bundle.circuit, evidence.items("children"), strict=True):
                yield _witness(bundle, answer, Fields(child, evidence.where), edge)


def _witness(
    bundle: OpenedBundle, answer: Answered, replay: Fields, edge: Edge | None = None
) -> PromptWitness:
    entries = replay.tables("replay")[:_SHOWN]
    shown = tuple(_shown(bundle, answer.prop, one) for one in entries)
    return PromptWitness(answer.prop, answer.verdict, shown, edge)


def _shown(bundle: OpenedBundle, prop: Property, fields: Fields) -> Shown:
    if bundle.precision is not None:
        return _enclosed(prop, fields)
    prompt, fold = fields.integer("prompt"), Fold(bundle.folds[fields.integer("fold")])
    if fields.has("eta") and isinstance(prop, Robustness):
        eta = tuple(map(Fraction, fields.texts("eta")))
        tokens, candidates = bundle.domain.prompts[prompt], bundle.task.candidates
        _, other = perturbed_folds(bundle.frozen, candidates, bundle.circuit, tokens, (prop.at, eta))
        return Shown(prompt, fold, other, eta)
    has_other = prop.second and fields.has(prop.second)
    return Shown(prompt, fold, Fold(bundle.folds[fields.integer(prop.second)]) if has_other else None)


def _enclosed(prop: Property, fields: Fields) -> Shown:
    """Return a prompt of evidence that names decisions, and no logits."""
    names = [name for name in ("decided", prop.second) if name and fields.has(name)]
    found = [KnownDecision(frozenset({fields.integer(name)})) for name in names]
    eta = tuple(map(Fraction, fields.texts("eta"))) if fields.has("eta") else ()
    return Shown(fields.integer("prompt"), found[0], found[1] if len(found) > 1 else None, eta)


def rests_on(answer: Answered, bundle: OpenedBundle) -> str:
    """Say in a few words what a verdict rests on."""
    evidence = answer.evidence
    if evidence.has("open"):
        return f"open: {evidence.text('open')}"
    if evidence.has("replay"):
        return f"a replay of {plural(len(evidence.items('replay')), 'prompt')}"
    if evidence.has("edge"):
        return f"no prompt needs {list(bundle.circuit)[evidence.integer('edge')]}"
    if evidence.has("circuit"):
        return f"another circuit: {', '.join(evidence.texts('circuit'))}"
    if evidence.has("tensor"):
        return f"tensor {evidence.text('tensor')} is not the base's"
    if evidence.has("evaluated"):
        return f"an evaluation of {plural(evidence.integer('evaluated'), 'prompt')}"
    if evidence.has("split"):
        question = evidence.text("split")
        return f"a split by {question} of {plural(len(evidence.items('children')), 'part')}"
    return "a single region"
