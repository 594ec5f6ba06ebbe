"""Writing a bundle about a pattern: the same five files; the prompts are those that the evidence shows."""

from collections.abc import Mapping
from pathlib import Path

from circuitproof.canonical import Json, canonical_json, digest_bytes, readable_json
from circuitproof.certificate.bundle import CERTIFICATE, CLAIM, DOMAIN, WEIGHTS
from circuitproof.certificate.tensors import Extract, chosen_extracts, safetensors_bytes
from circuitproof.reading import write_rational
from circuitproof.sealed import write_sealed
from circuitproof.semantics.declaration import programs_to_json
from circuitproof.tasks.domain import Prompt
from circuitproof.verify.properties import property_to_json
from circuitproof.verify.symbolic.battery import SymbolicBattery
from circuitproof.verify.symbolic.claim import SymbolicClaim
from circuitproof.verify.symbolic.evidence import Ledger


def write_symbolic_bundle(path: Path, battery: SymbolicBattery) -> None:
    """Write a new bundle directory; it appears whole or not at all."""
    write_sealed(path, symbolic_bundle_files(battery))


def symbolic_bundle_files(battery: SymbolicBattery) -> Mapping[str, bytes]:
    """Return the files of a bundle, without the manifest."""
    ledger = Ledger()
    answers: list[Json] = [
        {
            "property": property_to_json(answer.prop),
            "verdict": str(answer.verdict),
            "evidence": ledger.evidence_to_json(answer.evidence),
        }
        for answer in battery.answers
    ]
    prompts = tuple(ledger.prompts) or battery.claim.task.machine.sample(1, seed=0)
    chosen = _extracts(battery, prompts)
    domain = canonical_json(_domain_to_json(battery.claim, prompts))
    claim = readable_json(_claim_to_json(battery.claim, domain, prompts, chosen))
    certificate: Json = {
        "format": "circuitproof certificate 1",
        "claim": str(digest_bytes(claim)),
        "folds": [[write_rational(logit) for logit in fold] for fold in ledger.folds],
        "answers": answers,
    }
    return {
        CLAIM: claim,
        DOMAIN: domain,
        WEIGHTS: safetensors_bytes(battery.claim.frozen.file, chosen),
        CERTIFICATE: canonical_json(certificate),
    }


def _domain_to_json(claim: SymbolicClaim, prompts: tuple[Prompt, ...]) -> Json:
    return {
        "pattern": claim.task.pattern.to_json(),
        "prompts": [list(prompt) for prompt in prompts],
        "strata": [str(claim.task.label_of(prompt).group) for prompt in prompts],
    }


def _claim_to_json(
    claim: SymbolicClaim, domain: bytes, prompts: tuple[Prompt, ...], chosen: tuple[Extract, ...]
) -> Json:
    frozen = claim.frozen
    return {
        "format": "circuitproof claim 1",
        "architecture": frozen.architecture.to_json(),
        "programs": programs_to_json(frozen.programs),
        "circuit": claim.circuit.to_json(),
        "task": claim.task.to_json(),
        "domain": {"digest": str(digest_bytes(domain)), "prompts": len(prompts)},
        "weights": {extract.name: extract.to_json(frozen.file) for extract in chosen},
        "properties": [property_to_json(prop) for prop in claim.properties],
    }


def _extracts(battery: SymbolicBattery, prompts: tuple[Prompt, ...]) -> tuple[Extract, ...]:
    """Return what a checker must read: of the embeddings only the tokens that the evidence speaks of."""
    claim = battery.claim
    candidates = tuple(sorted(claim.task.candidates))
    tied = set(candidates) if claim.frozen.architecture.tied else set[int]()
    tokens = battery.tokens | tied | {token for prompt in prompts for token in prompt}
    partial = {
        "embed.token": tuple(sorted(tokens)),
        "embed.position": tuple(range(claim.task.pattern.longest)),
        "logits.weight": candidates,
        "logits.bias": candidates,
    }
    circuits = (claim.circuit, *claim.circuit.lesions())
    found = chosen_extracts(claim.frozen.file, circuits, partial)
    return tuple(sorted(found, key=lambda extract: extract.name))
