"""Records of variants: what was measured of each with every seed, and how far they are from the first."""

from collections.abc import Mapping
from dataclasses import dataclass

from circuitproof.files.canonical import Digest
from circuitproof.files.codec import Positive, PositiveInt

COMPARISON = "comparison.json"
LOSS = "loss"
"""The measure by which models without norms are judged."""


@dataclass(frozen=True, slots=True)
class Reported:
    """What somebody else measured of such a model: the loss, and the perplexity on a second corpus."""

    loss: Positive
    perplexity: Positive


@dataclass(frozen=True, slots=True)
class MeasuredModel:
    """One trained model on all that is held out: what it was measured on, and what was found."""

    seed: int
    parameters: PositiveInt
    corpus: Digest | None
    """Of the corpus with its tokenizer; tasks are named in the recipe."""
    measures: Mapping[str, float]


def measures_file(name: str, seed: int) -> str:
    """Return where in a run the measures of a variant are kept, apart from all weights."""
    return f"measured/{name}/seed-{seed}.json"


@dataclass(frozen=True, slots=True)
class SeedSpread:
    """A measure over seeds."""

    mean: float
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class VariantRow:
    """One variant: each seed of it, and how far it is from the first variant of the same seed."""

    name: str
    runs: tuple[MeasuredModel, ...]
    measures: Mapping[str, SeedSpread]
    changes: Mapping[str, SeedSpread]
    paper: Reported | None
    paper_changes: Mapping[str, float]
    """What the paper's loss and perplexity are above those of its own baseline; empty where it has none."""


@dataclass(frozen=True, slots=True)
class AboveVariant:
    """How much larger the loss is than that of another variant of the same seed."""

    name: str
    loss: SeedSpread


@dataclass(frozen=True, slots=True)
class NormGate:
    """The model without norms beside the one it came from, and the one that it must be better than."""

    name: str
    source: AboveVariant
    control: AboveVariant | None
    """The source with its norms kept, trained on for as many steps."""
    gate: AboveVariant

    @property
    def passes(self) -> bool:
        """Say whether it is better than the variant at the gate with every seed."""
        return self.gate.loss.most < 0


@dataclass(frozen=True, slots=True)
class UnfinishedSeed:
    """A seed with which some variants were measured and these were not; it is not compared yet."""

    seed: int
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VariantComparison:
    """All variants of a recipe, over the seeds with which all of them were measured."""

    rows: tuple[VariantRow, ...]
    """None as long as no seed is finished."""
    gate: NormGate | None
    unfinished: tuple[UnfinishedSeed, ...]
