"""Verifying a circuit on every prompt of a pattern: from files to answers, a bundle, and its limits."""

import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from circuitproof.canonical import Json
from circuitproof.certificate.symbolic import write_symbolic_bundle
from circuitproof.circuits.circuit import whole
from circuitproof.circuits.spelling import load_circuit
from circuitproof.errors import InputError
from circuitproof.reading import write_rational
from circuitproof.semantics.frozen import open_model
from circuitproof.tasks.pattern_text import print_pattern
from circuitproof.tasks.symbolic import load_symbolic_task
from circuitproof.verify.properties import (
    Equivalence,
    Invariance,
    Necessity,
    Property,
    Robustness,
    kind_of,
    property_to_json,
)
from circuitproof.verify.symbolic.battery import SymbolicAnswer, SymbolicBattery, prove_pattern
from circuitproof.verify.symbolic.claim import SymbolicClaim, SymbolicProperty
from circuitproof.verify.symbolic.cover import Budget
from circuitproof.verify.symbolic.evidence import Open, shown
from circuitproof.verify.symbolic.frontier import FailingCell, FailingChoice, Frontier, frontier
from circuitproof.verify.verdict import Verdict

_LISTED = 100
"""How many failing cells are listed; all are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternRequest:
    """What a user asks to be verified on a pattern."""

    model: Path
    circuit: Path | None
    """A circuit file; without one, all edges: the model itself."""
    task: Path
    pattern: str | None
    """The text of the pattern, where it is not the task file's own."""
    properties: tuple[Property, ...]
    budget: Budget
    find_limits: bool
    """Whether to look for the largest part on which a refuted claim is true."""


@dataclass(frozen=True, slots=True)
class PatternVerification:
    """The answers, how long they took, and where the claim stops being true if that was asked for."""

    battery: SymbolicBattery
    seconds: float
    frontier: Frontier | None

    @property
    def verdict(self) -> Verdict:
        """Return the verdict on the whole claim."""
        return self.battery.verdict

    def to_json(self) -> Json:
        """Return the whole result as JSON."""
        task = self.battery.claim.task
        return {
            "verdict": str(self.verdict),
            "task": task.name,
            "declaration": str(task.digest),
            "edges": len(self.battery.claim.circuit),
            "ablation": str(self.battery.claim.circuit.ablation),
            "pattern": print_pattern(task.pattern),
            "prompts": write_rational(Fraction(task.size)),
            "cells": self.battery.cells,
            "seconds": round(self.seconds, 3),
            "answers": [self._answer(answer) for answer in self.battery.answers],
            "frontier": None if self.frontier is None else _frontier_to_json(self.frontier),
        }

    def _answer(self, answer: SymbolicAnswer) -> Json:
        margin, radius = self.battery.worst_margin(answer), self.battery.least_radius(answer)
        prompts: list[Json] = [list(replayed.prompt) for replayed in shown(answer.evidence)[:_LISTED]]
        return {
            "property": property_to_json(answer.prop),
            "verdict": str(answer.verdict),
            "remarks": [str(remark) for remark in answer.remarks],
            "regions": answer.cells,
            "worst_margin": None if margin is None else write_rational(margin),
            "is_attained": self.battery.is_attained(answer),
            "least_radius": None if radius is None else write_rational(radius),
            "open": answer.evidence.reason if isinstance(answer.evidence, Open) else None,
            "prompts": prompts,
        }


def verify_pattern(request: PatternRequest, out: Path | None) -> PatternVerification:
    """Answer every property asked for on every prompt, and write the bundle if a place for it is given."""
    if out is not None and out.exists():
        raise InputError(f"{out} already exists; remove it or choose another place")
    frozen = open_model(request.model)
    circuit = whole(frozen.graph) if request.circuit is None else load_circuit(request.circuit)
    task = load_symbolic_task(request.task, request.pattern)
    claim = SymbolicClaim(frozen, circuit, task, _known(request.properties))
    begun = time.perf_counter()
    battery = prove_pattern(claim, request.budget)
    seconds = time.perf_counter() - begun
    if out is not None:
        write_symbolic_bundle(out, battery)
    has_limits = request.find_limits and battery.verdict is not Verdict.PROVED
    return PatternVerification(battery, seconds, frontier(claim, request.budget) if has_limits else None)


def scientific(number: int) -> str:
    """Return a number as people read it: exactly up to twelve digits, else four digits and a power of ten.

    >>> scientific(2048), scientific(32**100)
    ('2048', '3.273e150')
    """
    digits = write_rational(Fraction(number))
    return digits if len(digits) <= 12 else f"{digits[0]}.{digits[1:4]}e{len(digits) - 1}"  # noqa: PLR2004  # said above


def _known(properties: tuple[Property, ...]) -> tuple[SymbolicProperty, ...]:
    found: list[SymbolicProperty] = []
    for prop in properties:
        if not isinstance(prop, Equivalence | Invariance | Necessity | Robustness):
            raise InputError(
                f"{kind_of(prop)} is not known over patterns; "
                "want equivalence, invariance, necessity or robustness"
            )
        found.append(prop)
    return tuple(found)


def _frontier_to_json(found: Frontier) -> Json:
    return {
        "epsilon": None if found.epsilon is None else write_rational(found.epsilon),
        "cells": found.cells,
        "failing": len(found.failing),
        "first_failing": [_cell_to_json(cell) for cell in found.failing[:_LISTED]],
        "proved": [
            {
                "what": part.what,
                "pattern": print_pattern(part.pattern),
                "prompts": write_rational(Fraction(part.size)),
            }
            for part in found.parts
        ],
    }


def _cell_to_json(cell: FailingCell | FailingChoice) -> Json:
    if isinstance(cell, FailingChoice):
        tokens: list[Json] = [list(pair) for pair in cell.tokens]
        return {"class": cell.label.group, "tokens": tokens, "margin": write_rational(cell.margin)}
    return {
        "class": cell.label.group,
        "head": str(cell.head),
        "token": cell.token,
        "position": cell.position,
        "margin": write_rational(cell.margin),
    }
