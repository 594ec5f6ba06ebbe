"""The statement of a bundle: what is claimed of which circuit, on which prompts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise

from .ablation import Ablation, check_covered, read_ablation
from .architecture import (
    EMBED,
    QUERY,
    Architecture,
    CircuitShape,
    Edges,
    Node,
    Shapes,
    live_nodes,
    logits_node,
    node_of,
    read_architecture,
    read_edges,
    read_shape,
    readers,
    tensor_shapes,
)
from .counted import COUNTED, MEASURES, NOTHING_COUNTED, Counted, read_counted
from .programs import Program, parse_program
from .reading import fields, integer, integers, items, kind, mapping, named, rational, require, sha256, text
from .task import DeclaredPattern, Prompts, Task, read_declared, read_digest, read_domain, read_task
from .tensors import Slice
from .work import NUMBER, paid, spend

KINDS = (
    "equivalence",
    "invariance",
    "necessity",
    "robustness",
    "faithfulness",
    "agreement",
    "subset minimality",
    "minimum",
    *COUNTED,
    "lesion identity",
)
_HEAD = re.compile(r"(N)\.(N)".replace("N", "0|[1-9][0-9]{0,8}"))

Head = tuple[int, int]
Lines = dict[Head, tuple[str, ...]]
Digests = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Property:
    """One thing that is claimed; circuits (names of edges) are of minimum and agreement."""

    kind: str
    epsilon: Fraction = Fraction(0)
    at: str = ""
    positions: str | tuple[int, ...] = ()
    circuits: tuple[tuple[str, ...], ...] = ()
    granularity: str = ""
    """That of the circuit of agreement."""
    architecture: Architecture | None = None
    """That of the base, as are the lines of programs."""
    lines: Lines = field(default_factory=dict[Head, tuple[str, ...]])
    base: Digests = ()
    artifact: Digests = ()
    counted: Counted = NOTHING_COUNTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The whole statement, read and consistent."""

    is_enclosed: bool
    """Whether logits are known by a midpoint and a radius, and not as rational numbers."""
    architecture: Architecture
    lines: Lines
    programs: Mapping[Head, Program]
    shape: CircuitShape
    ablation: Ablation
    edges: Edges
    prompts: Prompts
    task: Task
    slices: Mapping[str, Slice]
    properties: tuple[Property, ...]
    other: Edges = ()
    """The circuit that agreement is claimed with."""
    declared: DeclaredPattern | None = None
    """The pattern that the claim is about, where the prompts are only those that are shown."""
    is_detached: bool = False
    """Whether the tensors are not in the bundle, but only in a model."""
    unreached: int = 0
    """How many prompts there are whose logits the perturbation of robustness does not reach."""


def _unreached(claim: Claim, claimed: Property) -> int:
    name, _, side = claimed.at.rpartition(" ")
    node = node_of(name, claim.architecture)
    is_place = node is not None and side in ("input", "output")
    require("places_are_sides_of_nodes", is_place, "robustness", claimed.at)
    is_parted = claim.shape.is_split and node is not None and node.is_head and side == "input"
    require("heads_with_ports_have_no_one_input", not is_parted, "robustness", claimed.at)
    readers: dict[Node, list[Node]] = {}
    for source, target in paid(claim.edges, NUMBER):
        readers.setdefault(source, []).append(target)
    count = 0
    for prompt in claim.prompts:
        decided = claim.task.decided(prompt)
        spend(NUMBER * len(claimed.positions))
        read = _read_positions(claim, readers, prompt)[side == "output"].get(node or EMBED, set())
        if isinstance(claimed.positions, tuple):
            is_reached = any(place < len(prompt) and place in read for place in claimed.positions)
        else:
            is_reached = bool(read) if claimed.positions == "all" else decided in read
        count += not is_reached
    return count


def _read_positions(
    claim: Claim, readers: Mapping[Node, list[Node]], prompt: tuple[int, ...]
) -> tuple[dict[Node, set[int]], dict[Node, set[int]]]:
    """Return at which positions inputs and outputs of nodes are read on the way to the logits.

    What feeds a query alone is read where the head puts something out, and nowhere before.
    """
    inputs: dict[Node, set[int]] = {logits_node(claim.architecture): {claim.task.decided(prompt)}}
    outputs: dict[Node, set[int]] = {}
    for source in sorted(paid(readers, NUMBER), reverse=True):
        spend(NUMBER * len(readers[source]) * len(prompt))
        outputs[source] = set[int]().union(
            *((outputs if port.port == QUERY else inputs).get(port.reader, set()) for port in readers[source])
        )
        if source != EMBED:
            inputs[source] = _keys(claim, source, prompt, outputs[source])
    return inputs, outputs


