"""Quote closing: answer the quotation mark that was opened."""

from circuitproof.tasks.alphabet import TOY
from circuitproof.tasks.openers import opener_task
from circuitproof.tasks.task import Task


def toy_quotes() -> Task:
    """Return quote closing on 128 prompts of six tokens.

    >>> task = toy_quotes()
    >>> task.alphabet.text(task.domain.prompts[0])
    "<BOS> <TASK_QUOTE> A ' A A"
    """
    return opener_task("quotes", TOY, {"'": "'", '"': '"'}, "<TASK_QUOTE>", "ABCD")
