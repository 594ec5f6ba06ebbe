"""A declared task, listed or on a pattern, told in a few numbers and written for a checker to compare."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from circuitproof.declare.tasks.loading import load_task
from circuitproof.declare.tasks.pattern_text import print_pattern
from circuitproof.declare.tasks.patterns import Pattern
from circuitproof.forward.declaration import read_declaration
from circuitproof.text.canonical import Digest, Json, canonical_json, refuse_existing, write_file
from circuitproof.text.reading import write_rational


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredTask:
    """What a task asks, in a few numbers, and its declaration."""

    name: str
    prompts: int
    pattern: str | None
    """The prompts' pattern, where they are not listed."""
    candidates: tuple[int, ...]
    answers: tuple[int, ...]
    """The right answers that occur, in order."""
    classes: int
    """How many classes of prompts must be decided alike."""
    names: Mapping[int, str]
    declaration: Json
    digest: Digest

    def named(self, token: int) -> str:
        """Return a token with its name, if it has one."""
        return f"{token} ({self.names[token]})" if token in self.names else f"{token}"

    def to_json(self) -> Json:
        """Return what is told as JSON, without the declaration itself."""
        return {
            "name": self.name,
            "prompts": write_rational(Fraction(self.prompts)),
            "pattern": self.pattern,
            "candidates": list(self.candidates),
            "answers": list(self.answers),
            "classes": self.classes,
            "digest": str(self.digest),
        }


def find_declared(spec: str, model: Path | None = None) -> DeclaredTask:
    """Return a task by its name or file; `model` names the tokens of a file that leaves that to it."""
    task = load_task(spec, None if model is None else read_declaration(model).alphabet)
    answers = task.answers_by_class()
    return DeclaredTask(
        name=task.name,
        prompts=task.size,
        pattern=print_pattern(task.domain) if isinstance(task.domain, Pattern) else None,
        candidates=task.candidates,
        answers=tuple(sorted(frozenset[int]().union(*answers.values()))),
        classes=len(answers),
        names=task.alphabet.named(),
        declaration=task.to_json(),
        digest=task.digest,
    )


def write_declaration(found: DeclaredTask, out: Path) -> None:
    """Write the canonical declaration, whose digest claims carry, to a new file."""
    refuse_existing(out)
    write_file(out, canonical_json(found.declaration))
