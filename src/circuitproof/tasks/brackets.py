"""Bracket type: answer the closing bracket that matches the one that was opened."""

from circuitproof.tasks.alphabet import TOY
from circuitproof.tasks.openers import opener_task
from circuitproof.tasks.task import Task


def toy_brackets() -> Task:
    """Return bracket type on 128 prompts of six tokens.

    >>> task = toy_brackets()
    >>> task.alphabet.text(task.domain.prompts[0]), task.alphabet.text(task.answers()[:1])
    ('<BOS> <TASK_BRACKET> A [ A A', ']')
    """
    return opener_task("brackets", TOY, {"[": "]", "{": "}"}, "<TASK_BRACKET>", "ABCD")
