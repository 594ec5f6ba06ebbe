"""Tasks that ask for the type of the only opener in a prompt."""

from collections.abc import Iterable, Mapping
from itertools import product

from circuitproof.tasks.alphabet import Alphabet
from circuitproof.tasks.domain import Domain
from circuitproof.tasks.rules import OnlyOpener, SameOpener
from circuitproof.tasks.task import Task


def opener_task(
    name: str, alphabet: Alphabet, answers: Mapping[str, str], marker: str, fillers: Iterable[str]
) -> Task:
    """Return the toy task `<BOS> marker x1 opener x2 x3` with every filler in every place.

    The answer is what `answers` maps the opener to; which filler stands where must not matter.
    """
    start = alphabet.tokens(("<BOS>", marker))
    pairs = dict(zip(alphabet.tokens(answers), alphabet.tokens(answers.values()), strict=True))
    filled = list(product(alphabet.tokens(fillers), repeat=3))
    prompts = [(*start, first, opener, *rest) for opener in pairs for first, *rest in filled]
    return listed_opener_task(name, alphabet, prompts, pairs)


def listed_opener_task(
    name: str,
    alphabet: Alphabet,
    prompts: Iterable[tuple[int, ...]],
    answers: Mapping[int, int],
) -> Task:
    """Return the task on listed prompts, each with exactly one of the openers that `answers` maps.

    Strata are the openers' names; prompts with the same opener must be decided alike.
    """
    rule = OnlyOpener(tuple(answers.items()))
    listed = tuple(prompts)
    return Task(
        name=name,
        alphabet=alphabet,
        candidates=tuple(dict.fromkeys(answers.values())),
        domain=Domain(listed, tuple(alphabet.names[rule.opener(prompt)] for prompt in listed)),
        answer=rule,
        relation=SameOpener(tuple(answers)),
    )
