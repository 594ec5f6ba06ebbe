"""Where a claim about a pattern stops being true, and the same as JSON."""

from fractions import Fraction

from circuitproof.files.canonical import Json
from circuitproof.files.codec import to_json
from circuitproof.proof.effort import Effort
from circuitproof.proof.findings import LISTED
from circuitproof.proof.patterns.limits import ClaimLimits, FailingCell, FailingChoice, find_limits
from circuitproof.proof.verdict import Battery, Verdict
from circuitproof.tasks.pattern_text import print_pattern


def limits_of(battery: Battery, effort: Effort) -> ClaimLimits | None:
    """Return where a claim stops being true; nothing of one that is proved."""
    return None if battery.verdict is Verdict.PROVED else find_limits(battery.claim, effort)


def limits_to_json(found: ClaimLimits) -> Json:
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
