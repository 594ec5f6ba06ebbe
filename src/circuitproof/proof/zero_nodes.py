"""Nodes that put out zero whatever they read, by weights or program; what lacks only these is the model."""

from collections.abc import Sequence

from circuitproof.circuits.ablation import Zero
from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Edge, Head, Mlp, Node
from circuitproof.forward.frozen import Frozen
from circuitproof.proof.claim import edges_of


def is_whole_model(frozen: Frozen, circuit: Circuit) -> bool:
    """Say whether each edge that a circuit lacks leads from or to a node that puts out zero.

    With an edge from a head its target must not lose the bias that the heads of a layer share, either.
    """
    lacked = [edge for edge in edges_of(frozen, circuit.graph) if edge not in circuit]
    silent = {node for node in frozen.graph.nodes() if lacked and is_silent(frozen, node)}
    lost = _lost_biases(frozen, circuit, lacked)
    return all(edge.reader in silent or (edge.source in silent and edge not in lost) for edge in lacked)


def is_silent(frozen: Frozen, node: Node) -> bool:
    """Say whether a node puts out zero whatever it reads."""
    match node:
        case Head(layer, index):
            program = frozen.programs.get(node)
            never = program is not None and program.never_attends
            name = f"head.{layer}.{index}"
            return (
                never or _is_zero(frozen, f"{name}.output.weight") or _maps_to_zero(frozen, f"{name}.value")
            )
        case Mlp(layer):
            up, down = f"mlp.{layer}.up", f"mlp.{layer}.down"
            is_mute = _has_no_bias(frozen, down)
            return is_mute and (_is_zero(frozen, f"{down}.weight") or _maps_to_zero(frozen, up))
        case _:
            return False


def _lost_biases(frozen: Frozen, circuit: Circuit, lacked: Sequence[Edge]) -> set[Edge]:
    """Return the edges from heads without which their target does not read the bias of the layer."""
    if not frozen.architecture.biases or not isinstance(circuit.ablation, Zero):
        return set()
    kept = {(one.source.layer, one.target) for one in circuit.edges if isinstance(one.source, Head)}
    layers = range(frozen.graph.layers)
    biased = {layer for layer in layers if not _is_zero(frozen, f"attention.{layer}.output.bias")}
    return {
        edge
        for edge in lacked
        if isinstance(edge.source, Head)
        and edge.source.layer in biased
        and (edge.source.layer, edge.target) not in kept
    }


def _maps_to_zero(frozen: Frozen, name: str) -> bool:
    return _is_zero(frozen, f"{name}.weight") and _has_no_bias(frozen, name)


def _has_no_bias(frozen: Frozen, name: str) -> bool:
    return not frozen.architecture.biases or _is_zero(frozen, f"{name}.bias")


def _is_zero(frozen: Frozen, name: str) -> bool:
    return not frozen.tensor(name).numbers.any()
