"""The record of a declared domain: which prompts it has, and which of the gates' it has not."""

from collections.abc import Mapping
from dataclasses import dataclass

from circuitproof.files.canonical import Digest
from circuitproof.files.codec import PositiveInt

DOMAIN, PROMPTS = "declared.json", "declared.prompts.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredDomain:
    """On which prompts a task is constructed and proved: all generations' that the model does not miss."""

    task: str
    prompts: PositiveInt
    development: int
    """How many were development data before any gate was opened."""
    gates: int
    """How many were dealt as gates, opened or not."""
    apart: tuple[int, ...]
    """The places of the gates' prompts, one gate behind the other, that the model itself decides wrong."""
    filled: int
    """How many of the pool, in no gate, stand in the place of those."""
    classes: Mapping[str, PositiveInt]
    """How many classes each relation has: the opener's type, which is claimed, and the opener's token."""
    manifest: Digest
    """Of the list of its prompts beside this record."""
