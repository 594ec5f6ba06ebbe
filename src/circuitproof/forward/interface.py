"""Where a circuit is perturbed: at a node's input or output, at some positions; and others' names for it.

| TransformerLens                              | ours                |
|----------------------------------------------|---------------------|
| `blocks.L.hook_resid_post` of the last layer | `logits input`      |
| `blocks.L.hook_mlp_in`, `blocks.L.hook_mlp_out` | `mlp L input`, `mlp L output` |
| `hook_embed`, `hook_pos_embed`, `blocks.0.hook_resid_pre` | `embed output` |

In a circuit each node reads its own sum of kept edges, so a residual stream between layers is not one place.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import EMBED, LOGITS, Graph, Mlp, Node
from circuitproof.circuits.spelling import parse_nodes
from circuitproof.errors import InputError
from circuitproof.models.operators import Mask
from circuitproof.tasks.domain import decided_at


class Side(StrEnum):
    """Where a stage can be disturbed."""

    INPUT = "input"
    """The sums that it reads, before its norm."""
    OUTPUT = "output"
    """What it hands on."""


class Span(StrEnum):
    """Positions that every prompt has."""

    LAST = "last"
    """The one that decides."""
    ALL = "all"
    """Every position that the decision reads, each perturbed in its own way."""


Positions: TypeAlias = Span | tuple[int, ...]

_HOOK = re.compile(r"blocks\.([0-9]{1,9})\.(hook_[a-z_]+|attn\.hook_[a-z_]+)")


@dataclass(frozen=True, slots=True)
class ReadSpan:
    """Where in a prompt is decided, and how many of its positions, from the first, are read for that."""

    decided: int
    count: int


def read_span(length: int, position: int, mask: Mask) -> ReadSpan:
    """Return what is read of a prompt that is decided at a position: without a mask all of it."""
    decided = decided_at(length, position)
    return ReadSpan(decided, decided + 1 if mask is Mask.CAUSAL else length)


@dataclass(frozen=True, slots=True)
class Interface:
    """A side of a node, and the positions at which it is perturbed."""

    node: Node = LOGITS
    side: Side = Side.INPUT
    positions: Positions = Span.LAST

    def __post_init__(self) -> None:
        if (self.node, self.side) in ((EMBED, Side.INPUT), (LOGITS, Side.OUTPUT)):
            raise InputError(
                f"{self} is no place to perturb: want a node's input or output inside the circuit"
            )
        if isinstance(self.positions, tuple) and (
            not self.positions or list(self.positions) != sorted(set(self.positions)) or self.positions[0] < 0
        ):
            raise InputError(
                f"positions {self.positions} are not distinct and increasing from 0, or there are none"
            )

    @property
    def is_final_residual(self) -> bool:
        """Say whether it is what the decision reads: the paper's place."""
        return self == FINAL_RESIDUAL

    def places(self, span: ReadSpan) -> tuple[int, ...]:
        """Return the positions of a prompt that are perturbed, in order."""
        match self.positions:
            case Span.LAST:
                return (span.decided,)
            case Span.ALL:
                return tuple(range(span.count))
            case _:
                return self.positions

    def spelled_positions(self) -> str:
        """Return the positions as `parse_positions` reads them."""
        return str(self.positions) if isinstance(self.positions, Span) else ",".join(map(str, self.positions))

    def __str__(self) -> str:
        return f"{self.node} {self.side}"


FINAL_RESIDUAL = Interface()


def parse_interface(spelled: str, graph: Graph, positions: Positions = Span.LAST) -> Interface:
    """Read a place such as `mlp 0 output`, or a TransformerLens hook that means one of ours."""
    if match := _HOOK.fullmatch(spelled):
        return _hooked(int(match[1]), match[2], graph, positions)
    if spelled in ("hook_embed", "hook_pos_embed"):
        return Interface(EMBED, Side.OUTPUT, positions)
    name, _, side = spelled.rpartition(" ")
    if side not in list(Side):
        raise InputError(
            f"{spelled!r} is no place to perturb; want a node and its side such as 'mlp 0 output', "
            "or a TransformerLens hook such as 'blocks.0.hook_mlp_out'"
        )
    nodes = parse_nodes(name, graph, "place to perturb")
    first, *others = nodes
    if others:
        raise InputError(f"{name!r} is {len(nodes)} nodes; perturb one of them, such as '{first} {side}'")
    return Interface(first, Side(side), positions)


def parse_positions(spelled: str) -> Positions:
    """Read `last`, `all`, or positions from 0 with commas between."""
    if spelled in list(Span):
        return Span(spelled)
    parts = spelled.split(",")
    if not all(part.strip().isdecimal() and part.isascii() for part in parts):
        raise InputError(f"positions are {spelled!r}, want 'last', 'all' or numbers such as '0,3'")
    return tuple(int(part) for part in parts)


def _hooked(layer: int, hook: str, graph: Graph, positions: Positions) -> Interface:
    if layer >= graph.layers:
        raise InputError(f"blocks.{layer} is outside {graph.layers} layers")
    is_first, is_last = layer == 0, layer == graph.layers - 1
    known = {
        "hook_mlp_in": (Mlp(layer), Side.INPUT),
        "hook_mlp_out": (Mlp(layer), Side.OUTPUT),
        **({"hook_resid_pre": (EMBED, Side.OUTPUT)} if is_first else {}),
        **({"hook_resid_post": (LOGITS, Side.INPUT)} if is_last else {}),
    }
    if hook in known:
        return Interface(*known[hook], positions)
    if hook.startswith("hook_resid"):
        reason = "in a circuit each later node reads its own sum there; name one, such as 'mlp 1 input'"
    elif hook == "hook_attn_out":
        reason = (
            f"it is the sum of {graph.heads} heads and a bias; name a head, such as 'head {layer}.0 output'"
        )
    elif hook.startswith("attn."):
        reason = (
            "inside attention products are not linear; want a head's side, such as "
            f"'head {layer}.0 input' or 'head {layer}.0 output'"
        )
    else:
        reason = "want hook_mlp_in, hook_mlp_out, or the first or last residual"
    raise InputError(f"blocks.{layer}.{hook} is no single place of ours: {reason}")


def refuse_misplaced(interface: Interface, circuit: Circuit, spans: Collection[ReadSpan]) -> None:
    """Refuse a place that a circuit does not have, or a position that is not read of some prompt."""
    if interface.node not in circuit.live().nodes():
        raise InputError(
            f"{interface} cannot be perturbed: the circuit does not use {interface.node}; keep an edge at it"
        )
    shortest = min(span.count for span in spans)
    if isinstance(interface.positions, tuple) and interface.positions[-1] >= shortest:
        raise InputError(
            f"position {interface.positions[-1]} is perturbed, but a prompt has only {shortest} tokens "
            "that its decision reads"
        )
