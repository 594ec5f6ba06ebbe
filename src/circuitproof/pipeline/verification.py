"""Verifying a circuit of a stored model: from files to a battery of answers and a bundle."""

from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

from circuitproof.canonical import Json
from circuitproof.certificate.bundle import write_bundle
from circuitproof.circuits.spelling import load_circuit
from circuitproof.errors import InputError
from circuitproof.semantics.frozen import open_model
from circuitproof.tasks.catalogue import find_task
from circuitproof.verify.battery import Battery, prove
from circuitproof.verify.claim import Claim
from circuitproof.verify.properties import (
    Equivalence,
    Faithfulness,
    Invariance,
    Necessity,
    Property,
    Robustness,
    kind_of,
)
from circuitproof.verify.verdict import Verdict, settle


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a user asks to be verified."""

    model: Path
    circuit: Path
    task: str
    epsilon: Fraction | None
    """The size of perturbations, if robustness is claimed."""
    faithful: bool
    """Whether faithfulness to the whole model is claimed too."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The answers, and how far floats are from them."""

    battery: Battery
    float_error: float | None
    """The largest difference between torch's candidate logits and the exact ones; nothing without torch."""

    @property
    def verdict(self) -> Verdict:
        """Return the verdict on the whole claim."""
        return settle(self.battery.claim.properties, self.battery.answers)

    def to_json(self) -> Json:
        """Return the whole result as JSON."""
        claim = self.battery.claim
        answers: list[Json] = [
            {
                "property": str(kind_of(answer.prop)),
                "verdict": str(answer.verdict),
                "obligations": answer.obligations,
                "met": answer.met,
                "findings": answer.findings.to_json(),
            }
            for answer in self.battery.answers
        ]
        return {
            "verdict": str(self.verdict),
            "task": claim.task.name,
            "prompts": len(claim.task.domain),
            "cells": self.battery.cells,
            "ties": self.battery.ties,
            "necessity_implied": self.battery.implies_necessity,
            "float_error": self.float_error,
            "answers": answers,
        }


def verify(request: Request, out: Path | None) -> Verification:
    """Answer every property asked for, and write the bundle if a place for it is given."""
    if out is not None and out.exists():
        raise InputError(f"{out} already exists; remove it or choose another place")
    claim = Claim(
        open_model(request.model),
        load_circuit(request.circuit),
        find_task(request.task),
        _properties(request),
    )
    battery = prove(claim)
    if out is not None:
        write_bundle(out, battery)
    return Verification(battery, _float_error(request.model, battery))


def parse_epsilon(text: str) -> Fraction:
    """Return a perturbation size given on the command line: a rational such as 1/100 or 0.01."""
    try:
        return Robustness(Fraction(text)).epsilon
    except (ValueError, ZeroDivisionError) as error:
        raise InputError(f"epsilon is {text!r}, want a positive rational such as 1/100") from error


def _properties(request: Request) -> tuple[Property, ...]:
    robust = () if request.epsilon is None else (Robustness(request.epsilon),)
    faithful = (Faithfulness(),) if request.faithful else ()
    return (Equivalence(), Invariance(), Necessity(), *robust, *faithful)


def _float_error(model: Path, battery: Battery) -> float | None:
    """Measure how far torch's logits of the circuit are from the exact ones."""
    if find_spec("torch") is None:
        return None
    from circuitproof.model.checkpoint import load_model
    from circuitproof.model.decisions import task_logits

    claim = battery.claim
    measured = task_logits(load_model(model).model, claim.task, [claim.circuit])[0].tolist()
    exact = [found.logits for found in battery.folded.of(claim.circuit)]
    errors = [
        abs(float(Fraction(number) - logit))
        for numbers, logits in zip(measured, exact, strict=True)
        for number, logit in zip(numbers, logits, strict=True)
    ]
    return max(errors)
