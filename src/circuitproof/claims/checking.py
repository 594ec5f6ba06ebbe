"""Letting the independent checker judge the bundle of every claim, compared with its model and task."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from circuitproof.claims.file import ClaimsFile
from circuitproof.claims.places import (
    ProofFolder,
    ProofRecord,
    changed_kinds,
    changed_words,
    is_meant,
    proofs_in,
)
from circuitproof.claims.stated import StatedClaim
from circuitproof.errors import ExitCode
from circuitproof.files.canonical import Json
from circuitproof.files.codec import to_json
from circuitproof.files.reading import Fields, parse_json
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.verdict import Verdict
from circuitproof.tasks.loading import load_task
from circuitproof.tasks.task import Task
from circuitproof.verbs.checker import declared, run_checker
from circuitproof.workers import SERIAL, Cluster, Division, mapped
from circuitproof_check.main import UNHELD, Outcome, Report

_UNHELD = "its bundle holds no weights: say where the model is, --where NAME=DIR"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedClaim:
    """A claim and what the checker says of its bundle."""

    claim: StatedClaim
    bundle: Path
    against: Path | None
    """The model directory that it was compared with, if it was."""
    base: Path | None
    """The same of the model that a lesion identity is claimed with."""
    task: Task
    """The task that it was compared with."""
    report: Report
    seconds: float
    """How long the checker took."""
    size: int
    """How many bytes the bundle has."""
    record: ProofRecord

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """Return the checker's verdict on each property that it judged."""
        if not self.report.claim:
            return {}
        listed = Fields(self.report.claim, self.claim.name).tables("properties")
        return {one.text("kind"): one.choice("verdict", Verdict) for one in listed}

    @property
    def changed_kinds(self) -> tuple[Kind, ...]:
        """Return the properties whose verdicts are not as expected."""
        return changed_kinds(self.claim.expected, self.verdicts)

    @property
    def changed(self) -> str:
        """Return which verdicts are not as expected; nothing where all are."""
        return changed_words(self.claim.expected, self.verdicts, self.record.counts)

    @property
    def uncompared(self) -> str:
        """Say what the bundle was not compared with though it is about it; nothing where all was there.

        A detached bundle without its model has no verdict that could be about other weights.
        """
        if self.report.reason == _UNHELD:
            return ""
        models = (
            (("model", self.against),)
            if self.claim.base is None
            else (
                ("model", self.against),
                ("base", self.base),
            )
        )
        return " and ".join(what for what, path in models if path is None)

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
            "counts": to_json(self.record.counts),
            "changed": self.changed or None,
            "not_compared": self.uncompared or None,
            "edges": to_json(facts.get("edges")),
            "prompts": to_json(facts.get("prompts")),
            "cells": self.record.cells,
            "prove_seconds": self.record.seconds,
            "check_seconds": self.seconds,
            "bytes": self.size,
            "floats": to_json(self.record.floats),
        }


@dataclass(frozen=True, slots=True)
class UnprovedClaim:
    """A claim that is not proved yet."""

    claim: StatedClaim
    bundle: Path

    @property
    def changed_kinds(self) -> tuple[Kind, ...]:
        """Return all properties: nothing is known of them."""
        return tuple(self.claim.expected)

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
    workers: Division = SERIAL,
    has_models: bool = True,
    hear: Callable[[str, int, int], None],
) -> tuple[CheckedClaim | UnprovedClaim, ...]:
    """Judge the bundle of every claim of a file in `folder`, several at a time.

    Without models, bundles are compared with claims, tasks and circuits alone, and so is a bundle whose model
    is not at hand. The bundles are on this machine, so no cluster is asked.
    """
    here = SERIAL if isinstance(workers, Cluster) else workers
    proofs = proofs_in(folder, file)
    tasks = [_task(proof.claim, has_models=has_models) for proof in proofs]
    parts = list(zip(proofs, tasks, strict=True))
    return tuple(_heard(mapped(check_one, has_models, parts, here), len(proofs), hear))


def _task(claim: StatedClaim, *, has_models: bool) -> Task:
    """Return the task of a claim; where its models are at hand, they and the circuit must fit it."""
    if has_models and claim.is_at_hand:
        return claim.open().task
    return load_task(claim.task)


def _heard(
    found: Iterator[CheckedClaim | UnprovedClaim], total: int, hear: Callable[[str, int, int], None]
) -> Iterator[CheckedClaim | UnprovedClaim]:
    for done, one in enumerate(found, start=1):
        hear(one.claim.name, done, total)
        yield one


def check_one(has_models: bool, part: tuple[ProofFolder, Task]) -> CheckedClaim | UnprovedClaim:  # noqa: FBT001  # given by a map
    """Let the checker judge one bundle."""
    proof, task = part
    if not proof.is_there:
        return UnprovedClaim(proof.claim, proof.bundle)
    against, base = proof.claim.beside() if has_models else (None, None)
    beside = (("--against", against), ("--base", base))
    models = [word for flag, path in beside if path is not None for word in (flag, str(path))]
    operations = proof.claim.operations
    allowed = [] if operations is None else ["--operations", str(operations)]
    begun = time.perf_counter()
    with declared(task) as file:
        words = [str(proof.bundle.absolute()), *models, *allowed, "--task", str(file), "--json"]
        report = _read_report(run_checker(words))
    seconds = round(time.perf_counter() - begun, 3)
    return CheckedClaim(
        claim=proof.claim,
        bundle=proof.bundle,
        against=against,
        base=base,
        task=task,
        report=_compared(report, proof, has_models=has_models),
        seconds=seconds,
        size=sum(path.stat().st_size for path in proof.bundle.iterdir()),
        record=proof.record(),
    )


def _read_report(said: str) -> Report:
    fields = Fields(parse_json(said.encode(), "the checker's answer"), "the checker's answer")
    outcome = Outcome[fields.text("outcome").upper()]
    found = fields.fields("claim") if fields.has("claim") else Fields({}, fields.where)
    return Report(outcome, fields.text("reason"), {key: found.value(key) for key in found.keys()})  # noqa: SIM118  # Fields is not a mapping


def _compared(report: Report, proof: ProofFolder, *, has_models: bool) -> Report:
    """Return the report on a bundle, which is invalid if it states another claim than the file does."""
    if report.reason == UNHELD:
        return replace(report, reason=_UNHELD)
    if not report.claim or is_meant(proof, has_models=has_models):
        return report
    reason = "the bundle states another claim than the claims file: another circuit, task or property"
    return replace(report, outcome=Outcome.INVALID, reason=reason, claim={})
