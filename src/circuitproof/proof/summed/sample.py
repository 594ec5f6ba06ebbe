"""Looking for a prompt that breaks a goal among some prompts of a pattern: what is not found is not decided."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from circuitproof.proof.effort import Effort
from circuitproof.proof.evidence import Open, Replay
from circuitproof.proof.patterns.goals import Goal
from circuitproof.proof.patterns.memo import Memo
from circuitproof.proof.summed.world import SummedWorld
from circuitproof.tasks.domain import Prompt

_TRIED = 256
"""How many prompts are tried."""
_TOGETHER = 32


@dataclass(slots=True)
class SampleCover:
    """Tries an example of each label, and prompts of lengths drawn evenly, with one seed."""

    memo: Memo
    goal: Goal
    effort: Effort
    world: SummedWorld
    regions: int = 0

    def whole(self) -> Replay | Open:
        """Return a prompt that breaks the goal, or say that none was found."""
        claim = self.memo.claim
        assert self.goal.second is not None  # noqa: S101  # one circuit alone is covered
        circuits, tried = [claim.circuit, self.goal.second], list(self._prompts())
        for start in range(0, len(tried), _TOGETHER):
            if self.effort.pace.is_over:
                break
            for seen in self.memo.see(tried[start : start + _TOGETHER], circuits):
                if (broken := self.goal.broken_by(seen)) is not None:
                    return broken
        return Open(f"{len(tried)} prompts were tried; that no prompt does is not proved of softmax heads")

    def _prompts(self) -> Iterator[Prompt]:
        lattices, draw = list(self.world.lattices.values()), Random(0)
        drawn = (draw.choice(lattices).draw(draw) for _ in range(_TRIED))
        yield from dict.fromkeys((*self.world.labelled.examples.values(), *drawn))
