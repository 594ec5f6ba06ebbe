"""Long work on a terminal: how far it has come, when it has to end, and what an interrupt means."""

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import inf
from types import FrameType
from typing import TYPE_CHECKING

from circuitproof.cli.output import INTERRUPTS
from circuitproof.cli.show import progress_bars, show_note
from circuitproof.proof.effort import Pace
from circuitproof.workers import end_parts

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_TRIED_SECONDS, _LONG_SECONDS = 20.0, 600.0
"""After how long something is foreseen, and how much longer it has to go on for that."""
_MINUTE = 60


@contextmanager
def paced(deadline: float | None, *, as_json: bool) -> Iterator[Pace]:
    """Give work so many seconds, and show on a terminal how far it has come.

    The first interrupt is a deadline that has come; a second one ends the program.
    """
    end = inf if deadline is None else time.monotonic() + deadline
    if as_json or not sys.stderr.isatty():
        with _interrupted(show_note) as clock:
            yield Pace(end, clock) if as_json else Pace(end, clock, Foresight(show_note).hear)
        return
    with progress_bars(are_left=False) as bars, _interrupted(bars.console.print) as clock:
        pace = Pace(end, clock)
        foresight, shown = Foresight(bars.console.print), _shown_in(bars, pace)

        def hear(what: str, done: int, total: int) -> None:
            foresight.hear(what, done, total)
            shown(what, done, total)

        yield replace(pace, hear=hear)


@dataclass(slots=True)
class Foresight:
    """Tells how long counted work goes on at its pace: once for each thing that is counted, if it is long."""

    tell: Callable[[str], None]
    clock: Callable[[], float] = time.monotonic
    _begun: dict[str, float] = field(default_factory=dict[str, float])
    _told: set[str] = field(default_factory=set[str])

    def hear(self, what: str, done: int, total: int) -> None:
        if not done:
            self._begun[what] = self.clock()
        elif what not in self._told and what in self._begun:
            self._foresee(what, done, total, self.clock() - self._begun[what])

    def _foresee(self, what: str, done: int, total: int, seconds: float) -> None:
        left = seconds / done * (total - done)
        if seconds < _TRIED_SECONDS or left < _LONG_SECONDS:
            return
        self._told.add(what)
        self.tell(
            f"{what}: {done:,} of {total:,} in {seconds:.0f} s; at this pace the others take about "
            f"{_in_words(left)}; an interrupt, or --deadline, ends with what is known by then"
        )


def _in_words(seconds: float) -> str:
    minutes = seconds / _MINUTE
    return f"{minutes:.0f} minutes" if minutes < 2 * _MINUTE else f"{minutes / _MINUTE:.1f} hours"


def _shown_in(bars: "Progress", pace: Pace) -> Callable[[str, int, int], None]:
    """Return what shows each thing that is counted in a line of its own, as long as there is time for it."""
    lines: dict[str, TaskID] = {}

    def hear(what: str, done: int, total: int) -> None:
        if pace.is_over:
            return  # what is passed over now is not done
        if what not in lines:
            lines[what] = bars.add_task(what, total=total, note="")
        if not done:
            bars.reset(lines[what])
        bars.update(lines[what], completed=done, total=total)

    return hear


@contextmanager
def _interrupted(tell: Callable[[str], None]) -> Iterator[Callable[[], float]]:
    """Return a clock that the first interrupt sets to the end of time."""
    before, came = {number: signal.getsignal(number) for number in INTERRUPTS}, list[int]()

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def hear(number: int, _frame: FrameType | None) -> None:
        came.append(number)
        restore()
        end_parts()
        tell("interrupted: ending with what is known so far; interrupt again to end at once")

    for number in INTERRUPTS:
        signal.signal(number, hear)
    try:
        yield lambda: inf if came else time.monotonic()
    finally:
        restore()
