"""Which tensors a claim is about, and how they are written."""

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from circuitproof.circuits.ablation import Zero, ablated_prompts
from circuitproof.circuits.graph import Head, Mlp, Node
from circuitproof.files.canonical import Json
from circuitproof.forward.frozen import BYTES_PER_NUMBER, WeightFile
from circuitproof.models.architecture import ROTARY_TABLES, Shapes
from circuitproof.proof.claim import Claim


@dataclass(frozen=True, slots=True)
class Extract:
    """A tensor of a model, or some of its rows."""

    name: str
    rows: tuple[int, ...] | None

    def to_json(self, file: WeightFile) -> Json:
        """Return what the claim says of it: the full shape, the rows, and the digest of the full tensor."""
        shape = file.shapes()[self.name]
        rows: Json = None if self.rows is None else list(self.rows)
        return {"shape": list(shape), "rows": rows, "digest": str(file.digest(self.name))}


def extracts(claim: Claim, tokens: frozenset[int]) -> tuple[Extract, ...]:
    """Return what a checker must read, by name: tensors of kept nodes whole, embeddings of tokens by row."""
    partial = _partial(claim, tokens.union(*map(set, ablated_prompts(claim.circuit.ablation))))
    nodes = {node for circuit in claim.circuits() for node in circuit.live().nodes()}
    if not isinstance(claim.circuit.ablation, Zero):
        nodes |= set(claim.frozen.graph.nodes())
    prefixes = tuple(prefix for node in nodes for prefix in _prefixes(node))
    names = [name for name in claim.frozen.file.places if name in partial or name.startswith(prefixes)]
    return tuple(Extract(name, partial.get(name)) for name in sorted(names))


def safetensors_bytes(file: WeightFile, chosen: Sequence[Extract]) -> bytes:
    """Return the extracts as a safetensors file, in the order given."""
    full = file.shapes()
    kept = {
        one.name: full[one.name] if one.rows is None else (len(one.rows), *full[one.name][1:])
        for one in chosen
    }
    return safetensors_header(kept) + b"".join(file.raw(one.name, one.rows) for one in chosen)


def safetensors_header(shapes: Shapes, metadata: Mapping[str, Json] | None = None) -> bytes:
    """Return what stands before the bytes of FP32 tensors that follow each other in the order given."""
    header: dict[str, Json] = {} if metadata is None else {"__metadata__": dict(metadata)}
    end = 0
    for name, shape in shapes.items():
        begin, end = end, end + BYTES_PER_NUMBER * prod(shape)
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text


def _partial(claim: Claim, tokens: frozenset[int]) -> Mapping[str, tuple[int, ...]]:
    candidates = sorted(claim.task.candidates)
    longest = max([claim.task.longest, *map(len, ablated_prompts(claim.circuit.ablation))])
    read = tokens.union(candidates) if claim.frozen.architecture.tied else tokens
    return {
        "embed.token": tuple(sorted(read)),
        **dict.fromkeys(("embed.position", *ROTARY_TABLES), tuple(range(longest))),
        "logits.weight": tuple(candidates),
        "logits.bias": tuple(candidates),
    }


def _prefixes(node: Node) -> tuple[str, ...]:
    match node:
        case Head(layer, index):
            return (f"head.{layer}.{index}.", f"attention.{layer}.")
        case Mlp(layer):
            return (f"mlp.{layer}.",)
        case _:
            return ("logits.norm.",)
