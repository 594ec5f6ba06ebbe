"""What is asked: prompts or a pattern of them, candidates, right answers, and which prompts are alike."""

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from .architecture import Architecture
from .patterns.shapes import Pattern, read_pattern
from .reading import (
    ForgedError,
    UnreadableError,
    canonical,
    fields,
    integer,
    integers,
    items,
    kind,
    mapping,
    named,
    parse_json,
    read_file,
    require,
    sha256,
    text,
)
from .rules import SEQUENCE_RULES, OpenerRules, StatefulRule, answers_of, read_rule
from .work import key

Prompts = tuple[tuple[int, ...], ...]
DIGEST = re.compile(r"[0-9a-f]{64}")
LAST = -1
"""The position at which is decided unless the task says another one."""
_FARTHEST = 1 << 21
_TOKEN = re.compile("0|[1-9][0-9]{0,8}")
_DECLARED = frozenset({"name", "candidates", "answer", "relation", "domain"})
_DECLARE = "make one by circuitproof task {} --out DECLARATION.json"


@dataclass(frozen=True, slots=True)
class DeclaredPattern:
    """A pattern, and the rules that label its prompts."""

    pattern: Pattern
    rules: OpenerRules | StatefulRule


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """The candidates, and for each prompt the answer and the class; names are for readers.

    The classes of a table are numbered in the order in which they occur.
    """

    name: str
    declaration: str | None
    names: Mapping[int, str]
    candidates: tuple[int, ...]
    answers: tuple[int, ...]
    classes: tuple[int, ...]
    outputs: Mapping[int, str]
    """The names of candidates, where they are no tokens."""
    position: int
    """Where prompts are decided: from the start, or if negative from the end."""

    def decided(self, prompt: tuple[int, ...]) -> int:
        """Return at which position a prompt is decided."""
        return self.position if self.position >= 0 else len(prompt) + self.position


def read_domain(value: object, size: Architecture) -> tuple[Prompts, list[object]]:
    """Return the prompts, and in a list the pattern, if there is one."""
    about = ("pattern",) if "pattern" in mapping(value, "domain") else ()
    rows, strata, *pattern = fields(value, "domain", "prompts", "strata", *about)
    prompts = tuple(integers(row, "domain.prompts") for row in items(rows, "domain.prompts"))
    require("domain_is_not_empty", prompts, "domain")
    for index, prompt in enumerate(prompts):
        where, fits = f"prompt {index}", 1 <= len(prompt) <= size.context
        require("prompts_fit_the_context", fits, where, len(prompt), size.context)
        check_tokens(prompt, where, size)
    require("prompts_are_distinct", len(set(map(key, prompts))) == len(prompts), "domain")
    _check_one_per_prompt([text(name, "domain.strata") for name in items(strata, "domain.strata")], prompts)
    return prompts, pattern


def read_task(value: object, prompts: Prompts, size: Architecture) -> Task:
    """Read candidates, answers and classes."""
    keys = ("name", "declaration", "names", "candidates", "answer", "relation")
    found = mapping(value, "task")
    told = [key for key in ("outputs", "position") if key in found]
    title, declaration, names, listed, answer, relation, *_ = fields(value, "task", *keys, *told)
    candidates = integers(listed, "task.candidates")
    are_outputs = all(0 <= one < size.predicted for one in candidates)
    require("candidates_are_outputs", are_outputs, "task.candidates", candidates, size.predicted)
    require("candidates_are_a_choice", len(set(candidates)) == len(candidates) > 1, "task", candidates)
    answers = _read_answers(answer, prompts, candidates, size)
    return Task(
        name=text(title, "task.name"),
        declaration=None if declaration is None else read_digest(declaration, "task.declaration"),
        names=_read_names(names, "task.names", size),
        candidates=candidates,
        answers=answers,
        classes=_read_classes(relation, "task.relation", prompts, answers, size),
        outputs=_read_outputs(found["outputs"], candidates) if "outputs" in found else {},
        position=_read_position(found["position"], prompts) if "position" in found else LAST,
    )


def _read_outputs(value: object, candidates: tuple[int, ...]) -> dict[int, str]:
    """Return the names of candidates that are no tokens: of each of them, and of no other output."""
    where, found = "task.outputs", mapping(value, "task.outputs")
    names = {one: text(name, where) for one, name in found.items()}
    require("outputs_are_the_candidates", set(names) == set(map(str, candidates)), where, candidates)
    require("outputs_have_names_of_their_own", len(set(names.values())) == len(names), where)
    return {int(one): name for one, name in names.items()}


