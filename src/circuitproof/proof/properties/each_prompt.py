"""Answers that are counted prompt by prompt over a list."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from circuitproof.proof.claim import Claim
from circuitproof.proof.evidence import FoldLeaf, Leaf, Open, PromptSplit, Replay, Replayed, logits_of
from circuitproof.proof.findings import Findings
from circuitproof.proof.known import Divided, open_words
from circuitproof.proof.properties.property import Property
from circuitproof.proof.regions.disturbed import Point
from circuitproof.proof.verdict import Answer, PropertyOutcome, Proved, Refuted, Undecided


def for_every_prompt(
    claim: Claim, prop: Property, leaves: Sequence[Leaf], met: Divided, eta: Point | None = None
) -> Answer:
    """Answer a property with an obligation per prompt; the first that fails, under `eta`, refutes it."""
    outcome: PropertyOutcome = Proved(PromptSplit(tuple(leaves)))
    if met.no:
        leaf = leaves[met.no[0]]
        plain = replace(leaf, radius=None) if isinstance(leaf, FoldLeaf) else leaf
        outcome = Refuted(Replay((Replayed(claim.task.prompts[met.no[0]], plain, eta),)))
    elif met.open:
        outcome = open_prompts(leaves, met.open)
    found = Findings(tuple((x,) for x in met.no))
    return Answer(prop, outcome, len(leaves), len(met.yes), found)


def open_prompts(leaves: Sequence[Leaf], places: Sequence[int]) -> Undecided:
    """Leave open what enclosed logits do not tell, and say how near the nearest is."""
    values = chain.from_iterable(logits_of(leaves[place]) for place in places)
    what = f"{len(places)} of {len(leaves)} prompts are"
    return Undecided(Open(open_words(f"prompt {places[0]} is" if len(leaves) == 1 else what, values)))


def unprovable(claim: Claim, prop: Property, reason: str) -> Answer:
    """Leave a property open that cannot be proved in the claim's arithmetic."""
    return Answer(prop, Undecided(Open(reason)), claim.task.size, 0, Findings())
