"""Verifying a circuit of a stored model: from files to a battery of answers and a bundle."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from circuitproof.bundle.files import write_bundle
from circuitproof.circuits.ablation_asked import AskedAblation
from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Graph
from circuitproof.errors import UsageError, asked_for, keeping
from circuitproof.files.canonical import Json, refuse_existing
from circuitproof.files.reading import Fields, write_rational
from circuitproof.forward.frozen import Frozen
from circuitproof.forward.interface import FINAL_RESIDUAL, Interface, Span, parse_interface, parse_positions
from circuitproof.models.declaration import read_declaration
from circuitproof.proof.arithmetic import ExactNumbers, bits_of
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.counterexamples import Counterexample, counterexample
from circuitproof.proof.effort import Effort, Pace
from circuitproof.proof.evidence import Open
from circuitproof.proof.inexact import in_its_arithmetic, over_patterns
from circuitproof.proof.properties.bounds import parse_bounds
from circuitproof.proof.properties.catalogue import PROPERTIES
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.properties.property import Asked, Property
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.verdict import Answer, Battery, Verdict
from circuitproof.tasks.candidates import AskedCandidates
from circuitproof.tasks.domain import Domain
from circuitproof.tasks.pattern_text import print_pattern
from circuitproof.tasks.task import Task
from circuitproof.verbs.asked import ablated, asked_circuit, asked_model, asked_task
from circuitproof.verbs.counterexamples import counterexample_to_json
from circuitproof.verbs.floats import FloatMeasures, Unmeasured, floats_to_json

if TYPE_CHECKING:
    from circuitproof.proof.patterns.limits import ClaimLimits


_PAPER = (Kind.EQUIVALENCE, Kind.INVARIANCE, Kind.NECESSITY)


@dataclass(frozen=True, slots=True)
class PerturbationSite:
    """A place to perturb, as it is spelled; which node it is, the model tells."""

    at: str = str(FINAL_RESIDUAL)
    positions: str = Span.LAST

    def interface(self, graph: Graph) -> Interface:
        with asked_for():
            return parse_interface(self.at, graph, parse_positions(self.positions))

    def of(self, prop: Property, graph: Graph) -> Property:
        """Return a property with the place that robustness is about."""
        return replace(prop, at=self.interface(graph)) if isinstance(prop, Robustness) else prop


def is_searched(model: Path, place: PerturbationSite) -> bool:
    """Say whether robustness at a place of a model takes a search, and not only a formula."""
    sizes = read_declaration(model).architecture
    return sizes.has_norm or not place.interface(sizes.graph).is_final_residual


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a user asks to be verified."""

    model: Path | Frozen
    circuit: Path | Circuit | None
    """A circuit or its file; without one, all edges: the model itself."""
    task: str | Task
    """A task, its name, or its file."""
    ablation: AskedAblation = None
    """What cut edges carry: a word, a file, or without one what the circuit says."""
    properties: tuple[Property, ...]
    place: PerturbationSite | None = None
    """Where robustness perturbs; without one, the final residual."""
    effort: Effort = Effort()  # noqa: RUF009  # frozen, and so shared by none
    candidates: AskedCandidates | None = None
    """Which tokens may be answers, where it is not the task that says it."""
    position: int | None = None
    """Where in a prompt is decided, where it is not the task that says it."""
    pattern: str | None = None
    """The text of a pattern, where it is not the task file's own."""
    find_limits: bool = False
    """Whether to look for the largest part of a pattern on which a refuted claim is true."""

    is_detached: bool = False
    """Whether the bundle names its tensors and holds none."""
    only_of_patterns: tuple[str, ...] = ()
    """Options that were given and do nothing unless the task is about a pattern."""
    only_of_lists: tuple[str, ...] = ()
    """The same, unless the task lists its prompts."""

    def at(self, pace: Pace) -> "Request":
        """Return the same request, to be answered at a pace."""
        return replace(self, effort=replace(self.effort, pace=pace))


@dataclass(frozen=True, slots=True)
class Verification:
    """The answers, how long they took and, if that was asked for, how far floats and limits are from them."""

    battery: Battery
    seconds: float
    floats: FloatMeasures | Unmeasured | None = None
    """What torch makes of it, where somebody has measured that."""
    limits: "ClaimLimits | None" = None
    """Where a claim about a pattern stops being true."""
    bundle: Path | None = None
    """Where the bundle was written, if it was."""

    @property
    def verdict(self) -> Verdict:
        return self.battery.verdict

    @property
    def answers(self) -> tuple[Answer, ...]:
        return self.battery.answers

    @property
    def precision(self) -> int | None:
        """Return with how many bits logits are enclosed, if they are."""
        return bits_of(self.battery.claim.arithmetic)

    def counterexamples(self) -> Iterator[Counterexample]:
        """Return what refutes each refuted property."""
        found = (counterexample(self.battery.claim, answer) for answer in self.battery.answers)
        return (one for one in found if one is not None)

    def to_json(self) -> Json:
        claim = self.battery.claim
        return {
            "verdict": str(self.verdict),
            "task": claim.task.name,
            "declaration": str(claim.task.digest),
            "edges": len(claim.circuit),
            "granularity": str(claim.circuit.graph.granularity),
            "ablation": claim.circuit.ablation.name,
            "arithmetic": claim.arithmetic.kind,
            "precision": self.precision,
            **self._domain_to_json(),
            "cells": self.battery.cells,
            "answers": [_answer_to_json(claim, answer) for answer in self.battery.answers],
        }

    def _domain_to_json(self) -> dict[str, Json]:
        """Return what is told of a list, or of a pattern."""
        task = self.battery.claim.task
        if isinstance(task.domain, Domain):
            return {"prompts": task.size, "ties": self.battery.ties, **floats_to_json(self.floats)}
        limits: Json = None
        if self.limits is not None:
            from circuitproof.verbs.limits import limits_to_json

            limits = limits_to_json(self.limits)
        return {
            "pattern": print_pattern(task.domain),
            "prompts": write_rational(Fraction(task.size)),
            "seconds": round(self.seconds, 3),
            "frontier": limits,
        }


