"""A declared task, listed or on a pattern: its few numbers, and its declaration for a checker to compare."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from circuitproof.files.canonical import Json, canonical_json, refuse_existing, write_file
from circuitproof.files.reading import write_rational
from circuitproof.models.declaration import read_declaration
from circuitproof.tasks.loading import load_task
from circuitproof.tasks.pattern_text import print_pattern
from circuitproof.tasks.patterns import Pattern
from circuitproof.tasks.task import Task


@dataclass(frozen=True, slots=True)
class DeclaredTask:
    """A task, and what it asks in a few numbers."""

    task: Task
    pattern: str | None
    """The prompts' pattern, where they are not listed."""
    answers: tuple[int, ...]
    """The right answers that occur, in order."""
    classes: int
    """How many classes of prompts must be decided alike."""

    def to_json(self) -> Json:
        """Return what is told as JSON, without the declaration itself."""
        return {
            "name": self.task.name,
            "prompts": write_rational(Fraction(self.task.size)),
            "pattern": self.pattern,
            "candidates": list(self.task.candidates),
            "answers": list(self.answers),
            "classes": self.classes,
            "digest": str(self.task.digest),
        }


def find_declared(spec: str, model: Path | None = None) -> DeclaredTask:
    """Return a task by its name or file; `model` names the tokens of a file that leaves that to it."""
    task = load_task(spec, None if model is None else read_declaration(model).tokens)
    pattern = print_pattern(task.domain) if isinstance(task.domain, Pattern) else None
    answers = task.answers_by_class()
    return DeclaredTask(task, pattern, tuple(sorted(frozenset[int]().union(*answers.values()))), len(answers))


def write_declaration(found: DeclaredTask, out: Path) -> None:
    """Write the canonical declaration, whose digest claims carry, to a new file."""
    refuse_existing(out)
    write_file(out, canonical_json(found.task.to_json()))
