"""Closing questions: by plain weights, and where heads add up, by weights that are searched for, box by box."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from circuitproof.proof.effort import Effort
from circuitproof.proof.evidence import CutTree
from circuitproof.proof.summed.lattice import TokenMask
from circuitproof.proof.summed.leads import Leads, Questions
from circuitproof.proof.summed.tables import Bools
from circuitproof.tasks.domain import Prompt


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """Questions about a region, which of them are open, and the trees of those that plain weights leave open."""

    questions: Questions
    open: Bools
    cuts: tuple[tuple[tuple[int, ...], CutTree], ...] = ()

    def open_queries(self) -> set[int]:
        return {int(query) for query in self.questions.queries[self.open]}

    def worst(self, leads: Leads) -> Prompt:
        """Return a prompt on which an open question is nearest to its answer, about."""
        left = self._left()
        values = leads.values(left, leads.plain_weights(left))
        place = int(np.argmin(values))
        return leads.worst(left, leads.plain_weights(left), place)

    def bad_tokens(self, leads: Leads) -> list[TokenMask]:
        left = self._left()
        return leads.bad_tokens(left, leads.plain_weights(left))

    def _left(self) -> Questions:
        return self.questions[self.open]


def shown(leads: Leads, _effort: Effort) -> Shown:
    questions = leads.all_questions()
    is_open: npt.NDArray[np.bool_] = ~leads.closed(questions, leads.plain_weights(questions))
    return Shown(questions, is_open)
