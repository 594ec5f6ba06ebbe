"""What a declared task asks, in words; this loads nothing that computes."""

from collections.abc import Iterable, Iterator

from circuitproof.files.reading import scientific
from circuitproof.reports.rules import rule_words
from circuitproof.reports.words import pattern_words
from circuitproof.tasks.names import TokenNames, named
from circuitproof.tasks.patterns import Pattern
from circuitproof.verbs.declared import DeclaredTask


def task_lines(found: DeclaredTask) -> Iterator[str]:
    """Say how many prompts a task has, its candidates and right answers by number and name, its classes."""
    task, names = found.task, found.task.alphabet.named()
    yield f"{task.name}: {scientific(task.size)} prompts, digest {task.digest}"
    if isinstance(task.domain, Pattern):
        yield f"pattern: {pattern_words(names, task.domain)}"
    yield f"candidates: {_listed(task.answer_names, task.candidates)}"
    if (words := rule_words(task.answer, names)) is not None:
        yield f"rule: {words}"
    yield f"right answers: {_listed(task.answer_names, found.answers)}"
    yield f"classes: {found.classes}"


def _listed(names: TokenNames, tokens: Iterable[int]) -> str:
    """Return tokens in their order with what people see of each, where they have names."""
    return ", ".join(f"{token} ({named(names, token)})" if token in names else f"{token}" for token in tokens)
