"""The choices an extraction makes, as data that can be recorded before anything is computed."""

from enum import StrEnum

from circuitproof.circuits.graph import Granularity


class Objective(StrEnum):
    """What an extracted circuit must keep."""

    MODEL = "model"
    """The decisions of the full model, right or wrong: the circuit is the model's own mechanism."""
    PROGRAM = "program"
    """The right answers P of the task: a task circuit, which the full model need not use."""


class RemovalUnit(StrEnum):
    """What is removed at once."""

    HEAD = "head"
    """One edge between two nodes."""
    BLOCK = "block"
    """Every edge between two blocks, the heads of a layer being one block (`attn L`)."""
    PORT = "port"
    """One edge, those into a head's query, key and value being three."""

    @property
    def granularity(self) -> Granularity:
        """Return which edges into heads the circuits tell apart that are found so."""
        return Granularity.PORT if self is RemovalUnit.PORT else Granularity.HEAD


class Order(StrEnum):
    """In which order parts are tried."""

    ATTRIBUTION = "attribution"
    """The least important first, importance being scored by one backward pass."""
    TOPOLOGICAL = "topological"
    """From the logits backwards, the way ACDC goes."""


class Search(StrEnum):
    """How parts are removed along the order."""

    GREEDY = "greedy"
    """Each part is tried in turn; the threshold bounds how far one removal may raise the divergence."""
    BISECTION = "bisection"
    """The longest beginning of the order goes at once; the threshold bounds the rise of all of it."""
    RUNS = "runs"
    """Bisection that begins again behind each part that must stay; the threshold bounds the whole rise."""


class SelectionRule(StrEnum):
    """Which of the candidates that keep the wanted agreement is chosen."""

    SPARSITY = "sparsity"
    """The fewest edges, then the larger worst margin, then the smaller threshold."""
    MARGIN = "margin"
    """The larger worst margin, then the fewest edges, then the smaller threshold (protocol C)."""
