"""Where conditions hold on a ground, worked out for all prompts of a length at once."""

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import torch
from torch import Tensor

from circuitproof.declare.programs.syntax import Formula, Otherwise, Program, Rule
from circuitproof.declare.tasks.domain import by_length
from circuitproof.lab.distill.ground import Bytes, Ground
from circuitproof.lab.model.program_heads import Patterns


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """Prompts of one length, and for each prefix that is first met here where it stands."""

    tokens: Tensor
    rows: list[int] = field(default_factory=list[int])
    queries: list[int] = field(default_factory=list[int])
    columns: list[int] = field(default_factory=list[int])


class Conditions:
    """The masks of conditions on a ground; `Ground.mask` is the slow twin."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._groups = _groups(ground)

    def mask(self, formula: Formula) -> Bytes:
        """Return 1 where a formula holds and 0 elsewhere."""
        program = Program(Fraction(0), (Rule(Fraction(1), (formula,)),), Otherwise.NOWHERE)
        mask = self._ground.nothing()
        for group in self._groups:
            held = Patterns(group.tokens).of(program).numpy()[group.rows, group.queries] > 0
            mask[: held.shape[1], group.columns] = held.T.astype(np.uint8)
        return mask


def _groups(ground: Ground) -> list[_Group]:
    columns, met = ground.columns(), set[int]()
    groups: list[_Group] = []
    for places in by_length(ground.prompts).values():
        prompts = [ground.prompts[place] for place in places]
        group = _Group(torch.tensor(prompts))
        for row, prompt in enumerate(prompts):
            for query in range(len(prompt)):
                column = columns[prompt[: query + 1]]
                if column not in met:
                    met.add(column)
                    group.rows.append(row)
                    group.queries.append(query)
                    group.columns.append(column)
        groups.append(group)
    return groups
