"""What was verified on every prompt of a pattern: the answers and where they stop being true."""

from dataclasses import dataclass
from fractions import Fraction

from circuitproof.declare.tasks.pattern_text import print_pattern
from circuitproof.errors import InputError
from circuitproof.prove.patterns.battery import SymbolicAnswer, SymbolicBattery
from circuitproof.prove.patterns.claim import SymbolicProperty
from circuitproof.prove.patterns.cover import Budget
from circuitproof.prove.patterns.evidence import Open, shown
from circuitproof.prove.patterns.frontier import FailingCell, FailingChoice, Frontier, frontier
from circuitproof.prove.properties import (
    Equivalence,
    Invariance,
    Necessity,
    Property,
    Robustness,
    kind_of,
    property_to_json,
)
from circuitproof.prove.verdict import Verdict
from circuitproof.text.canonical import Json
from circuitproof.text.reading import write_rational

_LISTED = 100
"""How many failing cells are listed; all are counted."""


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


def limits_of(battery: SymbolicBattery, budget: Budget) -> Frontier | None:
    """Return where a claim stops being true; nothing of one that is proved."""
    return None if battery.verdict is Verdict.PROVED else frontier(battery.claim, budget)


def known_on_patterns(properties: tuple[Property, ...]) -> tuple[SymbolicProperty, ...]:
    """Return properties that can be asked of patterns, or refuse."""
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
