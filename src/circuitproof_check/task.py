"""What is asked: the prompts, the candidates, the right answers, and which prompts must be decided alike."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from circuitproof_check.architecture import Architecture
from circuitproof_check.reading import ForgedError, fields, integers, items, kind, mapping, show, text

_TOKEN = re.compile(r"0|[1-9][0-9]*")

Prompts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Task:
    """The candidates, and for each prompt the answer and the class."""

    candidates: tuple[int, ...]
    answers: tuple[int, ...]
    classes: tuple[int, ...]


def read_domain(value: object, size: Architecture) -> Prompts:
    """Read the prompts."""
    rows, strata = fields(value, "domain", "prompts", "strata")
    prompts = tuple(
        integers(row, f"domain.prompts[{i}]", 0) for i, row in enumerate(items(rows, "domain.prompts"))
    )
    names = [text(name, "domain.strata") for name in items(strata, "domain.strata")]
    rule_domain_is_not_empty(prompts)
    rule_prompts_are_distinct(prompts)
    for index, prompt in enumerate(prompts):
        rule_prompt_fits_the_context(index, prompt, size)
        rule_tokens_are_in_the_vocabulary(f"prompt {index}", prompt, size)
    rule_one_per_prompt("strata", len(names), prompts)
    return prompts


def rule_domain_is_not_empty(prompts: Prompts) -> None:
    """There is at least one prompt."""
    if not prompts:
        raise ForgedError("the domain has no prompts: nothing is claimed of nothing")


def rule_prompts_are_distinct(prompts: Prompts) -> None:
    """All prompts are distinct."""
    if len(set(prompts)) != len(prompts):
        raise ForgedError(f"of {len(prompts)} prompts only {len(set(prompts))} are distinct")


def rule_prompt_fits_the_context(index: int, prompt: tuple[int, ...], size: Architecture) -> None:
    """A prompt has 1 to `context` tokens."""
    if not 1 <= len(prompt) <= size.context:
        raise ForgedError(f"prompt {index} has {len(prompt)} tokens, want 1 to {size.context}")


def rule_tokens_are_in_the_vocabulary(where: str, tokens: tuple[int, ...], size: Architecture) -> None:
    """Tokens are below `vocabulary`."""
    if unknown := [token for token in tokens if not 0 <= token < size.vocabulary]:
        raise ForgedError(f"{where}: token {unknown[0]} is outside the vocabulary of {size.vocabulary}")


def rule_one_per_prompt(what: str, count: int, prompts: Prompts) -> None:
    """Tables have one entry per prompt."""
    if count != len(prompts):
        raise ForgedError(f"there are {count} {what} for {len(prompts)} prompts, want one per prompt")


def read_task(value: object, prompts: Prompts, size: Architecture) -> Task:
    """Read what is asked of each prompt."""
    title, names, listed, answer, relation = fields(
        value, "task", "name", "names", "candidates", "answer", "relation"
    )
    text(title, "task.name")
    for token, name in mapping(names, "task.names").items():
        text(name, f"task.names.{token}")
        if not _TOKEN.fullmatch(token):
            raise ForgedError(f"task.names has the key {show(token)}, want a token")
    candidates = integers(listed, "task.candidates")
    rule_candidates_are_a_choice(candidates)
    rule_tokens_are_in_the_vocabulary("task.candidates", candidates, size)
    answers = _read_answers(answer, prompts)
    rule_answers_are_candidates(answers, candidates)
    return Task(candidates, answers, _read_classes(relation, prompts))


def rule_candidates_are_a_choice(candidates: tuple[int, ...]) -> None:
    """There are at least two distinct candidates."""
    if len(set(candidates)) != len(candidates) or len(candidates) <= 1:
        raise ForgedError(f"task.candidates are {candidates}, want two or more, all distinct")


def rule_answers_are_candidates(answers: tuple[int, ...], candidates: tuple[int, ...]) -> None:
    """Every answer is a candidate."""
    if strange := [answer for answer in answers if answer not in candidates]:
        raise ForgedError(f"the answer {strange[0]} is not among the candidates {candidates}")


def _read_answers(value: object, prompts: Prompts) -> tuple[int, ...]:
    _, listed = fields(value, "task.answer", "kind", "answers")
    if kind(value, "task.answer") == "table":
        answers = integers(listed, "task.answer.answers")
        rule_one_per_prompt("answers", len(answers), prompts)
        return answers
    if kind(value, "task.answer") != "only opener":
        raise ForgedError(f"task.answer.kind is {show(kind(value, ''))}, want table or only opener")
    pairs = [integers(pair, "task.answer.answers") for pair in items(listed, "task.answer.answers")]
    if any(len(pair) != len(("opener", "answer")) for pair in pairs):
        raise ForgedError("task.answer.answers: want pairs of an opener and an answer")
    partners = {pair[0]: pair[1] for pair in pairs}
    rule_openers_are_distinct([pair[0] for pair in pairs])
    return tuple(partners[opener] for opener in _only_openers(prompts, partners))


def _read_classes(value: object, prompts: Prompts) -> tuple[int, ...]:
    if kind(value, "task.relation") == "same opener":
        _, listed = fields(value, "task.relation", "kind", "openers")
        openers = integers(listed, "task.relation.openers")
        rule_openers_are_distinct(openers)
        return _only_openers(prompts, openers)
    spelled, listed = fields(value, "task.relation", "kind", "classes")
    if spelled != "table":
        raise ForgedError(f"task.relation.kind is {show(spelled)}, want table or same opener")
    classes = integers(listed, "task.relation.classes")
    rule_one_per_prompt("classes", len(classes), prompts)
    return classes


def rule_openers_are_distinct(openers: Collection[int]) -> None:
    """An opener is listed once, so that it has one partner."""
    if len(set(openers)) != len(openers):
        raise ForgedError(f"openers are {list(openers)}, want all distinct")


def _only_openers(prompts: Prompts, openers: Collection[int]) -> tuple[int, ...]:
    for index, prompt in enumerate(prompts):
        rule_prompt_has_one_opener(index, [token for token in prompt if token in openers])
    return tuple(next((token for token in prompt if token in openers), -1) for prompt in prompts)


def rule_prompt_has_one_opener(index: int, found: list[int]) -> None:
    """Every prompt holds exactly one token that is a listed opener, once."""
    if len(found) != 1:
        raise ForgedError(f"prompt {index} holds the openers {found}, want just one")
