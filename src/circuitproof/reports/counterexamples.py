"""A counterexample in the words of its task."""

from collections.abc import Iterator
from fractions import Fraction

from circuitproof.files.reading import shown
from circuitproof.proof.counterexamples import Counterexample, Decided
from circuitproof.proof.enclosed import Decision, EnclosedNumber, NotKnown
from circuitproof.reports.words import exact, moved
from circuitproof.tasks.names import named, prompt_line
from circuitproof.tasks.task import Task


def counterexample_lines(task: Task, found: Counterexample) -> Iterator[str]:
    """Return what refutes a property, a few lines for people."""
    names = task.alphabet.named()
    yield f"{found.prop.name} is refuted{f': {found.says}' * bool(found.says)}"
    for one in found.prompts:
        place = "" if one.place is None else f" {one.place}"
        yield f"  prompt{place}: {prompt_line(names, one.prompt)}"
        yield f"    {_said(task, one)}"


def _said(task: Task, one: Decided) -> str:
    parts = [] if one.wanted is None else [f"wanted {_candidates(task, one.wanted)}"]
    parts.append(f"decided {_candidates(task, one.decided)}")
    parts.append(f"margin {_margin(one.margin)}")
    if one.eta:
        parts.append(f"where {moved(one.eta)}")
    return ", ".join(parts)


def _margin(margin: Fraction | EnclosedNumber) -> str:
    if isinstance(margin, EnclosedNumber):
        return f"{shown(margin.midpoint)} ± {shown(margin.radius)}"
    return exact(margin)


def _candidates(task: Task, places: Decision) -> str:
    if isinstance(places, NotKnown):
        return "what is not known"
    tied = [named(task.answer_names, task.candidates[place]) for place in sorted(places)]
    return tied[0] if len(tied) == 1 else f"a tie of {' and '.join(tied)}"
