"""Where program heads attend in a batch of prompts."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from circuitproof.programs.meaning import Row, row
from circuitproof.programs.syntax import Program


class Patterns:
    """Where programs attend in a batch of prompts; no program is worked out twice on one prompt."""

    def __init__(self, tokens: Int[Tensor, "prompt position"]) -> None:
        self._tokens = tokens
        self._known: dict[Program, Tensor] = {}

    def of(self, program: Program) -> Float[Tensor, "prompt query key"]:
        """Return the rows of a program, each weight rounded to FP32."""
        if program not in self._known:
            self._known[program] = _pattern(program, self._tokens)
        return self._known[program]


def _pattern(program: Program, tokens: Tensor) -> Tensor:
    distinct, places = tokens.unique(dim=0, return_inverse=True)
    length = tokens.shape[1]
    rows = [
        [_dense(row(program, prompt, query), length) for query in range(length)]
        for prompt in distinct.tolist()
    ]
    return torch.tensor(rows, dtype=torch.float32).reshape(len(rows), length, length)[places]


def _dense(weights: Row, length: int) -> Sequence[float]:
    dense = [0.0] * length
    for key, weight in weights:
        dense[key] = float(weight)
    return dense
