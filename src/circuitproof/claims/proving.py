"""Proving the claims of a file into a folder: a claim that is finished is skipped, a killed run goes on."""

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from circuitproof.bundle.files import write_bundle
from circuitproof.claims.file import ClaimsFile
from circuitproof.claims.places import (
    BUNDLE,
    RECORD,
    ProofFolder,
    ProofRecord,
    changed_words,
    proofs_in,
    record_of,
    refuse_place,
)
from circuitproof.errors import ExitCode, InputError
from circuitproof.files.canonical import Json, write_directory
from circuitproof.files.codec import to_json
from circuitproof.files.locked import claimed
from circuitproof.files.records import write_record
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.verdict import Battery
from circuitproof.verbs.floats import FloatMeasures, Unmeasured

Hear: TypeAlias = Callable[[str, int, int], None]
"""Is told which claim was proved last, how many are done, and of how many."""
Measure: TypeAlias = Callable[[Battery], FloatMeasures | Unmeasured]
"""Asks floats what they make of a claim that was answered; torch is not at home here."""


def unmeasured(_: Battery) -> Unmeasured:
    """Say that nobody who has torch was asked."""
    return Unmeasured("nobody was asked to measure")


@dataclass(frozen=True, slots=True)
class SettledClaim:
    """A claim that is proved, refuted or undecided, and whether that is as expected."""

    name: str
    record: ProofRecord
    changed: str
    """Which verdicts are not as expected; empty where all are."""
    is_new: bool
    """Whether this run proved it, rather than one before."""

    def to_json(self) -> Json:
        return {
            "claim": self.name,
            "verdicts": to_json(self.record.verdicts),
            "changed": self.changed or None,
            "seconds": self.record.seconds,
            "cells": self.record.cells,
            "is_new": self.is_new,
        }


def prove_claims(  # noqa: PLR0913  # what is proved, and how
    file: ClaimsFile,
    out: Path,
    hear: Hear,
    *,
    jobs: int = 1,
    force: bool = False,
    measure: Measure = unmeasured,
) -> tuple[SettledClaim, ...]:
    """Prove every claim of a file that is not proved in `out` yet; nothing else there is replaced.

    Bad input is refused before anything is proved. Several `jobs` are processes, one for each claim.
    """
    refuse_place(out)
    proofs = proofs_in(out, file)
    opened = [(proof, proof.claim.open()) for proof in proofs]
    asked = [(proof, claim) for proof, claim in opened if not proof.is_finished(claim, force=force)]
    for proof, claim in asked:
        proof.claim.refuse_costly(claim)
    done = len(proofs) - len(asked)
    hear("", done, len(proofs))

    def tell(proof: ProofFolder) -> None:
        nonlocal done
        done += 1
        hear(proof.claim.name, done, len(proofs))

    if jobs == 1:
        for proof, claim in asked:
            prove_one(proof, claim, measure)
            tell(proof)
    else:
        _prove_in_processes(file, [proof for proof, _ in asked], jobs, tell, force=force)
    new = {proof.claim.name for proof, _ in asked}
    return tuple(_proved(proof, is_new=proof.claim.name in new) for proof in proofs)


def prove_one(proof: ProofFolder, claim: Claim, measure: Measure) -> None:
    """Prove a claim into its folder, which appears whole or not at all; what was there is replaced."""
    if proof.folder.exists():
        shutil.rmtree(proof.folder)
    with claimed(proof.folder):
        begun = time.perf_counter()
        battery = prove(claim)
        seconds = time.perf_counter() - begun
        floats = measure(battery) if proof.claim.measures_floats else None

        def fill(folder: Path) -> None:
            write_bundle(folder / BUNDLE, battery, is_detached=proof.claim.is_detached)
            write_record(folder / RECORD, record_of(battery, seconds, floats))

        write_directory(proof.folder, fill)


def _proved(proof: ProofFolder, *, is_new: bool) -> SettledClaim:
    record = proof.record()
    changed = changed_words(proof.claim.expected, record.verdicts, record.counts)
    return SettledClaim(proof.claim.name, record, changed, is_new)


def _prove_in_processes(
    file: ClaimsFile,
    proofs: Sequence[ProofFolder],
    jobs: int,
    tell: Callable[[ProofFolder], None],
    *,
    force: bool,
) -> None:
    """Let a process of its own prove each claim; where one fails, or the work is ended, all end."""
    running: list[subprocess.Popen[str]] = []
    pool = ThreadPoolExecutor(jobs)
    try:
        futures = {pool.submit(_prove_apart, file, proof, running, force=force): proof for proof in proofs}
        for future in as_completed(futures):
            future.result()
            tell(futures[future])
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in running:
            process.send_signal(signal.SIGINT)  # it takes away what it had begun to write
        pool.shutdown()


def _prove_apart(
    file: ClaimsFile, proof: ProofFolder, running: list[subprocess.Popen[str]], *, force: bool
) -> None:
    words = ["claims", "prove", str(file.path), "--out", str(proof.folder.parent), "--only", proof.claim.name]
    options = [*_models_given(file), *(["--force"] if force else [])]
    command = [sys.executable, "-P", "-m", "circuitproof", *words, *options]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=pipe, text=True) as process:  # noqa: S603  # this program
        running.append(process)
        _, said = process.communicate()
        running.remove(process)
    if process.returncode not in (ExitCode.GOOD, ExitCode.REFUTED):
        reason = said.strip().removeprefix("circuitproof: ") or f"exit code {process.returncode}"
        raise InputError(reason if proof.claim.name in reason else f"claim {proof.claim.name!r}: {reason}")


def _models_given(file: ClaimsFile) -> list[str]:
    """Return the options by which a command is told of the same models."""
    placed = [word for name, path in file.given.items() for word in ("--where", f"{name}={path}")]
    if file.other is None:
        return placed
    name = file.other.instead_of
    return [*placed, "--model", str(file.other.path), *([] if name is None else ["--instead-of", name])]
