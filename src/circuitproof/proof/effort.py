"""How hard and how long engines try, as data: a light module, which a command line can offer."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import inf
from typing import Final, TypeVar

from circuitproof.errors import DeclarationError
from circuitproof.workers import SERIAL, Division

Item = TypeVar("Item")


def _unheard(_what: str, _done: int, _total: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Pace:
    """When work has to end, and who hears how far it has come; what was proved by then does not depend on it.

    Nothing else that proves looks at a clock.
    """

    deadline: float = inf
    """On the clock; what is not reached by then is undecided."""
    clock: Callable[[], float] = float
    """Without a clock of one's own, time stands still at zero."""
    hear: Callable[[str, int, int], None] = _unheard
    """Is told what is counted, how many are done, and of how many."""

    @property
    def is_over(self) -> bool:
        return self.clock() >= self.deadline

    @property
    def left(self) -> float:
        return 0.0 if self.is_over else self.deadline - self.clock()

    def share(self, parts: int) -> "Pace":
        """Return the pace of the next of several parts that are to have equally long."""
        return replace(self, deadline=self.clock() + self.left / parts)

    def each(self, what: str, items: Collection[Item]) -> Iterator[Item]:
        """Return all items, and tell how many are done."""
        for done, item in enumerate(items):
            self.hear(what, done, len(items))
            yield item
        self.hear(what, len(items), len(items))

    def steps(self, what: str, items: Collection[Item]) -> Iterator[Item]:
        """Return items as long as there is time, and tell how many are done."""
        for item in self.each(what, items):
            if self.is_over:
                return
            yield item


UNHURRIED = Pace()
LEAST_BITS: Final = 16
MOST_BITS: Final = 4096
"""Between these is the precision of every certificate."""


class Method(StrEnum):
    """How robustness is decided where something bends after the perturbation."""

    COMPLETE = "complete"
    """Split the ball wherever a branch is open."""
    BRANCH = "branch"
    """Only try whether the branches at η = 0 hold in the whole ball: the paper's way."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard to try."""

    method: Method = Method.COMPLETE
    budget: int = 20_000
    """The most parts of a prompt's ball to look at."""
    regions: int = 4096
    """The most regions of a pattern, for each property."""
    listed: int = 1024
    """The most prompts of a region that are computed one by one."""
    precision: int = 512
    """The most bits that logits are enclosed with, where they have no exact value."""
    exps: int = 1 << 24
    """The most exponentials that softmax heads over a pattern may take."""
    pace: Pace = field(default=UNHURRIED, repr=False)
    """Until when to try, and who hears of it."""
    workers: Division = SERIAL
    """Among whom a list's prompts and circuits are divided; no answer depends on it."""

    def __post_init__(self) -> None:
        if self.budget < 1:
            raise DeclarationError(f"the budget is {self.budget} parts, want at least 1")
        if not LEAST_BITS <= self.precision <= MOST_BITS:
            raise DeclarationError(
                f"the precision is {self.precision} bits, want {LEAST_BITS} to {MOST_BITS}"
            )
