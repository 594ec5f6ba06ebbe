"""What is kept of a proof: the verdict on each property, and how it compares with what was not proved."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from circuitproof.files.codec import Positive, PositiveInt
from circuitproof.proof.verdict import Verdict

PROOF, MEASURES, WITNESSES = "proof.json", "measures.json", ".witnesses.json"
"""Files of a proof, and what is added to the name of a circuit's for its witnesses."""


@dataclass(frozen=True, slots=True)
class KeptVerdicts:
    """The verdict on each property, by its kind."""

    verdicts: Mapping[str, Verdict]


@dataclass(frozen=True, slots=True)
class NeededEdge:
    """An edge of a proved circuit, and all prompts that need it."""

    edge: str
    flips: tuple[int, ...]
    """The places of prompts whose clear decision is another clear one without the edge."""
    ties: tuple[int, ...]
    """The places of those that tie without it."""


@dataclass(frozen=True, slots=True)
class NecessityWitnesses:
    """Every known witness of every edge's necessity; the bundle keeps one of each."""

    task: str
    prompts: PositiveInt
    edges: tuple[NeededEdge, ...]


@dataclass(frozen=True, slots=True)
class TokenRelation:
    """Invariance by the opener's token, beside the relation that is claimed."""

    classes: PositiveInt
    alike: int
    """Classes whose prompts are all known to be decided alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofMeasures:
    """How answers compare with floats, and on how many prompts they were computed a second way."""

    forward_seconds: Positive
    """One float forward of the same circuit over the same prompts in torch."""
    float_error: float
    """From exact logits, or from the midpoints of enclosed ones."""
    anchors: PositiveInt
    """On how many prompts an evaluation that shares nothing gave the same logits, to the last bit."""
    signs: int
    """How many branches of the activation those evaluations traced."""
    by_token: TokenRelation | None
    """Nothing where a task has no openers."""
    bits: PositiveInt | None = None
    """With how many logits are enclosed; nothing where they are exact."""
    unclaimed: Mapping[str, str] = field(default_factory=dict[str, str])
    """Which of the four properties are not claimed, and why they cannot be."""