def _read_position(value: object, prompts: Prompts) -> int:
    """Return where prompts are decided; a position of its own, and one that each of them has."""
    position = integer(value, "task.position", -_FARTHEST, _FARTHEST)
    require("position_is_left_out_at_the_end", position != LAST, "task.position", position)
    least = position + 1 if position >= 0 else -position
    shortest = min(map(len, prompts))
    require("prompts_have_the_position", shortest >= least, "task.position", position, shortest)
    return position


def read_digest(value: object, where: str) -> str:
    spelled = text(value, where)
    require("digests_are_digests", DIGEST.fullmatch(spelled), where, spelled)
    return spelled


def read_declared(pattern: object, task: object, size: Architecture) -> DeclaredPattern:
    """Read a pattern with the rules of a task that has been read before."""
    found = mapping(task, "task")
    answer, relation = mapping(found["answer"], "task.answer"), mapping(found["relation"], "task.relation")
    kinds = answer["kind"], relation["kind"]
    is_by_opener = kinds == ("only opener", "same opener")
    is_by_rule = answer["kind"] in SEQUENCE_RULES and relation["kind"] == "same answer"
    require("patterns_have_rules", is_by_opener or is_by_rule, "task", kinds)
    about = read_pattern(pattern, "pattern", size)
    require("patterns_leave_the_empty_prompt_out", not about.ends(about.start()), "pattern")
    if is_by_rule:
        return DeclaredPattern(about, read_rule(answer, "task.answer", size.vocabulary))
    pairs = [integers(pair, "task.answer") for pair in items(answer["answers"], "task.answer")]
    classes = frozenset(integers(relation["openers"], "task.relation"))
    return DeclaredPattern(about, OpenerRules({pair[0]: pair[1] for pair in pairs}, classes))


def check_task(path: Path, task: object, domain: object, size: Architecture) -> list[object] | None:
    """Demand that task and domain of a bundle are as a declaration says; return the alphabet that it has."""
    declared, digest = _read_declaration(path)
    asked, about, where = mapping(task, "task"), mapping(domain, "domain"), named(path)
    if asked["declaration"] != digest and not declared.keys() >= _DECLARED:
        raise UnreadableError(f"{where} is no declaration: it has other keys; {_DECLARE.format(where)}")
    require("task_has_the_declared_digest", asked["declaration"] == digest, where)
    is_pattern, rows = "pattern" in about, items(about["prompts"], "domain")
    keys = ("name", "candidates", "answer", "relation")
    further = ("vocabulary", "names") if is_pattern else ("alphabet",)
    told = [key for key in ("outputs", "position") if key in declared]
    fields(declared, where, *keys, "domain", *further, *told)
    is_declared = all(canonical(declared[key]) == canonical(asked[key]) for key in keys)
    is_declared &= canonical(declared.get("position")) == canonical(asked.get("position"))
    is_declared &= ("outputs" in declared) is ("outputs" in asked)
    require("task_is_the_declared", is_declared, where)
    wanted = {key: about[key] for key in (("pattern",) if is_pattern else ("prompts", "strata"))}
    require("domain_is_the_declared", canonical(declared["domain"]) == canonical(wanted), where)
    alphabet = None if is_pattern else items(declared["alphabet"], f"{where}: alphabet")
    if alphabet is None:
        is_named = declared["vocabulary"] == size.vocabulary and declared["names"] == asked["names"]
    else:
        spelled = [text(name, f"{where}: alphabet") for name in alphabet]
        require("alphabets_name_each_token_once", len(set(spelled)) == len(spelled), f"{where}: alphabet")
        names = mapping(asked["names"], "task")
        listed = {int(key) for key in names} | {one for row in rows for one in integers(row, "domain")}
        fits = max(listed, default=0) < len(alphabet) <= size.vocabulary
        is_named = fits and all(alphabet[int(key)] == name for key, name in names.items())
    require("names_are_the_declared", is_named, where)
    if "outputs" in told:
        _check_outputs(items(declared["outputs"], where), asked, where)
    return alphabet


def _check_outputs(declared: list[object], asked: Mapping[str, object], where: str) -> None:
    """Demand that the names of outputs are as declared, each another one."""
    spelled = [text(name, where) for name in declared]
    require("declared_outputs_have_names_of_their_own", len(set(spelled)) == len(spelled), where)
    names = mapping(asked.get("outputs"), "task.outputs")
    are_declared = all(int(one) < len(spelled) and spelled[int(one)] == name for one, name in names.items())
    require("outputs_are_the_declared", are_declared, where)


