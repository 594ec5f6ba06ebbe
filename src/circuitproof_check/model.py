"""Is a bundle about the model that it is said to be about?"""

from collections.abc import Mapping
from pathlib import Path

from circuitproof_check.architecture import Architecture, read_architecture
from circuitproof_check.claim import Claim, Lines, read_programs
from circuitproof_check.files import WEIGHTS, read_sealed, sha256
from circuitproof_check.reading import ForgedError, UnreadableError, mapping, parse_json, show
from circuitproof_check.tensors import Slice, Tensor, read_safetensors

DECLARATION = "model.json"


def check_against(directory: Path, claim: Claim, tensors: Mapping[str, Tensor]) -> None:
    """Demand that architecture, programs and tensors of the claim are those of a model directory."""
    files = read_sealed(directory)
    if missing := sorted({DECLARATION, WEIGHTS} - files.keys()):
        raise UnreadableError(f"{directory} is not a model directory: it has no {missing[0]}")
    declared = mapping(parse_json(files[DECLARATION], DECLARATION), DECLARATION)
    rule_architecture_is_the_model_s(claim, read_architecture(declared.get("architecture"), DECLARATION))
    rule_programs_are_the_model_s(claim, read_programs(declared.get("programs", {}), DECLARATION))
    full = read_safetensors(files[WEIGHTS], f"{directory / WEIGHTS}")
    for name, part in claim.slices.items():
        if name not in full or full[name].shape != part.shape:
            raise ForgedError(f"the model has no tensor {name} of shape {part.shape}")
        rule_digest_is_the_model_s(name, part, full[name])
        rule_rows_are_the_model_s(name, part, tensors[name], full[name])


def rule_architecture_is_the_model_s(claim: Claim, found: Architecture) -> None:
    """The architecture of the claim is the model's."""
    if claim.architecture != found:
        raise ForgedError("the architecture of the claim is not that of the model")


def rule_programs_are_the_model_s(claim: Claim, found: Lines) -> None:
    """The programs of the claim are the model's."""
    if claim.lines != found:
        raise ForgedError(f"the programs are those of heads {show(list(claim.lines))}, not the model's")


def rule_digest_is_the_model_s(name: str, part: Slice, full: Tensor) -> None:
    """Each tensor's digest is that of the model's tensor."""
    if sha256(full.content) != part.digest:
        raise ForgedError(f"tensor {name} has another digest in the model: {sha256(full.content)}")


def rule_rows_are_the_model_s(name: str, part: Slice, kept: Tensor, full: Tensor) -> None:
    """The rows are those rows of the model's tensor."""
    for place, row in enumerate(part.rows or ()):
        if kept.row(place) != full.row(row):
            raise ForgedError(f"row {row} of tensor {name} is another in the model")
