"""Answers that are counted prompt by prompt over a list."""

from collections.abc import Sequence
from dataclasses import replace

from circuitproof.prove.balls.disturbed import Point
from circuitproof.prove.claim import Claim
from circuitproof.prove.evidence import FoldLeaf, PromptSplit, Replay, Replayed
from circuitproof.prove.findings import Findings
from circuitproof.prove.properties.property import Property
from circuitproof.prove.verdict import Answer, Outcome, Proved, Refuted


def for_every_prompt(
    claim: Claim, prop: Property, leaves: Sequence[FoldLeaf], failing: Sequence[int], eta: Point | None = None
) -> Answer:
    """Answer a property with an obligation per prompt; the first that fails, under `eta`, refutes it."""
    outcome: Outcome = Proved(PromptSplit(tuple(leaves)))
    if failing:
        leaf = replace(leaves[failing[0]], radius=None)
        outcome = Refuted(Replay((Replayed(claim.task.prompts[failing[0]], leaf, eta),)))
    found = Findings(tuple((x,) for x in failing))
    return Answer(prop, outcome, len(leaves), len(leaves) - len(failing), found)
