"""The record of block regression: do the heads of a circuit together what their attention blocks do?"""

from dataclasses import dataclass

from circuitproof.files.codec import PositiveInt

BLOCKS = "blocks.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockRegression:
    """A circuit of heads beside the circuit of blocks that it lies in, on the same prompts, in floats."""

    task: str
    prompts: PositiveInt
    head_edges: int
    block_edges: int
    """All edges between two blocks of which the circuit has one; the heads of a layer are one block."""
    heads: int
    block_heads: int
    agreed: int
    """On how many prompts both decide alike; ties must be the same."""
    right: int
    block_right: int
    largest_difference: float
    """Of a candidate's logit."""

    @property
    def is_reproduced(self) -> bool:
        """Say whether the union of the heads decides every prompt as the blocks do."""
        return self.agreed == self.prompts
