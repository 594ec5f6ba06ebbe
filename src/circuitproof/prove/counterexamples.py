"""Counterexamples for readers, replayed exactly: prompts, what is wanted, what is decided, by how much."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from circuitproof.declare.circuits.circuit import Circuit, whole
from circuitproof.declare.tasks.domain import Domain, Prompt
from circuitproof.forward.frozen import Frozen
from circuitproof.forward.interface import Interface
from circuitproof.prove.balls.answers import widening
from circuitproof.prove.balls.disturbed import Disturbed, Point, disturb
from circuitproof.prove.claim import Claim
from circuitproof.prove.enclosed import Decision, EnclosedNumber
from circuitproof.prove.evidence import OneCircuit, OneEdge, OneTensor, PromptSplit, Replay, shown_prompts
from circuitproof.prove.fold import CandidateLogits, Fold, fold
from circuitproof.prove.properties import Faithfulness, Invariance, Necessity, Property, Robustness
from circuitproof.prove.verdict import Answer, Refuted


@dataclass(frozen=True, slots=True)
class Decided:
    """A prompt and what is decided there, as places of candidates; several tie."""

    prompt: Prompt
    place: int | None
    """The prompt's place in a list."""
    wanted: Decision | None
    """What was to be decided; nothing where only prompts are compared."""
    decided: Decision
    margin: Fraction | EnclosedNumber
    """By how much the one wanted candidate leads over the best other; without one, the decision over it."""
    eta: Point = ()
    """What was added, where the property allows a perturbation."""


@dataclass(frozen=True, slots=True)
class Counterexample:
    """What refutes a property: prompts, or what no prompt can show."""

    prop: Property
    prompts: tuple[Decided, ...]
    says: str = ""
    """Which edge is idle, which circuit is not as claimed, which tensor differs."""


def counterexample(claim: Claim, answer: Answer) -> Counterexample | None:
    """Return what refutes an answered property; nothing of one that is not refuted."""
    if not isinstance(answer.outcome, Refuted):
        return None
    match answer.outcome.evidence:
        case Replay(prompts):
            shown, eta = [one.prompt for one in prompts], prompts[0].perturbation or ()
            return Counterexample(answer.prop, replayed(claim, answer.prop, shown, eta))
        case OneEdge(place):
            return Counterexample(answer.prop, (), f"no prompt needs {list(claim.circuit)[place]}")
        case OneCircuit(circuit, evidence):
            found = tuple(_right(claim, circuit, one.prompt) for one in shown_prompts(evidence))
            how_many = "all" if isinstance(evidence, PromptSplit) else "not all"
            says = f"{how_many} prompts are right with {', '.join(map(str, circuit))} alone"
            return Counterexample(answer.prop, found, says)
        case OneTensor(name):
            return Counterexample(answer.prop, (), f"tensor {name} is not the base's")
        case _:
            assert_never(answer.outcome.evidence)


def replayed(claim: Claim, prop: Property, prompts: Sequence[Prompt], eta: Point) -> tuple[Decided, ...]:
    """Return what a property is about on prompts that speak against it, computed anew."""
    match prop:
        case Robustness(at=at):
            return tuple(_perturbed(claim, at, prompt, eta) for prompt in prompts)
        case Faithfulness():
            model = whole(claim.frozen.graph)
            return tuple(
                _decided(claim, x, _fold(claim, model, x).decision, _fold(claim, claim.circuit, x))
                for x in prompts
            )
        case Invariance() | Necessity():
            return tuple(_decided(claim, x, None, _fold(claim, claim.circuit, x)) for x in prompts)
        case _:
            return tuple(_right(claim, claim.circuit, prompt) for prompt in prompts)


def _right(claim: Claim, circuit: Circuit, prompt: Prompt) -> Decided:
    """Return what a circuit decides, beside the right answer."""
    task, is_list = claim.task, isinstance(claim.task.domain, Domain)
    answer = task.answers()[task.prompts.index(prompt)] if is_list else task.labelled.label_of(prompt).answer
    return _decided(claim, prompt, frozenset({task.candidates.index(answer)}), _fold(claim, circuit, prompt))


def _perturbed(claim: Claim, at: Interface, prompt: Prompt, eta: Point) -> Decided:
    """Return what is decided under a perturbation, beside what is decided without."""
    function, inner = _perturbation(claim.frozen, claim.task.candidates, claim.circuit, prompt, (at, eta))
    before, after = (function.evaluated(one, claim.arithmetic) for one in (function.zero(), inner))
    return _decided(claim, prompt, before.decision, after, eta)


def perturbed_folds(
    frozen: Frozen,
    candidates: tuple[int, ...],
    circuit: Circuit,
    prompt: Prompt,
    added: tuple[Interface, Point],
) -> tuple[Fold, Fold]:
    """Return the exact logits of a prompt without and with what is added at a place."""
    function, inner = _perturbation(frozen, candidates, circuit, prompt, added)
    return function.fold(function.zero()), function.fold(inner)


def _perturbation(
    frozen: Frozen,
    candidates: tuple[int, ...],
    circuit: Circuit,
    prompt: Prompt,
    added: tuple[Interface, Point],
) -> tuple[Disturbed, Point]:
    """Return a prompt's logits as a function, and the part that it reads of what is added at a place."""
    at, eta = added
    function = disturb(frozen, candidates, circuit, prompt, at)
    read = widening(frozen.architecture.width, at, function, len(prompt)).places
    return function, eta if len(eta) == function.variables else tuple(eta[place] for place in read)


def _decided(
    claim: Claim, prompt: Prompt, wanted: Decision | None, found: CandidateLogits, eta: Point = ()
) -> Decided:
    task = claim.task
    place = task.prompts.index(prompt) if isinstance(task.domain, Domain) else None
    leader = min(wanted) if isinstance(wanted, frozenset) and len(wanted) == 1 else found.leader
    return Decided(prompt, place, wanted, found.decision, found.margin(leader), eta)


def _fold(claim: Claim, circuit: Circuit, prompt: Prompt) -> CandidateLogits:
    folded = fold(claim.frozen, claim.task.candidates, [circuit], [prompt], arithmetic=claim.arithmetic)
    return folded.of(circuit)[0]