def _keys(claim: Claim, node: Node, prompt: tuple[int, ...], places: set[int]) -> set[int]:
    """Return the positions at which a node reads its input for what it puts out at some."""
    if not node.is_head:
        return places
    program, found = claim.programs.get((node.layer, node.head)), set[int]()
    if program is None:
        return set(range(claim.architecture.last_key(max(places), prompt) + 1)) if places else set()
    for place in places:
        found.update(key for key, weight in enumerate(program.row(prompt, place)) if weight)
    return found


def read_claim(value: object, domain: object, domain_bytes: bytes) -> Claim:
    """Read the statement and its prompts."""
    check_format(mapping(value, "claim").get("format"), "circuitproof claim 3")
    names = ("architecture", "programs", "circuit", "task", "domain", "weights", "properties")
    told = ("detached",) if "detached" in mapping(value, "claim") else ()
    _, reckoned, *stated = fields(value, "claim", "format", "arithmetic", *names, *told)
    sizes, programs, circuit, task, pinned, weights, properties, *detached = stated
    is_told = all(one is True for one in detached)
    require("detached_is_true_or_left_out", is_told, "claim.detached", *detached)
    require("arithmetic_is_known", reckoned in ("exact", "enclosed"), "claim.arithmetic", reckoned)
    size = read_architecture(sizes, "claim.architecture")
    lines, parsed = read_programs(programs, "claim.programs", size)
    digest, count = fields(pinned, "claim.domain", "digest", "prompts")
    found = sha256(domain_bytes)
    require("domain_is_the_claimed", digest == found, "domain", found, digest)
    prompts, pattern = read_domain(domain, size)
    is_counted = integer(count, "claim.domain.prompts") == len(prompts)
    require("prompts_are_counted", is_counted, "domain", len(prompts), count)
    shape, ablation, edges = _read_circuit(circuit, "claim.circuit", size, parsed)
    require("patterns_are_cut_to_zero", not pattern or ablation.is_zero, "claim.circuit", ablation.kind)
    is_usual = not pattern or mapping(task, "claim.task").keys().isdisjoint(("outputs", "position"))
    require("patterns_are_answered_by_tokens_at_the_end", is_usual, "claim.task")
    require("patterns_have_a_mask", not pattern or size.is_masked, "claim.architecture")
    require("patterns_have_whole_heads", not pattern or not shape.is_split, "claim.circuit")
    check_covered(ablation, prompts)
    claimed = _read_properties(properties, "claim.properties", len(prompts), is_pattern=bool(pattern))
    is_measured = any(one.kind in MEASURES for one in claimed)
    require("measures_are_enclosed", not is_measured or reckoned == "enclosed", "claim.arithmetic", reckoned)
    others = [one for one in claimed if one.kind == "agreement"]
    return Claim(
        is_enclosed=reckoned == "enclosed",
        is_detached=any(one is True for one in detached),
        architecture=size,
        lines=lines,
        programs=parsed,
        shape=shape,
        ablation=ablation,
        edges=edges,
        prompts=prompts,
        task=read_task(task, prompts, size),
        slices=_read_slices(weights, tensor_shapes(size, lines)),
        properties=claimed,
        other=_read_other(others[0], size, (shape, ablation, edges), parsed) if others else (),
        declared=read_declared(pattern[0], task, size) if pattern else None,
    )


def _read_circuit(
    value: object, where: str, size: Architecture, programs: Mapping[Head, Program]
) -> tuple[CircuitShape, Ablation, Edges]:
    shape, found = read_shape(value, where, size, programs), mapping(value, where)
    ablation = read_ablation(found["ablation"], f"{where}.ablation", size)
    edges = read_edges(found["edges"], f"{where}.edges", size, shape)
    require("edges_stand_in_order", all(a < b for a, b in pairwise(paid(edges))), where)
    is_read = not readers(programs).isdisjoint(live_nodes(edges, size))
    require("circuits_read_their_prompt", is_read or not ablation.is_zero, where)
    return shape, ablation, edges


def _read_other(
    claimed: Property,
    size: Architecture,
    circuit: tuple[CircuitShape, Ablation, Edges],
    programs: Mapping[Head, Program],
) -> Edges:
    """Read the circuit that agreement is claimed with; what of it leads to the logits is not the claim's."""
    (shape, ablation, own), where = circuit, claimed.kind
    wanted = "port" if shape.is_split else "head"
    require("agreement_has_one_granularity", claimed.granularity == wanted, where, claimed.granularity)
    edges = read_edges(list(claimed.circuits[0]), where, size, shape)
    require("agreeing_edges_stand_in_order", all(a < b for a, b in pairwise(paid(edges))), where)
    is_read = not readers(programs).isdisjoint(live_nodes(edges, size))
    require("agreeing_circuits_read_their_prompt", is_read or not ablation.is_zero, where)
    is_other = _live_edges(edges, size) != _live_edges(own, size)
    require("agreement_is_with_another_circuit", is_other, where)
    return edges


def _live_edges(edges: Edges, size: Architecture) -> Edges:
    live = live_nodes(edges, size)
    return tuple(edge for edge in paid(edges, NUMBER) if edge[1].reader in live)


