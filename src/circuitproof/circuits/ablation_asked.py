"""What cut edges carry as a person asks for it: by a word, over a task's own prompts, or in a file."""

from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from circuitproof.circuits.ablation import ZERO, Ablation, Counterfactual, Mean, Pooling
from circuitproof.errors import InputError, UsageError
from circuitproof.files.kinds import FileKind, of_kind
from circuitproof.files.reading import Fields, alone, read_json, reading
from circuitproof.tasks.alphabet import Alphabet
from circuitproof.tasks.domain import Prompt
from circuitproof.tasks.patterns import Pattern
from circuitproof.tasks.spelling import Spelling, spelling_of
from circuitproof.tasks.task import Task

AskedAblation: TypeAlias = str | Path | Ablation | None
"""A word, a file, an ablation that is at hand, or nothing: what the circuit itself says."""
_PAIR = 2


class AblationWord(StrEnum):
    """The ablations that have a word, because they need no prompts but the task's own."""

    ZERO = "zero"
    """A cut edge carries nothing."""
    MEAN = "mean"
    """The mean of its source's output, at the same position of the task's prompts of the same length."""
    MEAN_ALL = "mean-all"
    """The mean over all positions of all prompts of the task."""


def ablation_asked(asked: AskedAblation, task: Task, tokens: Alphabet | None) -> Ablation | None:
    """Return what cut edges are to carry on a task, or nothing where nobody asks.

    Where a model does not name its `tokens`, those of the task are meant in a file.
    """
    if asked is None or isinstance(asked, Ablation):
        return asked
    if not isinstance(asked, str | Path):  # pyright: ignore[reportUnnecessaryIsInstance]  # anything may be given
        kind = type(asked).__name__
        raise InputError(f"the ablation is of type {kind}, want a word, a file, or what cp.mean returns")
    if str(asked) == AblationWord.ZERO:
        return ZERO
    if isinstance(task.domain, Pattern):
        raise UsageError(f"ablation {asked} is not known over patterns; list prompts, or cut to zero")
    pooled = {AblationWord.MEAN: Pooling.POSITION, AblationWord.MEAN_ALL: Pooling.ALL}
    if str(asked) in pooled:
        return mean_of(task, pooled[AblationWord(str(asked))])
    if Path(asked).suffix != ".json":
        wanted = ", ".join(AblationWord)
        raise UsageError(f"the ablation is {str(asked)!r}, want one of {wanted}, or a .json file")
    return load_ablation(Path(asked), task.tokens if tokens is None else tokens)


def mean_of(task: Task, over: Pooling) -> Mean:
    """Return the mean over a task's own prompts, each of them once."""
    return Mean(tuple(dict.fromkeys(task.prompts)), over)


def load_ablation(path: Path, tokens: Alphabet) -> Ablation:
    """Read a file that has what a circuit file has under `ablation`, its prompts as people write them."""
    content = of_kind(read_json(path), str(path), FileKind.ABLATION)
    return read_ablation_of(content, str(path), spelling_in(tokens))


def spelling_in(tokens: Alphabet) -> Spelling:
    """Return how prompts are written: as text if a tokenizer reads them, by names and numbers if not."""
    return Spelling(spelling_of(tokens, is_text=False).numbers, tokens.encode)


def read_ablation_of(content: object, where: str, spelling: Spelling) -> Ablation:
    """Read an ablation whose prompts are texts, names of tokens between blanks, or lists of tokens."""
    with reading(content, where) as fields:
        if fields.one_of("kind", (Mean.kind, Counterfactual.kind)) == Mean.kind:
            over = fields.choice("over", Pooling) if fields.has("over") else Pooling.POSITION
            return Mean(tuple(_prompts(fields, "prompts", spelling)), over)
        return Counterfactual(
            tuple(_pair(entry, place, spelling) for entry, place in fields.entries("pairs"))
        )


def _prompts(fields: Fields, key: str, spelling: Spelling) -> list[Prompt]:
    return [spelling.prompt(entry, where) for entry, where in fields.entries(key)]


def _pair(entry: object, where: str, spelling: Spelling) -> tuple[Prompt, Prompt]:
    found = _prompts(alone(entry, where), "", spelling)
    if len(found) != _PAIR:
        raise InputError(f"{where} is {len(found)} prompts, want a prompt and its partner")
    return found[0], found[1]
