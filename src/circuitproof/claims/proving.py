"""Proving the claims of a file into a folder: a claim that is finished is skipped, a killed run goes on."""

import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
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
from circuitproof.files.canonical import Json, write_directory
from circuitproof.files.codec import to_json
from circuitproof.files.locked import claimed
from circuitproof.files.records import write_record
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.verdict import Battery
from circuitproof.verbs.floats import FloatMeasures, Unmeasured
from circuitproof.workers import SERIAL, Division, Serial, mapped

Hear: TypeAlias = Callable[[str, int, int], None]
"""Is told which claim was proved last, how many are done, and of how many."""
MeasuresFloats: TypeAlias = Callable[[Battery], FloatMeasures | Unmeasured]
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
    workers: Division = SERIAL,
    force: bool = False,
    measure: MeasuresFloats = unmeasured,
) -> tuple[SettledClaim, ...]:
    """Prove every claim of a file that is not proved in `out` yet; nothing else there is replaced.

    Bad input is refused before anything is proved. Workers prove a claim each at a time.
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

    if isinstance(workers, Serial):
        for proof, claim in asked:
            _prove_here(proof, _asked(proof, claim, measure))
            tell(proof)
    else:
        parts = [(proof, _asked(proof, claim, measure)) for proof, claim in asked]
        _prove_elsewhere(parts, workers, tell)
    new = {proof.claim.name for proof, _ in asked}
    return tuple(_proved(proof, is_new=proof.claim.name in new) for proof in proofs)


@dataclass(frozen=True, slots=True)
class AskedClaim:
    """A claim to be proved, how its bundle is written, and who asks floats about it afterwards."""

    claim: Claim
    is_detached: bool
    measure: MeasuresFloats | None


def _asked(proof: ProofFolder, claim: Claim, measure: MeasuresFloats) -> AskedClaim:
    stated = proof.claim
    return AskedClaim(claim, stated.is_detached, measure if stated.measures_floats else None)


def _prove_here(proof: ProofFolder, asked: AskedClaim) -> None:
    with ExitStack() as held:
        _take(proof, held)
        write_directory(proof.folder, partial(_prove_into, asked))


def _prove_elsewhere(
    asked: Sequence[tuple[ProofFolder, AskedClaim]], workers: Division, tell: Callable[[ProofFolder], None]
) -> None:
    """Let each claim be proved by a worker, and write what it found."""
    parts = [part for _, part in asked]
    with ExitStack() as held:
        for proof, _ in asked:
            _take(proof, held)
        found = mapped(prove_away, None, parts, workers)
        for (proof, _), files in zip(asked, found, strict=True):
            write_directory(proof.folder, partial(_write, files))
            tell(proof)


def _take(proof: ProofFolder, held: ExitStack) -> None:
    """Hold the place of a proof, which appears there whole or not at all; what was there is replaced."""
    if proof.folder.exists():
        shutil.rmtree(proof.folder)
    held.enter_context(claimed(proof.folder))


def _prove_into(asked: AskedClaim, folder: Path) -> None:
    begun = time.perf_counter()
    battery = prove(asked.claim)
    seconds = time.perf_counter() - begun
    floats = None if asked.measure is None else asked.measure(battery)
    write_bundle(folder / BUNDLE, battery, is_detached=asked.is_detached)
    write_record(folder / RECORD, record_of(battery, seconds, floats))


def prove_away(_nothing: None, part: AskedClaim) -> Mapping[str, bytes]:
    """Prove a claim in a worker, whose disk may be another one: return the files of its folder."""
    with tempfile.TemporaryDirectory(prefix="circuitproof-") as name:
        folder = Path(name)
        _prove_into(part, folder)
        files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def _write(files: Mapping[str, bytes], folder: Path) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)


def _proved(proof: ProofFolder, *, is_new: bool) -> SettledClaim:
    record = proof.record()
    changed = changed_words(proof.claim.expected, record.verdicts, record.counts)
    return SettledClaim(proof.claim.name, record, changed, is_new)