def with_unreached(claim: Claim) -> Claim:
    """Return the claim with the number of prompts that the perturbation of robustness does not reach."""
    perturbed = [one for one in claim.properties if one.kind == "robustness"]
    return replace(claim, unreached=_unreached(claim, perturbed[0])) if perturbed else claim


def check_positions(entry: Property, shortest: int) -> None:
    """Demand that the prompt of which the least is read has the perturbed positions too."""
    fits = not isinstance(entry.positions, tuple) or max(entry.positions) < shortest
    require("positions_are_in_every_prompt", fits, entry.kind, entry.positions)


def check_format(found: object, wanted: str) -> None:
    """Demand that a file says which format it has."""
    require("format_is_known", found == wanted, "format", found, wanted)


def read_programs(value: object, where: str, size: Architecture) -> tuple[Lines, dict[Head, Program]]:
    """Return the lines of each program head's program, and what they spell."""
    lines: Lines = {}
    require("programs_look_behind_a_mask", size.is_masked or not mapping(value, where), where)
    for name, listed in mapping(value, where).items():
        require("program_keys_are_heads", _HEAD.fullmatch(name), where, name)
        layer, _, index = name.partition(".")
        is_head = int(layer) < size.layers and int(index) < size.heads
        require("programs_have_heads", is_head, where, name)
        lines[int(layer), int(index)] = tuple(text(line, where) for line in items(listed, where))
    parsed = {head: parse_program(one, f"program {head}", size.vocabulary) for head, one in lines.items()}
    return lines, parsed


def _read_slices(value: object, shapes: Shapes) -> dict[str, Slice]:
    slices: dict[str, Slice] = {}
    for name, entry in mapping(value, "claim.weights").items():
        where = f"tensor {named(name)}"
        listed, rows, digest = fields(entry, where, "shape", "rows", "digest")
        shape, wanted = integers(listed, where), shapes.get(name)
        require("tensors_are_known", shape == wanted, where, shape, wanted)
        kept = None if rows is None else integers(rows, where, 0)
        increase = not kept or (kept[-1] < shape[0] and all(a < b for a, b in pairwise(kept)))
        require("rows_increase_in_the_tensor", increase, where, kept, shape)
        slices[name] = Slice(shape, kept, read_digest(digest, where))
    return slices


def _read_properties(value: object, where: str, count: int, *, is_pattern: bool) -> tuple[Property, ...]:
    properties = tuple(
        read_property(entry, where, count, is_pattern=is_pattern) for entry in items(value, where)
    )
    require("something_is_claimed", properties, where)
    require("kinds_are_claimed_once", len({entry.kind for entry in properties}) == len(properties), where)
    return properties


def read_property(value: object, where: str, count: int, *, is_pattern: bool) -> Property:
    """Read one thing that is claimed, in the presence of so many prompts, or of those of a pattern."""
    name = kind(value, where)
    require("property_is_known", name in KINDS, where, name)
    if name in COUNTED:
        return Property(name, counted=read_counted(value, where, count, is_pattern=is_pattern))
    if name == "minimum":
        listed = items(fields(value, where, "kind", "circuits")[1], where)
        circuits = tuple(tuple(text(edge, where) for edge in items(one, where)) for one in listed)
        return Property("minimum", circuits=circuits)
    if name == "lesion identity":
        return _read_identity(value, where)
    if name == "agreement":
        _, told, edges = fields(value, where, "kind", "granularity", "edges")
        names = tuple(text(edge, where) for edge in items(edges, where))
        return Property("agreement", circuits=(names,), granularity=text(told, where))
    if name != "robustness":
        return Property(text(fields(value, where, "kind")[0], where))
    _, spelled, at, positions = fields(value, where, "kind", "epsilon", "at", "positions")
    epsilon = rational(spelled, f"{where}.epsilon")
    require("epsilon_is_positive", epsilon > 0, where, epsilon)
    return Property("robustness", epsilon, text(at, where), _read_places(positions, where))


def _read_identity(value: object, where: str) -> Property:
    _, base, artifact = fields(value, where, "kind", "base", "artifact")
    sizes, programs, tensors = fields(base, f"{where}.base", "architecture", "programs", "tensors")
    size = read_architecture(sizes, f"{where}.base.architecture")
    lines, _ = read_programs(programs, f"{where}.base.programs", size)
    before, after = _read_digests(tensors, f"{where}.base"), _read_digests(artifact, f"{where}.artifact")
    return Property("lesion identity", architecture=size, lines=lines, base=before, artifact=after)


def _read_digests(value: object, where: str) -> Digests:
    return tuple(sorted((name, read_digest(digest, where)) for name, digest in mapping(value, where).items()))


def _read_places(value: object, where: str) -> str | tuple[int, ...]:
    if value in ("last", "all"):
        return text(value, where)
    places = integers(value, where, 0)
    increase = bool(places) and all(a < b for a, b in pairwise(places))
    require("positions_increase", increase, where, places)
    return places
