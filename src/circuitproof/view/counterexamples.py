"""A counterexample in the words of its task, and as JSON with every number exactly."""

from collections.abc import Iterator
from fractions import Fraction

from circuitproof.declare.tasks.names import TokenNames
from circuitproof.declare.tasks.task import Task
from circuitproof.prove.counterexamples import Counterexample, Decided
from circuitproof.prove.enclosed import Decision, EnclosedNumber, NotKnown
from circuitproof.text.canonical import Json
from circuitproof.text.codec import to_json
from circuitproof.text.reading import shown
from circuitproof.view.words import exact, moved, named, property_name, shown_text

_LONGEST = 200
"""How much of a prompt is shown."""


def counterexample_lines(task: Task, found: Counterexample) -> Iterator[str]:
    """Return what refutes a property, a few lines for people."""
    names = task.alphabet.named()
    yield f"{property_name(found.prop)} is refuted{f': {found.says}' * bool(found.says)}"
    for one in found.prompts:
        place = "" if one.place is None else f" {one.place}"
        yield f"  prompt{place}: {prompt_line(names, one.prompt)}"
        yield f"    {_said(task, names, one)}"


def _said(task: Task, names: TokenNames, one: Decided) -> str:
    parts = [] if one.wanted is None else [f"wanted {_candidates(task, names, one.wanted)}"]
    parts.append(f"decided {_candidates(task, names, one.decided)}")
    parts.append(f"margin {_margin(one.margin)}")
    if one.eta:
        parts.append(f"where {moved(one.eta)}")
    return ", ".join(parts)


def _margin(margin: Fraction | EnclosedNumber) -> str:
    if isinstance(margin, EnclosedNumber):
        return f"{shown(margin.midpoint)} ± {shown(margin.radius)}"
    return exact(margin)


def prompt_line(names: TokenNames, prompt: tuple[int, ...]) -> str:
    """Return a prompt in tokens on a line that is not too long."""
    return shown_text(" ".join(named(names, token) for token in prompt), most=_LONGEST)


def _candidates(task: Task, names: TokenNames, places: Decision) -> str:
    if isinstance(places, NotKnown):
        return "what is not known"
    tied = [named(names, task.candidates[place]) for place in sorted(places)]
    return tied[0] if len(tied) == 1 else f"a tie of {' and '.join(tied)}"


def counterexample_to_json(task: Task, found: Counterexample | None) -> Json:
    """Return what refutes a property as JSON; nothing of one that is not refuted."""
    if found is None:
        return None
    return {"says": found.says or None, "prompts": [decided_to_json(task, one) for one in found.prompts]}


def decided_to_json(task: Task, one: Decided) -> Json:
    """Return a prompt and what is decided there, tokens by number and by name."""
    names = task.alphabet.named()
    return {
        "place": one.place,
        "prompt": list(one.prompt),
        "text": [named(names, token) for token in one.prompt],
        "wanted": _tokens(task, one.wanted),
        "decided": _tokens(task, one.decided),
        "margin": to_json(one.margin),
        "eta": to_json(one.eta or None),
    }


def _tokens(task: Task, decision: Decision | None) -> Json:
    is_known = isinstance(decision, frozenset)
    return [task.candidates[place] for place in sorted(decision)] if is_known else None
