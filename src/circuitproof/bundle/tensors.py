"""Which tensors a claim is about, and how they are written."""

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from circuitproof.declare.circuits.circuit import Circuit
from circuitproof.declare.circuits.graph import Head, Mlp, Node
from circuitproof.forward.frozen import WeightFile
from circuitproof.prove.claim import Claim
from circuitproof.text.canonical import Json


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


def extracts(claim: Claim) -> tuple[Extract, ...]:
    """Return what a checker must read, by name: tensors of kept nodes whole, embeddings by row."""
    return tuple(sorted(_extracts(claim), key=lambda extract: extract.name))


def safetensors_bytes(file: WeightFile, chosen: Sequence[Extract]) -> bytes:
    """Return the extracts as a safetensors file, in the order given."""
    header: dict[str, Json] = {}
    parts: list[bytes] = []
    end = 0
    for extract in chosen:
        content = file.raw(extract.name, extract.rows)
        shape = file.shapes()[extract.name]
        kept: list[Json] = list(shape) if extract.rows is None else [len(extract.rows), *shape[1:]]
        header[extract.name] = {"dtype": "F32", "shape": kept, "data_offsets": [end, end + len(content)]}
        parts.append(content)
        end += len(content)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(parts)


def _extracts(claim: Claim) -> Iterator[Extract]:
    return chosen_extracts(claim.frozen.file, claim.circuits(), _partial(claim))


def chosen_extracts(
    file: WeightFile, circuits: Sequence[Circuit], partial: Mapping[str, tuple[int, ...]]
) -> Iterator[Extract]:
    """Return the tensors of the nodes of some circuits, those of `partial` by row."""
    nodes = {node for circuit in circuits for node in circuit.live().nodes()}
    prefixes = tuple(prefix for node in nodes for prefix in _prefixes(node))
    for name in file.places:
        if name in partial:
            yield Extract(name, partial[name])
        elif name.startswith(prefixes):
            yield Extract(name, None)


def _partial(claim: Claim) -> Mapping[str, tuple[int, ...]]:
    prompts = claim.task.domain.prompts
    tokens = {token for prompt in prompts for token in prompt}
    candidates = set(claim.task.candidates)
    if claim.frozen.architecture.tied:
        tokens |= candidates
    return {
        "embed.token": tuple(sorted(tokens)),
        "embed.position": tuple(range(max(map(len, prompts)))),
        "logits.weight": tuple(sorted(candidates)),
        "logits.bias": tuple(sorted(candidates)),
    }


def _prefixes(node: Node) -> tuple[str, ...]:
    match node:
        case Head(layer, index):
            return (f"head.{layer}.{index}.", f"attention.{layer}.")
        case Mlp(layer):
            return (f"mlp.{layer}.",)
        case _:
            return ("logits.norm.",)
