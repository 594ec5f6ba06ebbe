"""What was found on the way to an answer: for readers; no proof depends on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import median
from typing import Annotated

from circuitproof.circuits.graph import Edge
from circuitproof.files.canonical import Json
from circuitproof.files.codec import Key, record_to_json
from circuitproof.files.reading import shown, write_rational
from circuitproof.proof.brackets import KnownRange
from circuitproof.proof.enclosed import NOT_KNOWN, Ternary
from circuitproof.proof.evidence import Radius
from circuitproof.tasks.domain import Prompt

LISTED = 100
"""How many counterexamples are listed; all of them are counted."""
_EDGES_SHOWN = 4
"""Of how many edges a line tells what they change, those that change the least first."""


@dataclass(frozen=True, slots=True)
class EdgeWitnesses:
    """The prompts whose clear decision is another clear one without an edge, and those that then tie."""

    edge: Edge
    flips: tuple[int, ...]
    ties: tuple[int, ...]
    only_bias: bool = False
    """Whether the edge changes no clear decision as long as the bias that heads share is kept."""
    open: tuple[int, ...] = ()
    """The prompts of which it is not known whether they are among these; none in exact arithmetic."""

    @property
    def is_needed(self) -> Ternary:
        """Say whether some prompt is decided otherwise without the edge."""
        return bool(self.flips or self.ties) or (NOT_KNOWN if self.open else False)

    def words(self) -> str:
        only = ", by a shared bias alone" if self.only_bias else ""
        left = f", {len(self.open)} open" if self.open else ""
        return f"{self.edge}: {len(self.flips)} flips, {len(self.ties)} ties{left}{only}"

    def to_json(self) -> Json:
        left: dict[str, Json] = {"open": list(self.open)} if self.open else {}
        return {
            "edge": str(self.edge),
            "flips": list(self.flips),
            "ties": list(self.ties),
            **left,
            "only_shared_bias": self.only_bias,
        }


@dataclass(frozen=True, slots=True)
class Survey:
    """How many regions of a pattern were looked at, and what the evidence about them shows."""

    regions: int
    margin: Annotated[Fraction | None, Key("worst_margin")] = None
    """The least margin of a region that margins settle."""
    is_attained: bool = True
    """Whether the least margin is that of some prompt; otherwise it is a lower bound."""
    radius: Annotated[Fraction | None, Key("least_radius")] = None
    """The least finite radius that follows from margins."""
    prompts: tuple[Prompt, ...] = ()
    """The prompts that are shown one by one."""

    def to_json(self) -> dict[str, Json]:
        return record_to_json(replace(self, prompts=self.prompts[:LISTED]))


@dataclass(frozen=True, slots=True)
class RightCount:
    """How many prompts are known to be right, and of how many it is not known."""

    right: int
    open: int
    size: int

    def words(self) -> str:
        least, most = f"{self.right:,}", f"{self.right + self.open:,}"
        said = f"between {least} and {most}" if self.open else least
        return f"{said} of {self.size:,} are right"


@dataclass(frozen=True, slots=True)
class MeasuredNumber:
    """A number about all prompts, by its name, and what is known of it."""

    name: str
    known: KnownRange

    def words(self) -> str:
        return f"{self.name} {self.known.words()}"


@dataclass(frozen=True, slots=True)
class Findings:
    """Counterexamples (a prompt, or a pair), witnesses per edge, and radii per prompt, where they apply."""

    counterexamples: tuple[tuple[int, ...], ...] = ()
    edges: tuple[EdgeWitnesses, ...] = ()
    radii: tuple[Radius | None, ...] = ()
    """The exact radius of each prompt's decision; nothing where it ties."""
    survey: Survey | None = None
    """What was seen of a pattern, where prompts are not listed."""
    right: RightCount | None = None
    """How many prompts of a list are right, where not all are or that is what is asked."""
    measured: tuple[MeasuredNumber, ...] = ()

    def distribution(self) -> Mapping[str, Fraction]:
        """Return the smallest, the median and the largest finite radius."""
        return spread([r.value for r in self.radii if r is not None and r.value is not None])

    def words(self) -> str:
        least = sorted(self.edges, key=lambda one: len(one.flips) + len(one.ties))[:_EDGES_SHOWN]
        parts = [] if self.right is None else [self.right.words()]
        parts += [found.words() for found in (*self.measured, *least)]
        if more := len(self.edges) - len(least):
            parts.append(f"{more} more edges, which change as much or more")
        parts.extend(f"{name} radius {shown(value)}" for name, value in self.distribution().items())
        if self.counterexamples:
            first = " and ".join(f"prompt {x}" for x in self.counterexamples[0])
            count = len(self.counterexamples)
            parts.append(f"{count} counterexample{'s' if count > 1 else ''}, first {first}")
        return "; ".join(parts)

    def to_json(self) -> Json:
        return {
            "counterexamples": [list(prompts) for prompts in self.counterexamples[:LISTED]],
            "edges": [found.to_json() for found in self.edges],
            "radii": [None if radius is None else str(radius) for radius in self.radii],
            "radius": {name: write_rational(value) for name, value in self.distribution().items()},
            **({} if self.right is None else {"right": record_to_json(self.right)}),
            **({} if not self.measured else {"measured": self._measured_to_json()}),
        }

    def _measured_to_json(self) -> Json:
        return {
            one.name: [write_rational(end) for end in (one.known.low, one.known.high)]
            for one in self.measured
        }


def spread(sizes: Sequence[Fraction]) -> Mapping[str, Fraction]:
    """Return the smallest, the median and the largest of some numbers, nothing of none.

    The median of an even number is the mean of the two in the middle.
    """
    return {"min": min(sizes), "median": median(sizes), "max": max(sizes)} if sizes else {}
