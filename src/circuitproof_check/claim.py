"""The statement of a bundle: what is claimed of which circuit, on which prompts."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from .architecture import (
    Architecture,
    Edges,
    Shapes,
    all_nodes,
    live_nodes,
    read_architecture,
    read_circuit,
    tensor_shapes,
)
from .programs import Program, parse_program
from .reading import fields, integer, integers, items, kind, mapping, rational, require, sha256, text
from .symbolic_patterns import Declared, read_declared
from .tensors import Slice

KINDS = (
    "equivalence",
    "invariance",
    "necessity",
    "robustness",
    "faithfulness",
    "subset minimality",
    "minimum",
    "lesion identity",
)
_NUMBER = "(0|[1-9][0-9]*)"
_HEAD = re.compile(rf"{_NUMBER}\.{_NUMBER}")
_TOKEN = re.compile(_NUMBER)
_DIGEST = re.compile(r"[0-9a-f]{64}")

Lines = dict[tuple[int, int], tuple[str, ...]]
Prompts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Property:
    """One thing that is claimed; circuits (edge names) are those of minimum, tensors of lesion identity."""

    kind: str
    epsilon: Fraction = Fraction(0)
    at: str = ""
    positions: str | tuple[int, ...] = ()
    circuits: tuple[tuple[str, ...], ...] = ()
    base: tuple[tuple[str, str], ...] = ()
    artifact: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """The candidates, and for each prompt the answer and the class."""

    candidates: tuple[int, ...]
    answers: tuple[int, ...]
    classes: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The whole statement, read and consistent."""

    architecture: Architecture
    lines: Lines
    programs: Mapping[tuple[int, int], Program]
    edges: Edges
    prompts: Prompts
    task: Task
    slices: Mapping[str, Slice]
    properties: tuple[Property, ...]
    declared: Declared | None = None
    """The pattern that the claim is about, where the prompts are only those that are shown."""


def read_claim(value: object, domain: object, domain_bytes: bytes) -> Claim:
    """Read the statement and its prompts."""
    names = ("format", "architecture", "programs", "circuit", "task", "domain", "weights", "properties")
    spelled, sizes, programs, circuit, task, pinned, weights, properties = fields(value, "claim", *names)
    check_format(spelled, "circuitproof claim 1")
    size = read_architecture(sizes, "claim.architecture")
    lines = read_programs(programs, "claim.programs")
    have_heads = all(layer < size.layers and index < size.heads for layer, index in lines)
    require("programs_have_heads", have_heads, "claim.programs", list(lines))
    digest, count = fields(pinned, "claim.domain", "digest", "prompts")
    found = sha256(domain_bytes)
    require("domain_is_the_claimed", digest == found, "domain", found, digest)
    prompts, pattern = _read_domain(domain, size)
    is_counted = integer(count, "claim.domain.prompts") == len(prompts)
    require("prompts_are_counted", is_counted, "domain", len(prompts), count)
    claim = Claim(
        architecture=size,
        lines=lines,
        programs={head: parse_program(program, f"program {head}") for head, program in lines.items()},
        edges=read_circuit(circuit, "claim.circuit", size),
        prompts=prompts,
        task=_read_task(task, prompts, size),
        slices=_read_slices(weights, tensor_shapes(size, lines)),
        properties=_read_properties(properties, "claim.properties"),
        declared=None if pattern is None else read_declared(pattern, task, size),
    )
    _check_places(claim)
    return claim


def _check_places(claim: Claim) -> None:
    """Demand that the circuit has the node at which it is perturbed, and each prompt the positions."""
    live, shortest = live_nodes(claim.edges, claim.architecture), min(map(len, claim.prompts), default=0)
    nodes = {name for name, node in all_nodes(claim.architecture).items() if node in live}
    for entry in claim.properties:
        if entry.kind == "robustness":
            name, _, side = entry.at.rpartition(" ")
            is_place = name in nodes and side in ("input", "output")
            require("place_is_in_the_circuit", is_place, "robustness", entry.at)
            is_inside = entry.at not in ("embed input", "logits output")
            require("place_is_inside", is_inside, "robustness", entry.at)
            if isinstance(entry.positions, tuple):
                fits = max(entry.positions) < shortest
                require("positions_are_in_every_prompt", fits, "robustness", entry.positions)


def check_format(found: object, wanted: str) -> None:
    """Demand that a file says which format it has."""
    require("format_is_known", found == wanted, "format", found, wanted)


def read_programs(value: object, where: str) -> Lines:
    """Return the lines of each program head's program."""
    programs: Lines = {}
    for name, lines in mapping(value, where).items():
        require("program_keys_are_heads", _HEAD.fullmatch(name), where, name)
        layer, _, index = name.partition(".")
        programs[int(layer), int(index)] = tuple(text(line, where) for line in items(lines, where))
    return programs


def _read_domain(value: object, size: Architecture) -> tuple[Prompts, object]:
    """Return the prompts and the pattern, if there is one."""
    about = ("pattern",) if "pattern" in mapping(value, "domain") else ()
    rows, strata, *pattern = fields(value, "domain", "prompts", "strata", *about)
    prompts = tuple(integers(row, "domain.prompts") for row in items(rows, "domain.prompts"))
    require("domain_is_not_empty", prompts, "domain")
    require("prompts_are_distinct", len(set(prompts)) == len(prompts), "domain")
    for index, prompt in enumerate(prompts):
        where, fits = f"prompt {index}", 1 <= len(prompt) <= size.context
        require("prompts_fit_the_context", fits, where, len(prompt), size.context)
        _check_tokens(prompt, where, size)
    _check_one_per_prompt([text(name, "domain.strata") for name in items(strata, "domain.strata")], prompts)
    return prompts, pattern[0] if pattern else None


