"""The tasks that can be called by name."""

from circuitproof.errors import InputError
from circuitproof.tasks.brackets import toy_brackets
from circuitproof.tasks.quotes import toy_quotes
from circuitproof.tasks.task import Task

_DECLARED = {"quotes": toy_quotes, "brackets": toy_brackets}

TASK_NAMES = tuple(_DECLARED)


def find_task(name: str) -> Task:
    if name not in _DECLARED:
        raise InputError(
            f"there is no task {name!r}; known tasks: {', '.join(TASK_NAMES)}, "
            "or a task file that ends in .toml or .json"
        )
    return _DECLARED[name]()
