"""Where a claim about a pattern stops being true, found and told."""

from collections.abc import Iterator
from fractions import Fraction

from circuitproof.declare.tasks.names import TokenNames
from circuitproof.declare.tasks.pattern_text import print_pattern
from circuitproof.prove.effort import Effort
from circuitproof.prove.findings import LISTED
from circuitproof.prove.patterns.frontier import FailingCell, FailingChoice, Frontier, frontier
from circuitproof.prove.verdict import Battery, Verdict
from circuitproof.text.canonical import Json
from circuitproof.text.codec import to_json
from circuitproof.text.reading import scientific, shown
from circuitproof.view.words import pattern_words, told_tokens

_CELLS_SHOWN = 8


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


def frontier_lines(found: Frontier, names: TokenNames) -> Iterator[str]:
    """Say which cells fail, and which parts of the pattern are proved."""
    perturbed = "" if found.epsilon is None else f" after a perturbation of {found.epsilon}"
    if found.cells:
        yield f"{len(found.failing)} of {found.cells} cells fail{':' * bool(found.failing)}"
    for cell in found.failing[:_CELLS_SHOWN]:
        yield f"  {_place(cell, names)}: margin {shown(cell.margin)}{perturbed}"
    if not found.parts:
        yield "no part of the pattern was found to be proved"
    proved = "proved" if found.epsilon is None else f"proved at {found.epsilon}"
    for part in found.parts:
        yield f"{proved} {part.what}: {scientific(part.size)} prompts, {pattern_words(names, part.pattern)}"


def _place(cell: FailingCell | FailingChoice, names: TokenNames) -> str:
    if isinstance(cell, FailingCell):
        return f"{cell.head} reads token {told_tokens(names, [cell.token])} at {cell.position}"
    return ", ".join(f"token {told_tokens(names, [token])} at {position}" for position, token in cell.tokens)
