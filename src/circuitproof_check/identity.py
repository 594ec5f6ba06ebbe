"""The lesion identity: with its program heads silenced, the model is its base with these heads silenced.

The base is of the same architecture, and has the tensors of every head that is not a program here. A forward
in which nothing reads the program heads reads none of their tensors. If all others have the digests that they
have in the base, the lesioned model is the lesioned base.
"""

from collections.abc import Mapping

from .architecture import tensor_shapes
from .case import Case, split
from .claim import Claim, Property
from .reading import require, text
from .tensors import DigestedTensor


def frozen_names(claim: Claim) -> list[str]:
    """Return the tensors that are read when every program head is silenced, in order of names."""
    readouts = tuple(f"head.{layer}.{index}." for layer, index in claim.lines)
    names = tensor_shapes(claim.architecture, claim.lines)
    return sorted(name for name in names if not name.startswith(readouts))


def proved(case: Case, evidence: object, claimed: Property) -> None:
    """Demand that every tensor outside the readouts is the same before and after."""
    where, names = claimed.kind, frozen_names(case.claim)
    check_tables(case.claim, claimed)
    before, after = dict(claimed.base), dict(claimed.artifact)
    for name, leaf in zip(names, split(evidence, "tensor", len(names), where), strict=True):
        _, (found,) = case.open(leaf, claimed, where)
        is_same = text(found, where) == before.get(name) == after[name]
        require("frozen_tensors_are_the_same", is_same, f"{where}, tensor {name}", found)


def refuted(case: Case, evidence: object, claimed: Property) -> None:
    """Demand that the tensor named is outside the readouts and not what it was."""
    where = claimed.kind
    name = text(case.open(evidence, claimed, where)[1][0], where)
    check_tables(case.claim, claimed)
    require("tensor_is_frozen", name in frozen_names(case.claim), where, name)
    is_other = dict(claimed.base).get(name) != dict(claimed.artifact)[name]
    require("tensor_is_not_the_same", is_other, where, name)


def check_tables(claim: Claim, claimed: Property) -> None:
    """Demand that the base fits the claim, and that both tables list just the tensors there are."""
    where, table = claimed.kind, dict(claimed.artifact)
    require("base_has_the_architecture", claimed.architecture == claim.architecture, where)
    wanted = tensor_shapes(claim.architecture, claim.lines).keys()
    require("artifact_lists_its_tensors", table.keys() == wanted, where, sorted(table.keys() ^ wanted))
    before = tensor_shapes(claim.architecture, claimed.lines).keys() ^ dict(claimed.base).keys()
    require("base_lists_its_tensors", not before, where, sorted(before))
    for name, part in claim.slices.items():
        require("artifact_has_the_claimed_digests", table[name] == part.digest, f"{where}, tensor {name}")


def check_table(
    table: Mapping[str, str],
    full: Mapping[str, DigestedTensor],
    shapes: Mapping[str, tuple[int, ...]],
    where: str,
) -> None:
    """Demand that a table holds the digests of a model's tensors, and that these have their shapes."""
    strange = (table.keys() ^ full.keys()) | (shapes.keys() ^ full.keys())
    require("tables_list_the_model", not strange, where, sorted(strange))
    for name, digest in table.items():
        place = f"{where}, tensor {name}"
        require("tables_have_the_shapes", full[name].shape == shapes[name], place, full[name].shape)
        require("tables_are_of_the_model", full[name].digest == digest, place)
