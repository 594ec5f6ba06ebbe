"""Where conditions hold on a table of prefixes, worked out for all prompts of a length at once."""

from fractions import Fraction

import torch

from circuitproof.files.devices import CPU
from circuitproof.nn.program_heads import Patterns
from circuitproof.programs.syntax import Formula, Otherwise, Program, Rule
from circuitproof_lab.distill.prefix_table import ByteRows, PrefixTable


class Conditions:
    """The masks of conditions on a table of prefixes; `PrefixTable.mask` is the slow twin."""

    def __init__(self, prefix_table: PrefixTable) -> None:
        self._prefix_table = prefix_table
        self._groups = [
            (torch.tensor(prompts, device=CPU), columns) for prompts, columns in prefix_table.groups()
        ]

    def mask(self, formula: Formula) -> ByteRows:
        """Return 1 where a formula holds and 0 elsewhere."""
        program = Program(Fraction(0), (Rule(Fraction(1), (formula,)),), Otherwise.NOWHERE)
        mask = self._prefix_table.nothing()
        for tokens, columns in self._groups:
            held = Patterns(tokens).of(program).numpy() > 0
            mask[: tokens.shape[1], columns] = held.transpose(2, 0, 1)
        return mask
