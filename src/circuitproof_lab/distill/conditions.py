"""Where conditions hold on a ground, worked out for all prompts of a length at once."""

from fractions import Fraction

import torch

from circuitproof.nn.program_heads import Patterns
from circuitproof.programs.syntax import Formula, Otherwise, Program, Rule
from circuitproof_lab.distill.ground import Bytes, Ground


class Conditions:
    """The masks of conditions on a ground; `Ground.mask` is the slow twin."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._groups = [(torch.tensor(prompts), columns) for prompts, columns in ground.groups()]

    def mask(self, formula: Formula) -> Bytes:
        """Return 1 where a formula holds and 0 elsewhere."""
        program = Program(Fraction(0), (Rule(Fraction(1), (formula,)),), Otherwise.NOWHERE)
        mask = self._ground.nothing()
        for tokens, columns in self._groups:
            held = Patterns(tokens).of(program).numpy() > 0
            mask[: tokens.shape[1], columns] = held.transpose(2, 0, 1)
        return mask
