"""Is a bundle about the models that it is said to be about?"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .architecture import Architecture, read_architecture, tensor_shapes
from .claim import Claim, Lines, Property, read_programs
from .identity import check_table
from .programs import Program
from .reading import (
    DIGESTED,
    Sealed,
    UnreadableError,
    items,
    mapping,
    named,
    open_sealed,
    parse_json,
    require,
)
from .tensors import DigestedTensor, Slice, Tensor, stored_size, stream_safetensors
from .work import NUMBER, paid, spend

DECLARATION, WEIGHTS = "model.json", "weights.safetensors"


@dataclass(frozen=True, slots=True)
class ModelDirectory:
    """A model directory: what it declares, and its files, of which the tensors are not read yet."""

    sealed: Sealed
    architecture: Architecture
    lines: Lines
    programs: Mapping[tuple[int, int], Program]
    alphabet: object

    @property
    def where(self) -> str:
        return named(self.sealed.directory)

    @property
    def digesting(self) -> int:
        """Return the operations to digest all tensors, each by itself and all as one file."""
        return self.sealed.size(WEIGHTS) >> (DIGESTED - 1)

    def tensors(self, slices: Mapping[str, Slice]) -> dict[str, DigestedTensor]:
        """Read the tensors one after the other, and keep the rows that a claim lists."""
        shapes = tensor_shapes(self.architecture, self.lines)
        most = stored_size({name: Slice(shape, None, "") for name, shape in shapes.items()})
        with self.sealed.streamed(WEIGHTS, most) as file:
            return stream_safetensors(file, slices, named(self.sealed.directory / WEIGHTS))


def open_model(directory: Path) -> ModelDirectory:
    """Read what a model directory declares."""
    sealed = open_sealed(directory)
    if missing := sorted({DECLARATION, WEIGHTS} - sealed.digests.keys()):
        raise UnreadableError(f"{named(directory)} is not a model directory: it has no {missing[0]}")
    for name in sealed.digests.keys() - {DECLARATION, WEIGHTS}:
        sealed.check(name)
    where = named(directory / DECLARATION)
    declared = mapping(parse_json(sealed.read(DECLARATION), where), where)
    size = read_architecture(declared.get("architecture"), where)
    lines, programs = read_programs(declared.get("programs", {}), where, size)
    return ModelDirectory(sealed, size, lines, programs, declared.get("alphabet"))


def check_declared(model: ModelDirectory, claim: Claim, alphabet: list[object] | None = None) -> bool:
    """Demand that the claim, and a task's alphabet, are as a model declares itself.

    Return whether it tells the names of tokens.
    """
    require("architecture_is_of_the_model", claim.architecture == model.architecture, model.where)
    require("programs_are_of_the_model", claim.programs == model.programs, model.where)
    names = None if model.alphabet is None else dict(enumerate(items(model.alphabet, model.where)))
    are_known = names is None or all(names.get(token) == name for token, name in claim.task.names.items())
    require("names_are_of_the_model", are_known, model.where)
    is_same = None in (alphabet, model.alphabet) or alphabet == model.alphabet
    require("declared_alphabet_is_of_the_model", is_same, model.where)
    return names is not None


def check_tensors(model: ModelDirectory, claim: Claim) -> dict[str, Tensor]:
    """Demand that each tensor that a claim lists has the digest of the model's.

    Return the model's: of each the rows that the claim lists; whole ones only where the bundle holds none,
    because the digest says of others already what they are.
    """
    spend(NUMBER * len(claim.slices))
    wanted = {n: part for n, part in claim.slices.items() if claim.is_detached or part.rows is not None}
    full = model.tensors(wanted)
    for name, part in claim.slices.items():
        where = f"{model.where}: tensor {name}"
        has_shape = name in full and full[name].shape == part.shape
        require("shapes_are_of_the_model", has_shape, where, part.shape)
        require("digests_are_of_the_model", full[name].digest == part.digest, where)
    for claimed in _identities(claim):
        shapes = tensor_shapes(claim.architecture, claim.lines)
        check_table(dict(claimed.artifact), full, shapes, "artifact")
    return {name: full[name].kept for name in wanted}


def check_rows(claim: Claim, tensors: Mapping[str, Tensor], of_model: Mapping[str, Tensor]) -> None:
    """Demand that the rows of a bundle are the model's."""
    for name, kept in of_model.items():
        for place, row in enumerate(paid(claim.slices[name].rows or ())):
            is_same = tensors[name].row(place) == kept.row(place)
            require("rows_are_of_the_model", is_same, f"tensor {name}", row)


def check_base(model: ModelDirectory, claim: Claim) -> None:
    """Demand that the base of a lesion identity is a model directory."""
    claimed = _identities(claim)
    require("a_base_is_claimed", claimed, "base", model.sealed.directory)
    require("base_is_of_the_architecture", claimed[0].architecture == model.architecture, model.where)
    require("base_has_the_programs", claimed[0].lines == model.lines, model.where)
    shapes = tensor_shapes(model.architecture, model.lines)
    check_table(dict(claimed[0].base), model.tensors({}), shapes, "base")


def _identities(claim: Claim) -> list[Property]:
    return [entry for entry in claim.properties if entry.kind == "lesion identity"]
