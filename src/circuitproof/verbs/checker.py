"""Starting the independent checker in a process of its own.

It is run with Python's isolated mode and without any installed package, so nothing of this process, its
folder or its environment has a part in the answer.
"""

import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from circuitproof.bundle.checker import checker_command
from circuitproof.errors import InputError, OverdueError
from circuitproof.files.canonical import readable_json
from circuitproof.tasks.task import Task


@contextmanager
def declared(task: Task) -> Generator[Path, None, None]:
    """Give the declaration of a task as a file."""
    with TemporaryDirectory(prefix="circuitproof-") as folder:
        file = Path(folder) / "task.json"
        file.write_bytes(readable_json(task.to_json()))
        yield file


def run_checker(words: Sequence[str], deadline: float | None = None) -> str:
    """Return what the checker prints, given the words of its command line."""
    command = [*checker_command(), *words]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=deadline)  # noqa: S603  # the checker
    except subprocess.TimeoutExpired as error:
        raise OverdueError(f"the checker was not done after {deadline} seconds; give it more time") from error
    if not ended.stdout:
        raise InputError(f"the checker gave no answer: {ended.stderr.strip() or f'exit {ended.returncode}'}")
    return ended.stdout
