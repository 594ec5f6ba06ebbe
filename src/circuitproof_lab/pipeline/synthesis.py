"""Synthesis for a head of a stored model: from files to a program, or to a certificate that there is none."""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from circuitproof.circuits.spelling import load_circuit, parse_head
from circuitproof.errors import InputError, UsageError, asked_for, keeping
from circuitproof.files.canonical import (
    Digest,
    Json,
    canonical_json,
    digest_bytes,
    readable_json,
    refuse_existing,
    write_files,
)
from circuitproof.files.devices import CPU, Device
from circuitproof.nn.checkpoint import load_model
from circuitproof.programs.atoms import Brackets
from circuitproof.programs.text import to_text
from circuitproof.proof.effort import UNHURRIED, Pace
from circuitproof.proof.verdict import Verdict
from circuitproof_lab.distill.choices import Scope
from circuitproof_lab.distill.synthesis import Bounds, Realised, Synthesis, Unfinished
from circuitproof_lab.distill.synthesise import synthesise as search
from circuitproof_lab.distill.unrealisable import Unrealisable

_PAIR = re.compile(r"([0-9]{1,9}):([0-9]{1,9})")


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisRequest:
    """What a user asks a program for."""

    model: Path
    tasks: tuple[str, ...]
    head: str
    """Layer and index, such as `1.0`."""
    circuits: tuple[Path, ...]
    """A circuit file for each task in order, or none at all."""
    bounds: Bounds
    device: Device = CPU


@dataclass(frozen=True, slots=True)
class SynthesisReport:
    """What was found, from which tasks, and how long it took."""

    synthesis: Synthesis
    tasks: tuple[tuple[str, Digest], ...]
    certificate: Digest | None
    """The digest of the certificate's file, if the language is unrealisable."""
    seconds: float

    @property
    def verdict(self) -> Verdict:
        """Return proved for a program, refuted for a certificate, undecided for a search that met a bound."""
        match self.synthesis.outcome:
            case Realised():
                return Verdict.PROVED
            case Unrealisable():
                return Verdict.REFUTED
            case Unfinished():
                return Verdict.UNDECIDED
            case _:
                assert_never(self.synthesis.outcome)

    def to_json(self) -> Json:
        return {
            **self.synthesis.to_json(),
            "tasks": {name: str(digest) for name, digest in self.tasks},
            "certificate_digest": None if self.certificate is None else str(self.certificate),
            "seconds": round(self.seconds, 3),
        }


def synthesise(request: SynthesisRequest, out: Path, pace: Pace = UNHURRIED) -> SynthesisReport:
    """Search, and write the program to `out` or a certificate beside it, and a report in any case."""
    refuse_existing(out, certificate_path(out), report_path(out))
    if request.circuits and len(request.circuits) != len(request.tasks):
        raise UsageError(
            f"{len(request.circuits)} circuits for {len(request.tasks)} tasks; give one for each, or none"
        )
    stored = load_model(request.model, request.device)
    tasks = [stored.declaration.listed_task(task) for task in request.tasks]
    for task in tasks:
        task.refuse_elsewhere()
    names = [task.name for task in tasks]
    circuits = dict(zip(names, map(load_circuit, request.circuits), strict=False))
    with asked_for():
        head = parse_head(request.head, stored.model.graph, "--head")
    _refuse_unknown_brackets(request.bounds, stored.model.architecture.vocabulary)
    is_used = any(head in circuit.live().nodes() for circuit in circuits.values())
    if request.bounds.scope is Scope.CIRCUIT and circuits and not is_used:
        raise InputError(f"no circuit uses {head}, so that any program or none would do; give --scope model")
    start = time.perf_counter()
    found = search(stored.model, tasks, head, circuits, request.bounds, pace=pace)
    seconds = time.perf_counter() - start
    files = _files(found, out)
    certificate = files.get(certificate_path(out))
    digest = None if certificate is None else digest_bytes(certificate)
    report = SynthesisReport(found, tuple((task.name, task.digest) for task in tasks), digest, seconds)
    with keeping(report):
        write_files({report_path(out): readable_json(report.to_json()), **files})
    return report


def _refuse_unknown_brackets(bounds: Bounds, vocabulary: int) -> None:
    for pair in (pair for brackets in bounds.grammar.brackets for pair in brackets.pairs):
        if max(pair) >= vocabulary:
            raise UsageError(
                f"--pair {pair[0]}:{pair[1]} names token {max(pair)}, the model has 0 to {vocabulary - 1}"
            )


def parse_brackets(pairs: Sequence[str]) -> tuple[Brackets, ...]:
    """Return the brackets that texts such as `11:13` declare together, none if there are none."""
    found: list[tuple[int, int]] = []
    for text in pairs:
        match = _PAIR.fullmatch(text)
        if match is None:
            raise UsageError(
                f"--pair is {text!r}, want the tokens of an opener and its closer, such as 11:13"
            )
        found.append((int(match[1]), int(match[2])))
    with asked_for():
        return (Brackets(tuple(sorted(set(found)))),) if found else ()


def certificate_path(out: Path) -> Path:
    """Return where a certificate stands when there is no program to write to `out`.

    >>> str(certificate_path(Path("program.txt")))
    'program.unrealisable.json'
    """
    return out.with_suffix(".unrealisable.json")


def report_path(out: Path) -> Path:
    """Return where the report on the program in `out` stands.

    >>> str(report_path(Path("program.txt")))
    'program.report.json'
    """
    return out.with_suffix(".report.json")


def _files(found: Synthesis, out: Path) -> dict[Path, bytes]:
    """Return the program, or the certificate that there is none, and where it is to stand."""
    match found.outcome:
        case Realised(program):
            return {out: to_text(program).encode()}
        case Unrealisable():
            return {certificate_path(out): canonical_json(found.outcome.to_json())}
        case Unfinished():
            return {}
        case _:
            assert_never(found.outcome)
