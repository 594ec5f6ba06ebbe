"""Counterexamples for readers, replayed exactly: prompts, what is wanted, what is decided, by how much."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import assert_never

from circuitproof.circuits.circuit import Circuit
from circuitproof.proof.claim import Claim
from circuitproof.proof.enclosed import Decision, EnclosedNumber
from circuitproof.proof.evidence import (
    ByKey,
    ByLabel,
    ByLength,
    BySum,
    ByToken,
    Evaluated,
    Led,
    Listed,
    OneCircuit,
    OneEdge,
    OneTensor,
    PromptSplit,
    Replay,
    Settled,
    shown_prompts,
)
from circuitproof.proof.fold import CandidateLogits, fold
from circuitproof.proof.properties.property import Property
from circuitproof.proof.regions.disturbed import Point
from circuitproof.proof.verdict import Answer, Refuted
from circuitproof.tasks.domain import Domain, Prompt

_SHOWN = 4
"""Of the prompts that speak against a property, so many are shown."""


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
            shown, eta = [one.prompt for one in prompts[:_SHOWN]], prompts[0].perturbation or ()
            found = replayed(claim, answer.prop, shown, eta)
            counted = [] if answer.findings.right is None else [answer.findings.right.words()]
            return replace(found, says="; ".join([*counted, *([found.says] if found.says else [])]))
        case OneEdge(place):
            return Counterexample(answer.prop, (), f"no prompt needs {list(claim.circuit)[place]}")
        case OneCircuit(circuit, evidence):
            found = rightly_decided(claim, circuit, [one.prompt for one in shown_prompts(evidence)])
            how_many = "all" if isinstance(evidence, PromptSplit) else "not all"
            says = f"{how_many} prompts are right with {', '.join(map(str, circuit))} alone"
            return Counterexample(answer.prop, found, says)
        case OneTensor(name):
            return Counterexample(answer.prop, (), f"tensor {name} is not the base's")
        case Evaluated():
            said = ", ".join(one.words() for one in answer.findings.measured)
            return Counterexample(answer.prop, (), f"found is {said}")
        case Settled() | Led() | Listed() | ByLabel() | ByLength() | ByToken() | BySum() | ByKey():
            counted = answer.findings.right
            return Counterexample(answer.prop, (), "" if counted is None else counted.words())
        case _:
            assert_never(answer.outcome.evidence)


def replayed(claim: Claim, prop: Property, prompts: Sequence[Prompt], eta: Point) -> Counterexample:
    """Return what prompts say against a property, computed anew, and whose decision is wanted there."""
    found = prop.replayed(claim, prompts, eta)
    says = prop.against(found)
    says += "; a tie is no clear decision" * (prop.wants_clear and any(map(_has_tie, found)))
    return Counterexample(prop, found, says)


def rightly_decided(claim: Claim, circuit: Circuit, prompts: Sequence[Prompt]) -> tuple[Decided, ...]:
    """Return what a circuit decides on prompts, beside the right answers."""
    return tuple(_right(claim, circuit, prompt) for prompt in prompts)


def _right(claim: Claim, circuit: Circuit, prompt: Prompt) -> Decided:
    """Return what a circuit decides, beside the right answer."""
    task, is_list = claim.task, isinstance(claim.task.domain, Domain)
    answer = task.answers()[task.prompts.index(prompt)] if is_list else task.labelled.label_of(prompt).answer
    return beside(claim, prompt, frozenset({task.candidates.index(answer)}), fold_of(claim, circuit, prompt))


def decided(claim: Claim, circuit: Circuit, prompt: Prompt) -> Decided:
    """Return what a circuit decides, where nothing single was to be decided."""
    return beside(claim, prompt, None, fold_of(claim, circuit, prompt))


def beside(
    claim: Claim, prompt: Prompt, wanted: Decision | None, found: CandidateLogits, eta: Point = ()
) -> Decided:
    """Return what is decided on a prompt, beside what was to be decided."""
    task = claim.task
    place = task.prompts.index(prompt) if isinstance(task.domain, Domain) else None
    leader = min(wanted) if isinstance(wanted, frozenset) and len(wanted) == 1 else found.leader
    return Decided(prompt, place, wanted, found.decision, found.margin(leader), eta)


def fold_of(claim: Claim, circuit: Circuit, prompt: Prompt) -> CandidateLogits:
    """Return the logits of one prompt, computed anew."""
    folded = fold(claim.frozen, claim.task.candidates, [circuit], [prompt], arithmetic=claim.arithmetic)
    return folded.of(circuit)[0]


def _has_tie(one: Decided) -> bool:
    return any(
        isinstance(decision, frozenset) and len(decision) > 1 for decision in (one.wanted, one.decided)
    )
