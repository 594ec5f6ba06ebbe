"""The transformer of a claim: sizes, operators, the tensors that follow from them, nodes and edges."""

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import NamedTuple, TypeAlias, cast

from .programs import Program
from .reading import boolean, fields, integer, items, kind, mapping, rational, require, text
from .work import NUMBER, OBJECT, SIZES, bound, key, paid, spend

_SIZES = ("vocabulary", "context", "layers", "heads", "width", "head_width", "mlp_width")
_FLAGS = ("tied", "biases", "logit_bias")
_OPERATORS = ("norm", "attention", "attention_scale", "activation")
_OPTIONS = ("rotary", "parallel", "mask", "outputs")

_NODE = re.compile(r"head (?P<layer>N)\.(?P<head>N)|mlp (?P<mlp>N)".replace("N", "0|[1-9][0-9]{0,8}"))

ROTATIONS = ("rotary.cos", "rotary.sin")

Shapes = dict[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Band:
    """The band norm; a side below the band is lifted continuously, or as the reference does."""

    low: Fraction
    high: Fraction
    is_continuous: bool


@dataclass(frozen=True, slots=True)
class LayerNorm:
    """The norm that divides by a standard deviation; it has no exact meaning."""

    epsilon: Fraction

    def __str__(self) -> str:
        return f"layer norm {self.epsilon}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """Sizes and operators; an activation without an exact meaning is a string."""

    vocabulary: int
    context: int
    layers: int
    heads: int
    width: int
    head_width: int
    mlp_width: int
    norm: Band | LayerNorm | None
    attention: str
    attention_scale: Fraction
    activation: Fraction | str
    """The slope below zero."""
    tied: bool
    biases: bool
    logit_bias: bool
    rotary: int = 0
    """How many coordinates of queries and keys positions rotate; if none, positions are learned."""
    is_parallel: bool = False
    """Whether an MLP reads what the heads of its layer read, and not what they put out."""
    is_masked: bool = True
    """Whether the keys of a query end at its own position."""
    outputs: int = 0
    """How many logits there are, where there is not one for each token."""

    @property
    def predicted(self) -> int:
        return self.outputs or self.vocabulary

    def reads(self, decided: int, prompt: tuple[int, ...]) -> int:
        """Return how many positions of a prompt, from the first, a decision at one of them reads."""
        return self.last_key(decided, prompt) + 1

    def last_key(self, position: int, prompt: tuple[int, ...]) -> int:
        """Return the last position to which a neural head attends from one."""
        return position if self.is_masked else len(prompt) - 1


def read_architecture(value: object, where: str) -> Architecture:
    """Read sizes and operators."""
    options = [name for name in _OPTIONS if name in mapping(value, where)]
    names = (*_SIZES, *_FLAGS, *_OPERATORS, *options)
    values = dict(zip(names, fields(value, where, *names), strict=True))
    sizes = {name: integer(values[name], f"{where}.{name}", name != "mlp_width") for name in _SIZES}
    for name, size in sizes.items():
        bound(size, SIZES[name], f"{where}.{name}")
    flags = {name: boolean(values[name], f"{where}.{name}") for name in _FLAGS}
    scale = rational(values["attention_scale"], f"{where}.attention_scale")
    require("scale_is_positive", scale > 0, where, scale)
    require("scale_is_a_number_of_FP32", _is_float32(scale), where, scale)
    attention = text(values["attention"], f"{where}.attention")
    require("attention_is_known", attention in ("sparsemax", "softmax"), where, attention)
    return Architecture(
        **sizes,
        **flags,
        norm=_read_norm(values["norm"], f"{where}.norm", sizes["width"]),
        attention=attention,
        attention_scale=scale,
        activation=_read_activation(values["activation"], f"{where}.activation"),
        rotary=_read_rotary(values["rotary"], where, sizes["head_width"]) if "rotary" in values else 0,
        is_parallel="parallel" in values and _read_parallel(values["parallel"], where),
        is_masked="mask" not in values or _read_mask(values["mask"], where),
        outputs=_read_outputs(values, where) if "outputs" in values else 0,
    )


def _read_rotary(value: object, where: str, head_width: int) -> int:
    rotary = integer(value, f"{where}.rotary", 2, head_width)
    require("rotated_coordinates_are_pairs", rotary % 2 == 0, where, rotary)
    return rotary


def _read_parallel(value: object, where: str) -> bool:
    require("parallel_is_true_or_left_out", value is True, where, value)
    return True


def _read_mask(value: object, where: str) -> bool:
    """Return that there is no mask, the only thing that is said of one."""
    require("mask_is_none_or_left_out", value == "none", where, value)
    return False


def _read_outputs(values: Mapping[str, object], where: str) -> int:
    outputs = integer(values["outputs"], f"{where}.outputs", 1)
    bound(outputs, SIZES["vocabulary"], f"{where}.outputs")
    require("outputs_are_not_as_many_as_tokens", outputs != values["vocabulary"], where, outputs)
    require("outputs_have_rows_of_their_own", values["tied"] is False, where, outputs)
    return outputs


def _is_float32(value: Fraction) -> bool:
    """Say whether a positive number is one of FP32: 24 binary digits at most, from 2^-149 and below 2^128."""
    over, under = value.numerator, value.denominator
    has_few_digits = over < (over & -over) << 24
    return has_few_digits and under & (under - 1) == 0 and under <= 1 << 149 and over < under << 128


def _read_norm(value: object, where: str, width: int) -> Band | LayerNorm | None:
    name = kind(value, where)
    require("norm_is_known", name in ("none", "band", "layer"), where, name)
    if name == "layer":
        epsilon = rational(fields(value, where, "kind", "epsilon")[1], f"{where}.epsilon")
        require("epsilon_of_a_norm_is_positive", epsilon > 0, where, epsilon)
        return LayerNorm(epsilon)
    if name == "band":
        _, *bounds, lift = fields(value, where, "kind", "low", "high", "lift")
        require("lift_is_known", lift in ("reference", "continuous"), where, lift)
        low, high = (rational(bound, where) for bound in bounds)
        require("band_is_a_band", 0 < low <= high, where, low, high)
        require("band_has_both_sides", width > 1, where, width)
        return Band(low, high, lift == "continuous")
    fields(value, where, "kind")
    return None


def _read_activation(value: object, where: str) -> Fraction | str:
    name = kind(value, where)
    require("activation_is_known", name in ("relu", "leaky relu", "gelu"), where, name)
    if name == "gelu":
        form = fields(value, where, "kind", "form")[1]
        require("form_of_gelu_is_known", form in ("exact", "tanh"), where, form)
        return f"gelu {form}"
    if name == "leaky relu":
        slope = rational(fields(value, where, "kind", "slope")[1], f"{where}.slope")
        require("slope_is_between_0_and_1", 0 < slope < 1, where, slope)
        return slope
    fields(value, where, "kind")
    return Fraction(0)


def tensor_shapes(size: Architecture, programs: Container[tuple[int, int]]) -> Shapes:
    """Return the shape of every tensor that a model with these program heads has."""
    spend(100 * size.layers * (8 + 8 * size.heads))
    width, predicted = size.width, size.predicted
    shapes: Shapes = {"embed.token": (size.vocabulary, width)} | _position_shapes(size)
    shapes |= _norm_shapes(size, "logits")
    shapes |= {} if size.tied else {"logits.weight": (predicted, width)}
    shapes |= {"logits.bias": (predicted,)} if size.logit_bias else {}
    for layer in range(size.layers):
        shapes |= _norm_shapes(size, f"attention.{layer}")
        shapes |= {f"attention.{layer}.output.bias": (width,)} if size.biases else {}
        if size.mlp_width:
            shapes |= _norm_shapes(size, f"mlp.{layer}")
            shapes |= _linear_shapes(size, f"mlp.{layer}.up", size.mlp_width, width)
            shapes |= _linear_shapes(size, f"mlp.{layer}.down", width, size.mlp_width)
        for index in range(size.heads):
            for role in ("value",) if (layer, index) in programs else ("query", "key", "value"):
                shapes |= _linear_shapes(size, f"head.{layer}.{index}.{role}", size.head_width, width)
            shapes[f"head.{layer}.{index}.output.weight"] = (width, size.head_width)
    return shapes


def _position_shapes(size: Architecture) -> Shapes:
    if not size.rotary:
        return {"embed.position": (size.context, size.width)}
    return dict.fromkeys(ROTATIONS, (size.context, size.rotary // 2))


def embedding(size: Architecture, token: int | None, position: int | None) -> list[tuple[str, int]]:
    """Return the rows whose sum is the embedding of a token at a position; what is left out has none."""
    tables = (("embed.token", token), ("embed.position", None if size.rotary else position))
    return [(table, row) for table, row in tables if row is not None]


def _linear_shapes(size: Architecture, name: str, out: int, into: int) -> Shapes:
    return {f"{name}.weight": (out, into)} | ({f"{name}.bias": (out,)} if size.biases else {})


def _norm_shapes(size: Architecture, name: str) -> Shapes:
    shape = (size.width,)
    return {} if size.norm is None else {f"{name}.norm.scale": shape, f"{name}.norm.shift": shape}


class Node(NamedTuple):
    """`embed` has stage 0, heads of layer L 2L + 1, `mlp L` 2L + 2; sorted in the order of computation.

    Where an edge ends, it may be a port of a head: 1 is its query, 2 its keys, 3 its values.
    """

    stage: int
    head: int = 0
    port: int = 0

    @property
    def layer(self) -> int:
        return (self.stage - 1) // 2

    @property
    def is_head(self) -> bool:
        return self.stage % 2 == 1

    @property
    def reader(self) -> "Node":
        """Return the node that reads at a port."""
        return Node(self.stage, self.head) if self.port else self

    def at(self, port: int) -> "Node":
        """Return one of the inputs of a head."""
        return Node(self.stage, self.head, port)


EMBED = Node(0)
PORTS = ("query", "key", "value")
QUERY, VALUE = 1, 3
Edge: TypeAlias = tuple[Node, Node]
"""The source and the target; sorting gives the order of a claim."""
Edges: TypeAlias = tuple[Edge, ...]


def is_before(source: Node, target: Node, size: Architecture) -> bool:
    """Say whether a node is of an earlier stage; heads and a parallel MLP of one layer are of one."""
    is_beside = size.is_parallel and source.is_head and not target.is_head and target.layer == source.layer
    return source.stage < target.stage and not is_beside


def logits_node(size: Architecture) -> Node:
    """Return the node that nothing reads; its stage is even, so that it is not taken for a head."""
    return Node(2 * size.layers + 2)


def node_of(name: str, size: Architecture) -> Node | None:
    """Return the node of a name, if there is one."""
    if name in ("embed", "logits"):
        return EMBED if name == "embed" else logits_node(size)
    if (found := _NODE.fullmatch(name)) is None:
        return None
    layer, head = int(found["mlp"] or found["layer"]), int(found["head"] or 0)
    node = Node(2 * layer + (2 if found["mlp"] else 1), head)
    is_there = node.is_head or size.mlp_width > 0
    return node if layer < size.layers and head < size.heads and is_there else None


def target_of(name: str, size: Architecture) -> Node | None:
    """Return the node or the port of a head that has a name, if there is one."""
    spelled, _, port = name.rpartition(" ")
    head = node_of(spelled, size) if port in PORTS else None
    return node_of(name, size) if head is None or not head.is_head else head.at(1 + PORTS.index(port))


def readers(programs: Mapping[tuple[int, int], Program]) -> frozenset[Node]:
    """Return what tells prompts apart by itself: `embed`, and heads that attend at some queries only."""
    varying = [place for place, program in programs.items() if not program.is_fixed]
    return frozenset({EMBED, *(Node(2 * layer + 1, head) for layer, head in varying)})


def live_nodes(edges: Edges, size: Architecture) -> set[Node]:
    """Return the nodes from which kept edges lead to the logits, and the logits."""
    live = {logits_node(size)}
    for source, target in sorted(paid(edges, NUMBER), reverse=True):
        live |= {source} if target.reader in live else set()
    return live


def constant_edges(edges: Edges, programs: Mapping[tuple[int, int], Program]) -> Edges:
    """Return the edges whose source puts out the same at every position of every prompt."""
    spend(NUMBER * len(edges))
    fed = set(readers(programs))
    for source, target in sorted(edges):
        fed |= {target.reader} if source in fed and target.port in (0, VALUE) else set()
    return tuple(edge for edge in edges if edge[0] not in fed)


def all_nodes(size: Architecture) -> list[Node]:
    """Return every node, in the order of computation."""
    spend(OBJECT * size.layers * (1 + size.heads))
    layers = range(size.layers)
    inner = [Node(2 * layer + 1, head) for layer in layers for head in range(size.heads)]
    blocks = [Node(2 * layer + 2) for layer in layers if size.mlp_width]
    return sorted([EMBED, *inner, *blocks, logits_node(size)])


def all_edges(size: Architecture, shape: "CircuitShape | None" = None) -> Edges:
    """Return every edge, those into heads as a shape of circuits has them."""
    nodes = all_nodes(size)
    spend(NUMBER * len(nodes) ** 2 * (len(PORTS) if shape and shape.is_split else 1))
    targets = [port for node in nodes for port in (shape.ports(node) if shape else [node])]
    return tuple(
        (source, target) for source in nodes for target in targets if is_before(source, target, size)
    )


@dataclass(frozen=True, slots=True)
class CircuitShape:
    """Whether circuits tell ports of heads apart, and the heads with a program, which read values only."""

    is_split: bool
    programs: Container[tuple[int, int]]

    def ports(self, node: Node) -> list[Node]:
        """Return where edges into a node end."""
        if not (self.is_split and node.is_head):
            return [node]
        is_program = (node.layer, node.head) in self.programs
        return [node.at(VALUE)] if is_program else [node.at(1 + port) for port in range(len(PORTS))]


def read_shape(
    value: object, where: str, size: Architecture, programs: Container[tuple[int, int]]
) -> CircuitShape:
    """Read sizes and granularity of a circuit."""
    names = ("layers", "heads", "mlps", "granularity", "ablation", "edges")
    layers, heads, mlps, told, *_ = fields(value, where, *names)
    found = (
        integer(layers, f"{where}.layers"),
        integer(heads, f"{where}.heads"),
        boolean(mlps, f"{where}.mlps"),
    )
    wanted = size.layers, size.heads, size.mlp_width > 0
    require("circuit_has_the_sizes", found == wanted, where, found, wanted)
    require("granularity_is_known", told in ("head", "port"), where, told)
    return CircuitShape(told == "port", programs)


def read_edges(names: object, where: str, size: Architecture, shape: CircuitShape) -> Edges:
    """Read edges that end where those of a shape do."""
    edges = tuple(_read_edge(name, where, size) for name in paid(items(names, where), 2 * OBJECT))
    strange = [target for _, target in edges if target not in shape.ports(target.reader)]
    require("edges_end_at_their_ports", not strange, where, len(strange))
    return edges


def key_of_edges(edges: Edges) -> bytes:
    """Return what stands for edges in sets."""
    spend(NUMBER * len(edges))
    return key([*chain.from_iterable((*source, *target) for source, target in edges)])


def smaller_circuits(
    edges: Edges, most: int, logits: Node, fed_by: Container[Node] | None = None
) -> Iterator[Edges]:
    """Return the circuits of at most `most` of these edges that have no dead edge, the empty one first.

    With `fed_by`, only those that one of these nodes feeds. Without an edge whose source reads nothing, such
    a circuit has still no dead edge: so adding edges to what already reaches the logits, one at a time,
    finds all of them. A circuit is kept as places of edges.
    """
    ordered = sorted(paid(edges, NUMBER))
    into: dict[Node, list[int]] = {}
    for place, edge in enumerate(ordered):
        into.setdefault(edge[1].reader, []).append(place)
    level: set[tuple[int, ...]] = {()}
    if fed_by is None:
        yield ()
    for count in range(1, most + 1):
        larger: set[tuple[int, ...]] = set()
        for kept in level:
            spend(NUMBER * count)
            read = {logits, *(ordered[place][0] for place in kept)}
            places = {place for node in read for place in into.get(node, ())}.difference(kept)
            spend((40 + NUMBER * count) * (1 + len(places)) + NUMBER * len(read))
            larger.update(tuple(sorted((*kept, place))) for place in places)
        level = larger
        found = (tuple(ordered[place] for place in kept) for kept in level)
        yield from sorted(
            kept for kept in found if fed_by is None or any(source in fed_by for source, _ in kept)
        )


def _read_edge(value: object, where: str, size: Architecture) -> Edge:
    name, _, other = text(value, where).partition(" -> ")
    source, target = node_of(name, size), target_of(other, size)
    require("edges_join_nodes", source and target, where, value)
    edge = cast("Edge", (source, target))
    require("edges_lead_forward", is_before(*edge, size), where, value)
    return edge


def name_of(edge: Edge, size: Architecture) -> str:
    """Return an edge as a claim spells it."""
    return " -> ".join(_node_name(node, size) for node in edge)


def _node_name(node: Node, size: Architecture) -> str:
    if node in (EMBED, logits_node(size)):
        return "embed" if node == EMBED else "logits"
    if node.port:
        return f"head {node.layer}.{node.head} {PORTS[node.port - 1]}"
    return f"head {node.layer}.{node.head}" if node.is_head else f"mlp {node.layer}"
