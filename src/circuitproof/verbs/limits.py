"""Where a claim about a pattern stops being true, and the same as JSON."""

from fractions import Fraction

from circuitproof.files.canonical import Json
from circuitproof.files.codec import to_json
from circuitproof.proof.effort import Effort
from circuitproof.proof.findings import LISTED
from circuitproof.proof.patterns.frontier import FailingCell, FailingChoice, Frontier, frontier
from circuitproof.proof.verdict import Battery, Verdict
from circuitproof.tasks.pattern_text import print_pattern


def limits_of(battery: Battery, effort: Effort) -> Frontier | None:
    """Return where a claim stops being true; nothing of one that is proved."""
    return None if battery.verdict is Verdict.PROVED else frontier(battery.claim, effort)


def frontier_to_json(found: Frontier) -> Json:
    """Return the failing cells, of which the first are listed, and the parts that are proved."""
    return {
        "epsilon": to_json(found.epsilon),
        "cells": found.cells,
        "failing": len(found.failing),
        "first_failing": [_cell_to_json(cell) for cell in found.failing[:LISTED]],
        "proved": [
            {
                "what": part.what,
                "pattern": print_pattern(part.pattern),
                "prompts": to_json(Fraction(part.size)),
            }
            for part in found.parts
        ],
    }


def _cell_to_json(cell: FailingCell | FailingChoice) -> Json:
    if isinstance(cell, FailingChoice):
        place: dict[str, Json] = {"tokens": to_json(cell.tokens)}
    else:
        place = {"head": str(cell.head), "token": cell.token, "position": cell.position}
    return {"class": cell.label.group, **place, "margin": to_json(cell.margin)}