def _answer_to_json(claim: Claim, answer: Answer) -> Json:
    survey = answer.findings.survey
    return {
        **answer.to_json(),
        "property": answer.prop.to_json(),
        "obligations": answer.obligations,
        "open": answer.evidence.reason if isinstance(answer.evidence, Open) else None,
        "counterexample": counterexample_to_json(claim.task, counterexample(claim, answer)),
        **({"findings": answer.findings.to_json()} if survey is None else survey.to_json()),
    }


def verify(request: Request, out: Path | None) -> Verification:
    """Answer every property asked for, and write the bundle if a place for it is given."""
    refuse_existing(out)
    claim = claim_of(request)
    begun = time.perf_counter()
    battery = prove(claim, request.effort)
    seconds = time.perf_counter() - begun
    if out is not None:
        with keeping(Verification(battery, seconds)):
            write_bundle(out, battery, is_detached=request.is_detached)
    limits = None
    if request.find_limits:
        from circuitproof.verbs.limits import limits_of  # a list needs nothing that is about patterns

        limits = limits_of(battery, request.effort)
    return Verification(battery, seconds, limits=limits, bundle=out)


def listed_claim_of(request: Request) -> Claim:
    """Return the claim that is asked about, which must list its prompts."""
    claim = claim_of(request)
    claim.task.refuse_pattern()
    return claim


def claim_of(request: Request) -> Claim:
    """Return the claim that is asked about."""
    frozen = asked_model(request.model)
    kept = asked_circuit(request.circuit, frozen.graph)
    place = request.place or PerturbationSite()
    properties = tuple(place.of(prop, frozen.graph) for prop in request.properties)
    asked = (request.pattern, request.candidates, request.position)
    task = asked_task(request.task, frozen.declaration, *asked)
    circuit = ablated(kept, request.ablation, task, frozen.declaration)
    if request.ablation is not None:
        properties = tuple(prop.under(circuit.ablation) for prop in properties)
    if isinstance(task.domain, Domain):
        unasked = ("--limits",) if request.find_limits else request.only_of_patterns
        _refuse_unasked(unasked, task.name, "lists its prompts")
        frozen.declaration.refuse_unfit(task)
        return in_its_arithmetic(Claim(frozen.at(task.position), circuit, task, properties), request.effort)
    arithmetic = over_patterns(frozen, circuit, request.effort)
    is_exact = isinstance(arithmetic, ExactNumbers)
    idle = [flag for flag in request.only_of_lists if is_exact or flag != "--precision"]
    _refuse_unasked(idle, task.name, "is about a pattern")
    if request.find_limits and not is_exact:
        raise UsageError("--limits looks at exact margins, and softmax has enclosed ones; leave it out")
    return Claim(frozen, circuit, task, properties, arithmetic)


def _refuse_unasked(flags: Sequence[str], task: str, why: str) -> None:
    if flags:
        raise UsageError(f"{flags[0]} is given, but task {task!r} {why}; leave it out")


def parse_properties(
    kinds: Sequence[Kind],
    epsilon: str | int | None,
    where: str = "command line",
    *,
    agrees_with: Circuit | None = None,
    bounds: Sequence[str] = (),
) -> tuple[Property, ...]:
    """Return the properties asked for.

    Of none, those that bounds are of, or else those of the paper; with an epsilon robustness, and agreement
    where a circuit is given.
    """
    with asked_for():
        size = None if epsilon is None else Fields({"epsilon": epsilon}, where).rational("epsilon")
        asked = Asked(epsilon=size, agrees_with=agrees_with, bounds=parse_bounds(bounds))
        given = {kind: what for kind, one in PROPERTIES.items() if (what := one.given(asked))}
        chosen = tuple(kinds) or (*(() if bounds else _PAPER), *given)
        if idle := [kind for kind in given if kind not in chosen]:
            kind = idle[0]
            raise UsageError(f"{given[kind]} is given, but {kind} is not among the properties asked for")
        return tuple(one.asked(asked) for kind, one in PROPERTIES.items() if kind in chosen)
