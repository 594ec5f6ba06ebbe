"""Is a bundle about the model that it is said to be about?"""

from collections.abc import Mapping
from pathlib import Path

from .architecture import read_architecture
from .claim import Claim, read_programs
from .identity import check_table
from .reading import UnreadableError, mapping, parse_json, read_sealed, require, sha256
from .tensors import Tensor, read_safetensors

DECLARATION, WEIGHTS = "model.json", "weights.safetensors"


def check_against(directory: Path, claim: Claim, tensors: Mapping[str, Tensor]) -> None:
    """Demand that architecture, programs and tensors of the claim are those of a model directory."""
    files = read_sealed(directory)
    if missing := sorted({DECLARATION, WEIGHTS} - files.keys()):
        raise UnreadableError(f"{directory} is not a model directory: it has no {missing[0]}")
    declared = mapping(parse_json(files[DECLARATION], DECLARATION), DECLARATION)
    same_size = claim.architecture == read_architecture(declared.get("architecture"), DECLARATION)
    require("architecture_is_of_the_model", same_size, DECLARATION)
    same_programs = claim.lines == read_programs(declared.get("programs", {}), DECLARATION)
    require("programs_are_of_the_model", same_programs, DECLARATION)
    full = read_safetensors(files[WEIGHTS], f"{directory / WEIGHTS}")
    for name, part in claim.slices.items():
        where, has_shape = f"tensor {name}", name in full and full[name].shape == part.shape
        require("shapes_are_of_the_model", has_shape, where, part.shape)
        require("digests_are_of_the_model", sha256(full[name].content) == part.digest, where)
        for place, row in enumerate(part.rows or ()):
            require("rows_are_of_the_model", tensors[name].row(place) == full[name].row(row), where, row)
    for claimed in claim.properties:
        if claimed.kind == "lesion identity":
            check_table(dict(claimed.artifact), full, "artifact")


def check_base(directory: Path, claim: Claim) -> None:
    """Demand that the base of a lesion identity is a model directory."""
    claimed = [entry for entry in claim.properties if entry.kind == "lesion identity"]
    require("a_base_is_claimed", claimed, "base", directory)
    files = read_sealed(directory)
    if missing := sorted({DECLARATION, WEIGHTS} - files.keys()):
        raise UnreadableError(f"{directory} is not a model directory: it has no {missing[0]}")
    check_table(dict(claimed[0].base), read_safetensors(files[WEIGHTS], f"{directory / WEIGHTS}"), "base")
