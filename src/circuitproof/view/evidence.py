"""What the evidence of a bundle shows: counterexamples, witnesses, and what is still open."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from circuitproof.bundle.opening import Answered, Opened
from circuitproof.declare.circuits.graph import Edge
from circuitproof.prove.properties import Property
from circuitproof.prove.verdict import Verdict
from circuitproof.text.reading import Fields
from circuitproof.view.words import plural


@dataclass(frozen=True, slots=True)
class Witness:
    """Prompts on which anyone can see what is said, with the edge that is cut or what is added there."""

    prop: Property
    verdict: Verdict
    prompts: tuple[int, ...]
    edge: Edge | None = None
    perturbation: tuple[Fraction, ...] = ()


def witnesses(bundle: Opened) -> Iterator[Witness]:
    """Return the counterexamples of refuted properties and the witnesses of needed edges."""
    for answer in bundle.answers:
        evidence = answer.evidence
        if evidence.has("replay"):
            yield _witness(answer, evidence)
        elif evidence.has("split") and evidence.value("split") == "edge":
            for edge, child in zip(bundle.circuit, evidence.items("children"), strict=True):
                yield _witness(answer, Fields(child, evidence.where), edge)


def _witness(answer: Answered, replay: Fields, edge: Edge | None = None) -> Witness:
    entries = replay.each("replay", _entry)
    return Witness(
        answer.prop,
        answer.verdict,
        tuple(prompt for prompt, _ in entries),
        edge,
        next((added for _, added in entries if added), ()),
    )


def _entry(fields: Fields) -> tuple[int, tuple[Fraction, ...]]:
    for key in ("fold", "lesion", "model"):
        fields.has(key)
    spelled = fields.texts("eta") if fields.has("eta") else ()
    return fields.integer("prompt"), tuple(map(Fraction, spelled))


def rests_on(answer: Answered, bundle: Opened) -> str:
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
    if evidence.has("split"):
        question = evidence.text("split")
        return f"a split by {question} of {plural(len(evidence.items('children')), 'part')}"
    return "a single region"
