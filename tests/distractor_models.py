"""A model that closes quotes only if its head does not look at two misleading fillers."""

from dataclasses import replace

from circuitproof.circuits.graph import Head
from circuitproof.nn.transformer import Transformer
from circuitproof.tasks.domain import Domain
from circuitproof.tasks.quotes import toy_quotes
from circuitproof.tasks.task import Task
from hand_models import DOUBLE, SINGLE, quote_model, rows

HEAD = Head(0, 0)
FILLERS = (5, 6, 7, 8)
FIVE_TO_THE_SINGLE, FIVE_TO_THE_DOUBLE = 7, 8


def distractor_model() -> Transformer:
    """Return a model with a neural head of even attention, which the fillers C and D mislead.

    The head copies its values: a quotation mark gives one to its own logit, C five to the single mark's and
    D five to the double mark's. So a program will do just when it finds the mark and leaves out C and D.
    """
    copied = {SINGLE: (1, 0), DOUBLE: (0, 1), FIVE_TO_THE_SINGLE: (5, 0), FIVE_TO_THE_DOUBLE: (0, 5)}
    return quote_model({"embed.token": rows(32, copied)}, programs={})


def neutral_quotes(step: int = 1) -> Task:
    """Return quote closing on prompts that end in A or B, which say nothing of their own; some of them."""
    task = toy_quotes()
    kept = [prompt for prompt in task.domain.prompts if prompt[-1] in FILLERS[:2]][::step]
    return replace(task, domain=Domain(tuple(kept), ("neutral",) * len(kept)))
