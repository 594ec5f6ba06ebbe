"""Writing a bundle: everything a stranger needs to check the answers, and nothing else."""

from collections.abc import Mapping
from pathlib import Path

from circuitproof.canonical import Json, canonical_json, digest_bytes, readable_json
from circuitproof.certificate.tensors import Extract, extracts, safetensors_bytes
from circuitproof.reading import write_rational
from circuitproof.sealed import write_sealed
from circuitproof.semantics.declaration import programs_to_json
from circuitproof.tasks.task import Task
from circuitproof.verify.battery import Battery
from circuitproof.verify.claim import Claim
from circuitproof.verify.evidence import evidence_to_json, fold_order
from circuitproof.verify.properties import property_to_json

CLAIM = "claim.json"
DOMAIN = "domain.json"
WEIGHTS = "weights.safetensors"
CERTIFICATE = "certificate.json"


def write_bundle(path: Path, battery: Battery) -> None:
    """Write a new bundle directory; it appears whole or not at all."""
    write_sealed(path, bundle_files(battery))


def bundle_files(battery: Battery) -> Mapping[str, bytes]:
    """Return the files of a bundle, without the manifest."""
    chosen = extracts(battery.claim)
    domain = canonical_json(battery.claim.task.domain.to_json())
    claim = readable_json(_claim_to_json(battery.claim, domain, chosen))
    return {
        CLAIM: claim,
        DOMAIN: domain,
        WEIGHTS: safetensors_bytes(battery.claim.frozen.file, chosen),
        CERTIFICATE: canonical_json(_certificate_to_json(battery, claim)),
    }


def _claim_to_json(claim: Claim, domain: bytes, chosen: tuple[Extract, ...]) -> Json:
    frozen = claim.frozen
    return {
        "format": "circuitproof claim 1",
        "architecture": frozen.architecture.to_json(),
        "programs": programs_to_json(frozen.programs),
        "circuit": claim.circuit.to_json(),
        "task": _task_to_json(claim.task),
        "domain": {"digest": str(digest_bytes(domain)), "prompts": len(claim.task.domain)},
        "weights": {extract.name: extract.to_json(frozen.file) for extract in chosen},
        "properties": [property_to_json(prop) for prop in claim.properties],
    }


def _task_to_json(task: Task) -> Json:
    declared = task.to_json()
    assert isinstance(declared, dict)  # noqa: S101  # a task's declaration is an object
    occurring = {token for prompt in task.domain.prompts for token in prompt} | set(task.candidates)
    names: dict[str, Json] = {str(token): task.alphabet.names[token] for token in sorted(occurring)}
    kept = {key: declared[key] for key in ("name", "candidates", "answer", "relation")}
    return {**kept, "names": names}


def _certificate_to_json(battery: Battery, claim: bytes) -> Json:
    """Return the answers with only the folds that they refer to, numbered in order of appearance."""
    order = fold_order(answer.evidence for answer in battery.answers)
    numbers = {old: new for new, old in enumerate(order)}
    folds: list[Json] = [
        [write_rational(logit) for logit in battery.folded.folds[old].logits] for old in order
    ]
    answers: list[Json] = [
        {
            "property": property_to_json(answer.prop),
            "verdict": str(answer.verdict),
            "evidence": evidence_to_json(answer.evidence, numbers),
        }
        for answer in battery.answers
    ]
    return {
        "format": "circuitproof certificate 1",
        "claim": str(digest_bytes(claim)),
        "folds": folds,
        "answers": answers,
    }
