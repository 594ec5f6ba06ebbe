"""The lesion identity: without its program heads, the model is the base it was built on.

A forward in which nothing reads the program heads reads none of their tensors. If all others have the digests
that they have in the base, the lesioned model is the lesioned base.
"""

from collections.abc import Mapping

from .architecture import tensor_shapes
from .case import Case, split
from .claim import Claim, Property
from .reading import fields, require, sha256, text
from .tensors import Tensor


def frozen_names(claim: Claim) -> list[str]:
    """Return the tensors that are read when every program head is silenced, in order of names."""
    readouts = tuple(f"head.{layer}.{index}." for layer, index in claim.lines)
    names = tensor_shapes(claim.architecture, claim.lines)
    return sorted(name for name in names if not name.startswith(readouts))


def proved(case: Case, evidence: object, claimed: Property) -> None:
    """Demand that every tensor outside the readouts is the same before and after."""
    where, names = claimed.kind, frozen_names(case.claim)
    _check_tables(case.claim, claimed)
    before, after = dict(claimed.base), dict(claimed.artifact)
    for name, leaf in zip(names, split(evidence, "tensor", len(names), where), strict=True):
        same = text(fields(leaf, where, "same")[0], where)
        is_same = same == before.get(name) == after[name]
        require("frozen_tensors_are_the_same", is_same, f"{where}, tensor {name}", same)


def refuted(case: Case, evidence: object, claimed: Property) -> None:
    """Demand that the tensor named is outside the readouts and not what it was."""
    where, name = claimed.kind, text(fields(evidence, claimed.kind, "tensor")[0], claimed.kind)
    _check_tables(case.claim, claimed)
    require("tensor_is_frozen", name in frozen_names(case.claim), where, name)
    is_other = dict(claimed.base).get(name) != dict(claimed.artifact)[name]
    require("tensor_is_not_the_same", is_other, where, name)


def _check_tables(claim: Claim, claimed: Property) -> None:
    """Demand that the table of the artifact lists its tensors, with the digests that the claim has."""
    where, table = claimed.kind, dict(claimed.artifact)
    wanted = tensor_shapes(claim.architecture, claim.lines).keys()
    require("artifact_lists_its_tensors", table.keys() == wanted, where, sorted(table.keys() ^ wanted))
    for name, part in claim.slices.items():
        require("artifact_has_the_claimed_digests", table[name] == part.digest, f"{where}, tensor {name}")


def check_table(table: Mapping[str, str], full: Mapping[str, Tensor], where: str) -> None:
    """Demand that a table holds the digests of a model's tensors."""
    require("tables_list_the_model", table.keys() == full.keys(), where, sorted(table.keys() ^ full.keys()))
    for name, digest in table.items():
        require("tables_are_of_the_model", sha256(full[name].content) == digest, f"{where}, tensor {name}")
