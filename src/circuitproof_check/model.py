"""Is a bundle about the models that it is said to be about?"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .architecture import Architecture, read_architecture, tensor_shapes
from .claim import Claim, Lines, read_programs
from .identity import check_table
from .programs import Program
from .reading import UnreadableError, items, mapping, named, open_sealed, parse_json, require, sha256
from .tensors import Slice, Tensor, read_safetensors, stored_size

DECLARATION, WEIGHTS = "model.json", "weights.safetensors"


@dataclass(frozen=True, slots=True)
class _Model:
    """What a model directory holds."""

    architecture: Architecture
    lines: Lines
    programs: Mapping[tuple[int, int], Program]
    alphabet: object
    tensors: Mapping[str, Tensor]


def _read_model(directory: Path) -> _Model:
    sealed = open_sealed(directory)
    if missing := sorted({DECLARATION, WEIGHTS} - sealed.digests.keys()):
        raise UnreadableError(f"{named(directory)} is not a model directory: it has no {missing[0]}")
    for name in sealed.digests.keys() - {DECLARATION, WEIGHTS}:
        sealed.check(name)
    where = named(directory / DECLARATION)
    declared = mapping(parse_json(sealed.read(DECLARATION), where), where)
    size = read_architecture(declared.get("architecture"), where)
    lines, programs = read_programs(declared.get("programs", {}), where, size)
    shapes = tensor_shapes(size, lines)
    most = stored_size({name: Slice(shape, None, "") for name, shape in shapes.items()})
    tensors = read_safetensors(sealed.read(WEIGHTS, most), named(directory / WEIGHTS))
    return _Model(size, lines, programs, declared.get("alphabet"), tensors)


def check_against(
    directory: Path, claim: Claim, tensors: Mapping[str, Tensor], alphabet: list[object] | None = None
) -> bool:
    """Demand that all of the claim that a model directory tells is as there, and a task's alphabet too.

    Return whether it tells the names of tokens.
    """
    model, where = _read_model(directory), named(directory)
    require("architecture_is_of_the_model", claim.architecture == model.architecture, where)
    require("programs_are_of_the_model", claim.programs == model.programs, where)
    names = None if model.alphabet is None else dict(enumerate(items(model.alphabet, where)))
    are_known = names is None or all(names.get(token) == name for token, name in claim.task.names.items())
    require("names_are_of_the_model", are_known, where)
    is_same = None in (alphabet, model.alphabet) or alphabet == model.alphabet
    require("declared_alphabet_is_of_the_model", is_same, where)
    full = model.tensors
    for name, part in claim.slices.items():
        where = f"{named(directory)}: tensor {name}"
        has_shape = name in full and full[name].shape == part.shape
        require("shapes_are_of_the_model", has_shape, where, part.shape)
        require("digests_are_of_the_model", sha256(full[name].content) == part.digest, where)
        for place, row in enumerate(part.rows or ()):
            require("rows_are_of_the_model", tensors[name].row(place) == full[name].row(row), where, row)
    for claimed in claim.properties:
        if claimed.kind == "lesion identity":
            shapes = tensor_shapes(claim.architecture, claim.lines)
            check_table(dict(claimed.artifact), full, shapes, "artifact")
    return names is not None


def check_base(directory: Path, claim: Claim) -> None:
    """Demand that the base of a lesion identity is a model directory."""
    claimed = [entry for entry in claim.properties if entry.kind == "lesion identity"]
    require("a_base_is_claimed", claimed, "base", directory)
    model = _read_model(directory)
    require("base_is_of_the_architecture", claimed[0].architecture == model.architecture, named(directory))
    require("base_has_the_programs", claimed[0].lines == model.lines, named(directory))
    shapes = tensor_shapes(model.architecture, model.lines)
    check_table(dict(claimed[0].base), model.tensors, shapes, "base")
