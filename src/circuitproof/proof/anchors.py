"""Anchors: prompts evaluated one at a time, at every position and sharing nothing, to test the fold."""

from fractions import Fraction

from circuitproof.arithmetic.exact import Exact, Signs
from circuitproof.circuits.circuit import Circuit
from circuitproof.forward.forward import Forward, Trace
from circuitproof.forward.frozen import Frozen
from circuitproof.forward.prompts import PromptCells
from circuitproof.proof.arithmetic import EnclosedRow, Enclosing
from circuitproof.tasks.domain import Prompt


def spread_anchors(prompts: int, count: int) -> tuple[int, ...]:
    """Return places spread evenly over a domain, first and last among them.

    >>> spread_anchors(1280, 8)
    (0, 183, 365, 548, 731, 914, 1096, 1279)
    """
    if count == 1 or prompts == 1:
        return (0,)
    return tuple(dict.fromkeys(round(place * (prompts - 1) / (count - 1)) for place in range(count)))


def unshared_logits(
    frozen: Frozen, circuit: Circuit, candidates: tuple[int, ...], prompt: Prompt
) -> tuple[tuple[Fraction, ...], int]:
    """Return a prompt's exact logits and how many activation branches were traced on the way.

    No linear map is split over the parts of its input: each sum is formed first.
    """
    arithmetic, (cells, stage, row) = Exact(), _alone(frozen, circuit, prompt)
    logits = Trace(Forward(frozen, cells, arithmetic, candidates, may_split=False)).output(stage)
    traced = sum(witness.signs.size for witness in arithmetic.witnesses if isinstance(witness, Signs))
    return logits.fractions()[row], traced


def unshared_row(
    frozen: Frozen, circuit: Circuit, candidates: tuple[int, ...], prompt: Prompt, arithmetic: Enclosing
) -> EnclosedRow:
    """Return a prompt's enclosed logits."""
    cells, stage, row = _alone(frozen, circuit, prompt)
    return arithmetic.rows(Forward(frozen, cells, Exact(), candidates))(stage)[row]


def _alone(frozen: Frozen, circuit: Circuit, prompt: Prompt) -> tuple[PromptCells, int, int]:
    """Return the cells of one prompt, and stage and row of its logits.

    Every node is computed at every position that this prompt leads to, whether another prompt needs it or
    not.
    """
    cells = PromptCells(frozen, circuit.ablation)
    stage = cells.logits_stage(circuit)
    for end in range(1, len(prompt) + 1):
        for number in range(len(cells.stages)):
            cells.cell(number, cells.place(prompt, end))
    return cells, stage, cells.cell(stage, cells.place(prompt))
