"""Writing a bundle: everything a stranger needs to check the answers, and nothing else."""

from collections.abc import Mapping
from pathlib import Path
from typing import assert_never

from circuitproof.bundle.files import answer_to_json, bundle_of
from circuitproof.bundle.patterned import write_symbolic_bundle
from circuitproof.bundle.tensors import extracts
from circuitproof.prove.battery import Battery
from circuitproof.prove.evidence import evidence_to_json, fold_order
from circuitproof.prove.patterns.battery import SymbolicBattery
from circuitproof.text.sealed import write_sealed


def write_bundle(path: Path, battery: Battery | SymbolicBattery) -> None:
    """Write a new bundle directory, of listed prompts or of a pattern; it appears whole or not at all."""
    match battery:
        case Battery():
            write_sealed(path, bundle_files(battery))
        case SymbolicBattery():
            write_symbolic_bundle(path, battery)
        case _:
            assert_never(battery)


def bundle_files(battery: Battery) -> Mapping[str, bytes]:
    """Return the files of a bundle with only the folds that evidence refers to, in order of appearance."""
    order = fold_order(answer.evidence for answer in battery.answers)
    numbers = {old: new for new, old in enumerate(order)}
    folds = [battery.folded.folds[old].logits for old in order]
    answers = [
        answer_to_json(answer, evidence_to_json(answer.evidence, numbers)) for answer in battery.answers
    ]
    claim = battery.claim
    return bundle_of(claim, claim.task.domain, extracts(claim), folds, answers)
