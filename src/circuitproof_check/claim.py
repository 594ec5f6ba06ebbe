"""The statement of a bundle: what is claimed of which circuit, on which prompts."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import pairwise

from circuitproof_check.architecture import (
    Architecture,
    read_architecture,
    tensor_shapes,
)
from circuitproof_check.circuit import Edge, read_circuit
from circuitproof_check.files import sha256
from circuitproof_check.programs import Program, parse_program
from circuitproof_check.reading import (
    ForgedError,
    fields,
    integer,
    integers,
    items,
    kind,
    mapping,
    rational,
    show,
    text,
)
from circuitproof_check.task import Prompts, Task, read_domain, read_task
from circuitproof_check.tensors import Slice

FORMAT = "circuitproof claim 1"
_HEAD = re.compile(r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)")
_DIGEST = re.compile(r"[0-9a-f]{64}")

Lines = dict[tuple[int, int], tuple[str, ...]]


class Kind(Enum):
    """What can be claimed."""

    EQUIVALENCE = "equivalence"
    INVARIANCE = "invariance"
    NECESSITY = "necessity"
    ROBUSTNESS = "robustness"
    FAITHFULNESS = "faithfulness"


@dataclass(frozen=True, slots=True)
class Property:
    """One thing that is claimed; epsilon is that of robustness."""

    kind: Kind
    epsilon: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The whole statement, read and consistent."""

    architecture: Architecture
    lines: Lines
    programs: Mapping[tuple[int, int], Program]
    edges: tuple[Edge, ...]
    prompts: Prompts
    task: Task
    slices: Mapping[str, Slice]
    properties: tuple[Property, ...]


def read_claim(value: object, domain: object, domain_bytes: bytes) -> Claim:
    """Read the statement and its prompts."""
    names = ("format", "architecture", "programs", "circuit", "task", "domain", "weights", "properties")
    spelled, sizes, programs, circuit, task, pinned, weights, properties = fields(value, "claim", *names)
    rule_format_is_known(spelled, FORMAT)
    size = read_architecture(sizes, "claim.architecture")
    lines = read_programs(programs, "claim.programs")
    rule_programs_have_heads(lines, size)
    edges = read_circuit(circuit, "claim.circuit", size)
    prompts = read_domain(domain, size)
    _check_pin(pinned, domain_bytes, len(prompts))
    return Claim(
        architecture=size,
        lines=lines,
        programs={head: parse_program(text, f"program {head}") for head, text in lines.items()},
        edges=edges,
        prompts=prompts,
        task=read_task(task, prompts, size),
        slices=_read_slices(weights, tensor_shapes(size, lines)),
        properties=read_properties(properties, "claim.properties"),
    )


def rule_format_is_known(found: object, wanted: str) -> None:
    """The file says which format it has."""
    if found != wanted:
        raise ForgedError(f"the format is {show(found)}, want {wanted!r}")


def read_programs(value: object, where: str) -> Lines:
    """Return the lines of each program head's program."""
    programs: Lines = {}
    for name, lines in mapping(value, where).items():
        match = _HEAD.fullmatch(name)
        if match is None:
            raise ForgedError(f"{where} has the key {show(name)}, want a head such as 0.1")
        place = f"{where}.{name}"
        programs[int(match[1]), int(match[2])] = tuple(text(line, place) for line in items(lines, place))
    return programs


def rule_programs_have_heads(programs: Collection[tuple[int, int]], size: Architecture) -> None:
    """A program belongs to a head of the architecture."""
    for layer, index in programs:
        if layer >= size.layers or index >= size.heads:
            raise ForgedError(f"head {layer}.{index} is outside {size.layers} layers of {size.heads} heads")


def _check_pin(value: object, domain_bytes: bytes, count: int) -> None:
    digest, prompts = fields(value, "claim.domain", "digest", "prompts")
    rule_domain_is_the_claimed(digest, domain_bytes)
    rule_prompts_are_counted(integer(prompts, "claim.domain.prompts"), count)


def rule_domain_is_the_claimed(digest: object, domain_bytes: bytes) -> None:
    """The domain has the digest that the claim names."""
    if digest != sha256(domain_bytes):
        raise ForgedError(f"domain.json has digest {sha256(domain_bytes)}, the claim says {show(digest)}")


def rule_prompts_are_counted(claimed: int, count: int) -> None:
    """The domain has as many prompts as the claim says."""
    if claimed != count:
        raise ForgedError(f"domain.json has {count} prompts, the claim says {claimed}")


def _read_slices(value: object, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Slice]:
    slices: dict[str, Slice] = {}
    for name, entry in mapping(value, "claim.weights").items():
        where = f"claim.weights.{name}"
        shape, rows, digest = fields(entry, where, "shape", "rows", "digest")
        sizes = integers(shape, f"{where}.shape", 1)
        rule_tensor_is_of_the_architecture(name, sizes, shapes)
        kept = None if rows is None else integers(rows, f"{where}.rows", 0)
        rule_rows_increase_within_the_tensor(name, kept, sizes)
        if not _DIGEST.fullmatch(text(digest, f"{where}.digest")):
            raise ForgedError(f"{where}.digest is {show(digest)}, want 64 hex digits")
        slices[name] = Slice(sizes, kept, text(digest, where))
    return slices


def rule_tensor_is_of_the_architecture(
    name: str, shape: tuple[int, ...], shapes: Mapping[str, tuple[int, ...]]
) -> None:
    """Names and shapes of tensors are those of the architecture."""
    if name not in shapes:
        raise ForgedError(f"the architecture has no tensor {show(name)}")
    if shape != shapes[name]:
        raise ForgedError(f"tensor {name} has shape {shape}, want {shapes[name]}")


def rule_rows_increase_within_the_tensor(
    name: str, rows: tuple[int, ...] | None, shape: tuple[int, ...]
) -> None:
    """Rows are distinct, increasing and within the full tensor."""
    if rows and (rows[-1] >= shape[0] or any(a >= b for a, b in pairwise(rows))):
        raise ForgedError(f"tensor {name}: rows {show(rows)} do not increase below {shape[0]}")


def read_properties(value: object, where: str) -> tuple[Property, ...]:
    """Read what is claimed."""
    properties = tuple(read_property(entry, where) for entry in items(value, where))
    rule_something_is_claimed(properties)
    rule_kinds_are_claimed_once(properties)
    return properties


def read_property(value: object, where: str) -> Property:
    """Read one thing that is claimed."""
    name = kind(value, where)
    if name not in [member.value for member in Kind]:
        raise ForgedError(f"{where}: the kind {show(name)} is unknown")
    if name != Kind.ROBUSTNESS.value:
        fields(value, where, "kind")
        return Property(Kind(name))
    _, spelled = fields(value, where, "kind", "epsilon")
    epsilon = rational(spelled, f"{where}.epsilon")
    rule_epsilon_is_positive(epsilon)
    return Property(Kind.ROBUSTNESS, epsilon)


def rule_something_is_claimed(properties: tuple[Property, ...]) -> None:
    """There is at least one property."""
    if not properties:
        raise ForgedError("claim.properties is empty: nothing is claimed")


def rule_kinds_are_claimed_once(properties: tuple[Property, ...]) -> None:
    """Each kind of property occurs at most once."""
    if len({entry.kind for entry in properties}) != len(properties):
        raise ForgedError("claim.properties has a kind twice, want each at most once")


def rule_epsilon_is_positive(epsilon: Fraction) -> None:
    """Epsilon is above zero."""
    if epsilon <= 0:
        raise ForgedError(f"epsilon is {show(epsilon)}, want a positive rational")
