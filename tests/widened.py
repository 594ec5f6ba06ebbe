"""A test arithmetic: exact numbers, moved and widened by a seeded radius; what it decides must be so."""

from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random
from typing import ClassVar

from circuitproof.forward.forward import Trace
from circuitproof.proof.arithmetic import EnclosedRow, Enclosing
from circuitproof.proof.battery import prove
from circuitproof.proof.verdict import Verdict

HUGE = Fraction(10**9)
RADII = (Fraction(0), Fraction(1, 64), Fraction(1, 4), Fraction(1), HUGE)


@dataclass(frozen=True)
class Widened(Enclosing):
    """The exact logits lie within what it says, and what it says with a smaller radius within that."""

    kind: ClassVar[str] = "widened"
    radius: Fraction
    seed: int = 0

    def rows(self, forward):
        """Compute exactly, then widen; the same logits are always widened in the same way."""
        trace = Trace(forward)
        return lambda stage: [self.around(row) for row in trace.output(stage).fractions()]

    def around(self, row):
        """Return midpoints no further than a radius from the exact logits, and that radius."""
        draw = Random(f"{self.seed} {row}")  # noqa: S311  # offsets, not secrets
        radius = self.radius * Fraction(draw.randint(1, 8), 8)
        moved = tuple(logit + radius * Fraction(draw.randint(-8, 8), 8) for logit in row)
        return EnclosedRow(moved, radius)


class Disguised(Widened):
    """One that calls itself exact."""

    kind: ClassVar[str] = "exact"


def widened(claim, radius, seed=0):
    """Return a claim in the test arithmetic."""
    return replace(claim, arithmetic=Widened(radius, seed))


def verdicts(claim):
    """Return the verdict on each property."""
    return [answer.verdict for answer in prove(claim).answers]


def disagreements(claim, seed=0, radii=RADII):
    """Return what is decided though it is not so exactly, or not so with a smaller radius."""
    exact = verdicts(claim)
    found = [verdicts(widened(claim, radius, seed)) for radius in radii]
    sides = [(f"at radius {radius}", one, exact) for radius, one in zip(radii, found, strict=True)]
    pairs = zip(radii, found, found[1:], strict=False)
    sides += [(f"beyond radius {radius}", larger, smaller) for radius, smaller, larger in pairs]
    return [
        f"{prop.kind} {where}: {one}, but {other}"
        for where, ones, others in sides
        for prop, one, other in zip(claim.properties, ones, others, strict=True)
        if one is not Verdict.UNDECIDED and one is not other
    ]