def _check_tokens(tokens: tuple[int, ...], where: str, size: Architecture) -> None:
    are_known = all(0 <= token < size.vocabulary for token in tokens)
    require("tokens_are_in_the_vocabulary", are_known, where, tokens, size.vocabulary)


def _check_one_per_prompt(entries: Collection[object], prompts: Prompts) -> None:
    require("tables_have_one_per_prompt", len(entries) == len(prompts), "a table", len(entries), len(prompts))


def _read_task(value: object, prompts: Prompts, size: Architecture) -> Task:
    keys = ("name", "names", "candidates", "answer", "relation")
    title, names, listed, answer, relation = fields(value, "task", *keys)
    text(title, "task.name")
    for token, name in mapping(names, "task.names").items():
        text(name, "task.names")
        require("names_are_of_tokens", _TOKEN.fullmatch(token), "task.names", token)
    candidates = integers(listed, "task.candidates")
    require("candidates_are_a_choice", len(set(candidates)) == len(candidates) > 1, "task", candidates)
    _check_tokens(candidates, "task.candidates", size)
    answers = _read_answers(answer, "task.answer", prompts)
    require("answers_are_candidates", set(answers) <= set(candidates), "task.answer", answers, candidates)
    return Task(candidates, answers, _read_classes(relation, "task.relation", prompts))


def _read_answers(value: object, where: str, prompts: Prompts) -> tuple[int, ...]:
    name, listed = fields(value, where, "kind", "answers")
    require("answer_is_known", name in ("table", "only opener"), where, name)
    if name == "only opener":
        pairs = [integers(pair, where) for pair in items(listed, where)]
        require("openers_have_partners", all(len(pair) == len(("opener", "answer")) for pair in pairs), where)
        openers = _only_openers(prompts, [pair[0] for pair in pairs], where)
        partners = {pair[0]: pair[1] for pair in pairs}
        return tuple(partners[opener] for opener in openers)
    answers = integers(listed, where)
    _check_one_per_prompt(answers, prompts)
    return answers


def _read_classes(value: object, where: str, prompts: Prompts) -> tuple[int, ...]:
    name = kind(value, where)
    require("relation_is_known", name in ("table", "same opener"), where, name)
    if name == "same opener":
        openers = integers(fields(value, where, "kind", "openers")[1], where)
        return _only_openers(prompts, openers, where)
    classes = integers(fields(value, where, "kind", "classes")[1], where)
    _check_one_per_prompt(classes, prompts)
    return classes


def _only_openers(prompts: Prompts, openers: Collection[int], where: str) -> tuple[int, ...]:
    """Return the opener of each prompt."""
    listed = set(openers)
    require("openers_are_distinct", len(listed) == len(openers), where, openers)
    found = [[token for token in prompt if token in listed] for prompt in prompts]
    require("prompts_have_one_opener", all(len(tokens) == 1 for tokens in found), where)
    return tuple(tokens[0] for tokens in found)


def _read_slices(value: object, shapes: Shapes) -> dict[str, Slice]:
    slices: dict[str, Slice] = {}
    for name, entry in mapping(value, "claim.weights").items():
        where = f"tensor {name}"
        listed, rows, digest = fields(entry, where, "shape", "rows", "digest")
        shape, wanted = integers(listed, where), shapes.get(name)
        require("tensors_are_known", shape == wanted, where, shape, wanted)
        kept = None if rows is None else integers(rows, where, 0)
        increase = not kept or (kept[-1] < shape[0] and all(a < b for a, b in pairwise(kept)))
        require("rows_increase_in_the_tensor", increase, where, kept, shape)
        spelled = text(digest, where)
        require("digests_are_digests", _DIGEST.fullmatch(spelled), where, spelled)
        slices[name] = Slice(shape, kept, spelled)
    return slices


def _read_properties(value: object, where: str) -> tuple[Property, ...]:
    properties = tuple(read_property(entry, where) for entry in items(value, where))
    require("something_is_claimed", properties, where)
    require("kinds_are_claimed_once", len({entry.kind for entry in properties}) == len(properties), where)
    return properties


def read_property(value: object, where: str) -> Property:
    """Read one thing that is claimed."""
    name = kind(value, where)
    require("property_is_known", name in KINDS, where, name)
    if name == "minimum":
        listed = items(fields(value, where, "kind", "circuits")[1], where)
        circuits = tuple(tuple(text(edge, where) for edge in items(one, where)) for one in listed)
        return Property("minimum", circuits=circuits)
    if name == "lesion identity":
        _, base, artifact = fields(value, where, "kind", "base", "artifact")
        before, after = _read_digests(base, where), _read_digests(artifact, where)
        return Property("lesion identity", base=before, artifact=after)
    if name != "robustness":
        return Property(text(fields(value, where, "kind")[0], where))
    _, spelled, at, positions = fields(value, where, "kind", "epsilon", "at", "positions")
    epsilon = rational(spelled, f"{where}.epsilon")
    require("epsilon_is_positive", epsilon > 0, where, epsilon)
    return Property("robustness", epsilon, text(at, where), _read_positions(positions, where))


def _read_digests(value: object, where: str) -> tuple[tuple[str, str], ...]:
    found = {name: text(digest, where) for name, digest in mapping(value, where).items()}
    are_digests = all(_DIGEST.fullmatch(digest) for digest in found.values())
    require("tensors_have_digests", are_digests, where, found)
    return tuple(sorted(found.items()))


def _read_positions(value: object, where: str) -> str | tuple[int, ...]:
    if value in ("last", "all"):
        return text(value, where)
    places = integers(value, where, 0)
    increase = bool(places) and all(a < b for a, b in pairwise(places))
    require("positions_increase", increase, where, places)
    return places
