"""Writing a bundle: everything that anyone needs to check the answers, and nothing else."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

from circuitproof.bundle.numbered import Numbering
from circuitproof.bundle.tensors import Extract, extracts, safetensors_bytes
from circuitproof.files.canonical import Json, canonical_json, digest_bytes, readable_json
from circuitproof.files.reading import read_fields, write_rational
from circuitproof.files.sealed import write_sealed
from circuitproof.models.declaration import programs_to_json
from circuitproof.proof.arithmetic import precision_to_json
from circuitproof.proof.claim import Claim
from circuitproof.proof.fold import Fold
from circuitproof.proof.verdict import Answer, Battery

CLAIM = "claim.json"
DOMAIN = "domain.json"
WEIGHTS = "weights.safetensors"
CERTIFICATE = "certificate.json"
CLAIM_FORMAT = "circuitproof claim 3"
_DETACHED = "detached"
CERTIFICATE_FORMAT = "circuitproof certificate 3"
_LONG_ROW, _MOST_LONG = 1 << 12, 1 << 22
"""A row of logits of more bytes is long; where long ones are more bytes together, digests stand for them."""


def write_bundle(path: Path, battery: Battery, *, is_detached: bool = False) -> None:
    """Write a new bundle directory; it appears whole or not at all.

    One that is detached names its tensors and holds none.
    """
    write_sealed(path, bundle_files(battery, is_detached=is_detached))


def names_in(bundle: Path) -> frozenset[str]:
    """Return which files a bundle has beside its manifest, by what its claim says."""
    weights = () if is_detached(bundle) else (WEIGHTS,)
    return frozenset({CLAIM, DOMAIN, CERTIFICATE, *weights})


def is_detached(bundle: Path) -> bool:
    """Say whether a bundle names its tensors and holds none."""
    return read_fields(bundle / CLAIM).has(_DETACHED)


def bundle_files(battery: Battery, *, is_detached: bool = False) -> Mapping[str, bytes]:
    """Return the files of a bundle, without the manifest, with only the folds that evidence refers to."""
    claim, chosen = battery.claim, extracts(battery.claim, battery.tokens)
    numbers = Numbering({prompt: place for place, prompt in enumerate(battery.shown.prompts)})
    answers: list[Json] = [_answer_to_json(answer, numbers) for answer in battery.answers]
    listed = canonical_json({**claim.task.domain_to_json(), **battery.shown.to_json()})
    domain: Json = {"digest": str(digest_bytes(listed)), "prompts": len(battery.shown)}
    told: dict[str, Json] = {_DETACHED: True} if is_detached else {}
    stated = readable_json({**claim_to_json(claim, domain, chosen), **told})
    certificate: Json = {
        "format": CERTIFICATE_FORMAT,
        "claim": str(digest_bytes(stated)),
        **precision_to_json(claim.arithmetic),
        "folds": _folds_to_json(numbers.folds),
        "answers": answers,
    }
    files = {CLAIM: stated, DOMAIN: listed, CERTIFICATE: canonical_json(certificate)}
    return files if is_detached else {**files, WEIGHTS: safetensors_bytes(claim.frozen.file, chosen)}


def _folds_to_json(folds: Collection[Fold]) -> list[Json]:
    """Return rows of logits, or the digests of those that are long, where these would take much room.

    Whoever checks computes the rows in any case.
    """
    is_much = any(room > _MOST_LONG for room in accumulate(long_rows(folds)))
    return [_in_short(row) if is_much else row for row in map(_row_to_json, folds)]


def long_rows(folds: Iterable[Fold]) -> Iterator[int]:
    """Return how many bytes each long row takes where it is written out."""
    sizes = (len(canonical_json(_row_to_json(fold))) for fold in folds if _may_be_long(fold))
    return (size for size in sizes if size > _LONG_ROW)


def _may_be_long(fold: Fold) -> bool:
    """Say whether a row may be long: a number of n bits has less than n/3 + 1 digits, and a few signs."""
    numbers, denominator = fold.row.numbers, fold.row.denominator
    bits = max(max(numbers).bit_length(), min(numbers).bit_length()) + denominator.bit_length()
    return len(numbers) * (bits // 3 + 8) > _LONG_ROW


def _row_to_json(fold: Fold) -> list[Json]:
    return [write_rational(logit) for logit in fold.row.fractions()]


def _in_short(row: list[Json]) -> Json:
    spelled = canonical_json(row)
    return str(digest_bytes(spelled)) if len(spelled) > _LONG_ROW else row


def _answer_to_json(answer: Answer, numbers: Numbering) -> Json:
    return {
        "property": answer.prop.to_json(),
        "verdict": str(answer.verdict),
        "evidence": replace(numbers, second=answer.prop.second).evidence(answer.evidence),
        "remarks": [str(remark) for remark in answer.remarks],
    }


def claim_to_json(claim: Claim, domain: Json, chosen: Sequence[Extract]) -> dict[str, Json]:
    """Return what a bundle states of a domain and of the weights that were chosen for it."""
    frozen = claim.frozen
    return {
        "format": CLAIM_FORMAT,
        "arithmetic": claim.arithmetic.kind,
        "architecture": frozen.architecture.to_json(),
        "programs": programs_to_json(frozen.programs),
        "circuit": claim.circuit.in_claim(),
        "task": claim.task.in_claim(),
        "domain": domain,
        "weights": {extract.name: extract.to_json(frozen.file) for extract in chosen},
        "properties": [prop.to_json() for prop in claim.properties],
    }
