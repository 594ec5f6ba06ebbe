"""A counterexample as JSON: every number exactly, tokens by number and by name."""

from circuitproof.files.canonical import Json
from circuitproof.files.codec import to_json
from circuitproof.proof.counterexamples import Counterexample, Decided
from circuitproof.proof.enclosed import Decision
from circuitproof.tasks.names import named
from circuitproof.tasks.task import Task


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
