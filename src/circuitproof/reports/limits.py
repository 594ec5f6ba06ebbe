"""Where a claim about a pattern stops being true, in words."""

from collections.abc import Iterator

from circuitproof.files.reading import scientific, shown
from circuitproof.proof.patterns.limits import ClaimLimits, FailingCell, FailingChoice
from circuitproof.reports.words import listed_tokens, pattern_words
from circuitproof.tasks.names import TokenNames

_CELLS_SHOWN = 8


def limits_lines(found: ClaimLimits, names: TokenNames) -> Iterator[str]:
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
        return f"{cell.head} reads token {listed_tokens(names, [cell.token])} at {cell.position}"
    return ", ".join(
        f"token {listed_tokens(names, [token])} at {position}" for position, token in cell.tokens
    )