def _read_declaration(path: Path) -> tuple[dict[str, object], str]:
    """Return what a file of JSON or TOML declares, and its digest; what it is not is no fault of a bundle."""
    where = named(path)
    try:
        content = read_file(path)
        is_toml = path.suffix == ".toml"
        stated = tomllib.loads(content.decode()) if is_toml else parse_json(content, where)
        declared = mapping(stated, where)
        spelled = canonical(declared)
    except (ValueError, TypeError, ForgedError) as error:
        raise UnreadableError(f"{where} is no declaration: {error}; {_DECLARE.format(where)}") from error
    return declared, sha256(spelled.encode(errors="surrogatepass"))


def check_tokens(tokens: Collection[int], where: str, size: Architecture) -> None:
    are_known = all(0 <= token < size.vocabulary for token in tokens)
    require("tokens_are_in_the_vocabulary", are_known, where, tokens, size.vocabulary)


def _check_one_per_prompt(entries: Collection[object], prompts: Prompts) -> None:
    require("tables_have_one_per_prompt", len(entries) == len(prompts), "a table", len(entries), len(prompts))


def _read_names(value: object, where: str, size: Architecture) -> dict[int, str]:
    names: dict[int, str] = {}
    for token, name in mapping(value, where).items():
        is_token = _TOKEN.fullmatch(token) and int(token) < size.vocabulary
        require("names_are_of_tokens", is_token, where, token)
        names[int(token)] = text(name, where)
    require("tokens_have_names_of_their_own", len(set(names.values())) == len(names), where)
    return names


def _read_answers(
    value: object, prompts: Prompts, candidates: tuple[int, ...], size: Architecture
) -> tuple[int, ...]:
    where, name = "task.answer", kind(value, "task.answer")
    require("answer_is_known", name in ("table", "only opener", *SEQUENCE_RULES), where, name)
    if name in SEQUENCE_RULES:
        rule = read_rule(value, where, size.vocabulary)
        _check_possible(tuple(rule.outputs()), candidates, where, size)
        return answers_of(rule, prompts, where)
    listed = fields(value, where, "kind", "answers")[1]
    if name == "only opener":
        pairs = [integers(pair, where) for pair in items(listed, where)]
        require("openers_have_partners", all(len(pair) == len(("opener", "answer")) for pair in pairs), where)
        openers = _only_openers(prompts, [pair[0] for pair in pairs], where, size)
        partners = {pair[0]: pair[1] for pair in pairs}
        named, answers = [pair[1] for pair in pairs], tuple(partners[opener] for opener in openers)
    else:
        named = answers = integers(listed, where)
        _check_one_per_prompt(answers, prompts)
    _check_possible(named, candidates, where, size)
    return answers


def _check_possible(
    named: Collection[int], candidates: tuple[int, ...], where: str, size: Architecture
) -> None:
    possible = set(candidates)
    are_possible = all(0 <= one < size.predicted and one in possible for one in named)
    require("answers_are_candidates", are_possible, where, named, candidates)


def _read_classes(
    value: object, where: str, prompts: Prompts, answers: tuple[int, ...], size: Architecture
) -> tuple[int, ...]:
    name = kind(value, where)
    require("relation_is_known", name in ("table", "same opener", "same answer"), where, name)
    if name == "same answer":
        fields(value, where, "kind")
        return answers
    if name == "same opener":
        openers = integers(fields(value, where, "kind", "openers")[1], where)
        return _only_openers(prompts, openers, where, size)
    classes = integers(fields(value, where, "kind", "classes")[1], where)
    _check_one_per_prompt(classes, prompts)
    numbers: dict[bytes, int] = {}
    return tuple(numbers.setdefault(key([one]), len(numbers)) for one in classes)


def _only_openers(
    prompts: Prompts, openers: Collection[int], where: str, size: Architecture
) -> tuple[int, ...]:
    """Return the opener of each prompt."""
    are_known = all(0 <= opener < size.vocabulary for opener in openers)
    require("openers_are_in_the_vocabulary", are_known, where, openers, size.vocabulary)
    listed = set(openers)
    require("openers_are_distinct", len(listed) == len(openers), where, openers)
    found = [[token for token in prompt if token in listed] for prompt in prompts]
    require("prompts_have_one_opener", all(len(tokens) == 1 for tokens in found), where)
    return tuple(tokens[0] for tokens in found)
