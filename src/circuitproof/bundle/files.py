"""The files of a bundle and what those about lists and about patterns have in common."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from circuitproof.bundle.tensors import Extract, safetensors_bytes
from circuitproof.declare.tasks.domain import Domain
from circuitproof.forward.declaration import programs_to_json
from circuitproof.prove.claim import Claim
from circuitproof.prove.patterns.battery import SymbolicAnswer
from circuitproof.prove.patterns.claim import SymbolicClaim
from circuitproof.prove.properties import property_to_json
from circuitproof.prove.verdict import Answer
from circuitproof.text.canonical import Json, canonical_json, digest_bytes, readable_json
from circuitproof.text.reading import write_rational

CLAIM = "claim.json"
DOMAIN = "domain.json"
WEIGHTS = "weights.safetensors"
CERTIFICATE = "certificate.json"
CLAIM_FORMAT = "circuitproof claim 2"
CERTIFICATE_FORMAT = "circuitproof certificate 2"

Folds = Sequence[tuple[Fraction, ...]]


def bundle_of(
    claim: Claim | SymbolicClaim, domain: Domain, chosen: Sequence[Extract], folds: Folds, answers: list[Json]
) -> Mapping[str, bytes]:
    """Return the files of a bundle, without the manifest; `domain` are the prompts that it lists."""
    listed = canonical_json(_domain_to_json(claim, domain))
    stated = readable_json(_claim_to_json(claim, listed, len(domain), chosen))
    certificate: Json = {
        "format": CERTIFICATE_FORMAT,
        "claim": str(digest_bytes(stated)),
        "folds": [[write_rational(logit) for logit in fold] for fold in folds],
        "answers": answers,
    }
    return {
        CLAIM: stated,
        DOMAIN: listed,
        WEIGHTS: safetensors_bytes(claim.frozen.file, chosen),
        CERTIFICATE: canonical_json(certificate),
    }


def answer_to_json(answer: Answer | SymbolicAnswer, evidence: Json) -> Json:
    """Return an answer as it stands in a certificate."""
    return {
        "property": property_to_json(answer.prop),
        "verdict": str(answer.verdict),
        "evidence": evidence,
        "remarks": [str(remark) for remark in answer.remarks],
    }


def _domain_to_json(claim: Claim | SymbolicClaim, domain: Domain) -> Json:
    pattern = {"pattern": claim.task.pattern.to_json()} if isinstance(claim, SymbolicClaim) else {}
    return {**pattern, **domain.to_json()}


def _claim_to_json(
    claim: Claim | SymbolicClaim, domain: bytes, prompts: int, chosen: Sequence[Extract]
) -> Json:
    frozen = claim.frozen
    return {
        "format": CLAIM_FORMAT,
        "architecture": frozen.architecture.to_json(),
        "programs": programs_to_json(frozen.programs),
        "circuit": claim.circuit.to_json(),
        "task": claim.task.in_claim(),
        "domain": {"digest": str(digest_bytes(domain)), "prompts": prompts},
        "weights": {extract.name: extract.to_json(frozen.file) for extract in chosen},
        "properties": [property_to_json(prop) for prop in claim.properties],
    }
