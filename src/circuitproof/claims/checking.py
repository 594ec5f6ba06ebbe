"""Letting the independent checker judge the bundle of every claim, compared with its model and task."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from circuitproof.claims.file import ClaimsFile, StatedClaim
from circuitproof.claims.places import (
    Proof,
    Record,
    changed_words,
    is_bundle_of,
    is_stated_in,
    model_in,
    proofs_in,
)
from circuitproof.declare.tasks.loading import load_task
from circuitproof.declare.tasks.task import Task
from circuitproof.errors import ExitCode
from circuitproof.lab.runs.checker import declared, run_checker
from circuitproof.prove.claim import Claim
from circuitproof.prove.verdict import Verdict
from circuitproof.text.canonical import Json
from circuitproof.text.codec import to_json
from circuitproof.text.reading import Fields, parse_json
from circuitproof.view.run import tables
from circuitproof_check.main import Outcome, Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A claim and what the checker says of its bundle."""

    claim: StatedClaim
    bundle: Path
    against: Path | None
    """The model directory that it was compared with, if it was."""
    task: Task
    """The task that it was compared with."""
    report: Report
    seconds: float
    """How long the checker took."""
    size: int
    """How many bytes the bundle has."""
    record: Record

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """Return the checker's verdict on each property that it judged."""
        if not self.report.claim:
            return {}
        listed = tables(Fields(self.report.claim, self.claim.name), "properties")
        return {one.text("kind"): one.choice("verdict", Verdict) for one in listed}

    @property
    def changed(self) -> str:
        """Return which verdicts are not as expected; nothing where all are."""
        return changed_words(self.claim.expected, self.verdicts)

    @property
    def exit_code(self) -> ExitCode:
        if self.report.outcome in (Outcome.FAILURE, Outcome.INVALID):
            return ExitCode(self.report.outcome)
        if not self.report.claim:
            return ExitCode.UNDECIDED
        return ExitCode.REFUTED if self.changed else ExitCode.GOOD

    def sentence(self) -> str | None:
        """Say what is not as it should be, if anything is."""
        if self.exit_code is ExitCode.GOOD:
            return None
        said = f"{self.report.outcome.name.lower()}: {self.report.reason}"
        return f"claim {self.claim.name!r}: {self.changed if self.exit_code is ExitCode.REFUTED else said}"

    def to_json(self) -> Json:
        facts = self.report.claim
        return {
            "claim": self.claim.name,
            "outcome": self.report.outcome.name.lower(),
            "reason": self.report.reason,
            "verdicts": to_json(self.verdicts),
            "expected": to_json(self.claim.expected),
            "changed": self.changed or None,
            "edges": to_json(facts.get("edges")),
            "prompts": to_json(facts.get("prompts")),
            "cells": self.record.cells,
            "prove_seconds": self.record.seconds,
            "check_seconds": self.seconds,
            "bytes": self.size,
        }


@dataclass(frozen=True, slots=True)
class Missing:
    """A claim that is not proved yet."""

    claim: StatedClaim
    bundle: Path

    @property
    def exit_code(self) -> ExitCode:
        return ExitCode.UNDECIDED

    def sentence(self) -> str:
        return f"claim {self.claim.name!r}: {self.bundle} is not there; prove it by circuitproof claims prove"

    def to_json(self) -> Json:
        return {"claim": self.claim.name, "outcome": "missing", "expected": to_json(self.claim.expected)}


def check_claims(
    file: ClaimsFile,
    folder: Path,
    *,
    jobs: int = 1,
    has_models: bool = True,
    hear: Callable[[str, int, int], None],
) -> tuple[Checked | Missing, ...]:
    """Judge the bundle of every claim of a file in `folder`, several at a time.

    Without models, bundles are compared with claims, tasks and circuits alone.
    """
    proofs = proofs_in(folder, file)
    opened = [proof.claim.open() if has_models else None for proof in proofs]
    with ThreadPoolExecutor(jobs) as pool:
        found = pool.map(_check, proofs, opened)
        return tuple(_heard(found, len(proofs), hear))


def _heard(
    found: Iterator[Checked | Missing], total: int, hear: Callable[[str, int, int], None]
) -> Iterator[Checked | Missing]:
    for done, one in enumerate(found, start=1):
        hear(one.claim.name, done, total)
        yield one


def _check(proof: Proof, claim: Claim | None) -> Checked | Missing:
    if not proof.is_there:
        return Missing(proof.claim, proof.bundle)
    task = load_task(proof.claim.task) if claim is None else claim.task
    against = None if claim is None else proof.claim.model.path.absolute()
    model = [] if against is None else ["--against", str(against)]
    begun = time.perf_counter()
    with declared(task) as file:
        words = [str(proof.bundle.absolute()), *model, "--task", str(file), "--json"]
        report = _read_report(run_checker(words))
    seconds = round(time.perf_counter() - begun, 3)
    return Checked(
        claim=proof.claim,
        bundle=proof.bundle,
        against=against,
        task=task,
        report=_compared(report, proof, claim),
        seconds=seconds,
        size=sum(path.stat().st_size for path in proof.bundle.iterdir()),
        record=proof.record(),
    )


def _read_report(said: str) -> Report:
    fields = Fields(parse_json(said.encode(), "the checker's answer"), "the checker's answer")
    outcome = Outcome[fields.text("outcome").upper()]
    found = fields.fields("claim") if fields.has("claim") else Fields({}, fields.where)
    return Report(outcome, fields.text("reason"), {key: found.value(key) for key in found.keys()})  # noqa: SIM118  # Fields is not a mapping


def _compared(report: Report, proof: Proof, claim: Claim | None) -> Report:
    """Return the report on a bundle, which is invalid if it states another claim than the file does."""
    if not report.claim:
        return report
    if claim is None:
        is_meant = is_stated_in(proof.bundle, proof.claim.open(model_in(proof.bundle)))
    else:
        is_meant = is_bundle_of(proof.bundle, claim)
    if is_meant:
        return report
    reason = "the bundle states another claim than the claims file: another circuit, task or property"
    return replace(report, outcome=Outcome.INVALID, reason=reason, claim={})
