import json
import struct
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from safetensors.numpy import load

from circuitproof.bundle.tensors import Extract, extracts, safetensors_bytes
from circuitproof.circuits.graph import Head
from circuitproof.files.canonical import digest_bytes
from circuitproof.models.architecture import Architecture
from circuitproof.models.operators import BandNorm, Lift
from circuitproof.nn.transformer import Transformer
from circuitproof.proof.claim import Claim
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.faithfulness import Faithfulness
from circuitproof.proof.properties.property import Property
from hand_models import circuit_of, freeze, table_task
from models import PROGRAMS, random_model, tiny_architecture

TASK = table_task({(0, 3): 1, (2, 3, 0): 4}, candidates=(4, 1))
TOKENS = frozenset({0, 2, 3})
HEAD_PARTS = (
    "query.weight",
    "query.bias",
    "key.weight",
    "key.bias",
    "value.weight",
    "value.bias",
    "output.weight",
)


def claim_about(
    edges: list[str], sizes: Architecture, *properties: Property, programs=None
) -> tuple[Claim, Transformer]:
    """Return a claim about a random model of two layers of two heads, and the model."""
    model = random_model(sizes, programs=programs or {})
    circuit = circuit_of(edges, layers=2, heads=2)
    return Claim(freeze(model), circuit, TASK, properties or (Equivalence(),)), model


def rows_of(claim: Claim) -> dict[str, tuple[int, ...] | None]:
    """Return what is taken of each tensor."""
    return {extract.name: extract.rows for extract in extracts(claim, TOKENS)}


EMBEDDED = {"embed.token": (0, 2, 3), "embed.position": (0, 1, 2), "logits.weight": (1, 4)}


def test_a_direct_path_needs_only_embeddings_by_row():
    """The tokens and positions that occur, and the candidates, in increasing order."""
    claim, _ = claim_about(["embed -> logits"], tiny_architecture(biases=False))
    assert rows_of(claim) == EMBEDDED


def test_a_tied_model_needs_the_candidates_among_its_token_rows():
    """There is no output embedding of its own, and candidates need not occur in a prompt."""
    claim, _ = claim_about(["embed -> logits"], tiny_architecture(biases=False, tied=True))
    assert rows_of(claim) == {"embed.token": (0, 1, 2, 3, 4), "embed.position": (0, 1, 2)}


def test_kept_nodes_are_taken_whole_with_the_bias_that_heads_share():
    """And no tensor of another node."""
    edges = ["embed -> head 1.0", "head 1.0 -> mlp 1", "mlp 1 -> logits"]
    claim, _ = claim_about(edges, tiny_architecture())
    parts = {f"head.1.0.{part}" for part in HEAD_PARTS}
    parts |= {f"mlp.1.{part}" for part in ("up.weight", "up.bias", "down.weight", "down.bias")}
    expected = EMBEDDED | {"logits.bias": (1, 4)} | dict.fromkeys(parts | {"attention.1.output.bias"})
    assert rows_of(claim) == expected


def test_norms_are_those_of_kept_nodes_and_of_the_logits():
    """Each node has its own, shared by the heads of a layer."""
    norm = BandNorm(Fraction(1), Fraction(2), Lift.CONTINUOUS)
    claim, _ = claim_about(["embed -> mlp 0", "mlp 0 -> logits"], tiny_architecture(norm=norm))
    norms = {name for name in rows_of(claim) if ".norm." in name}
    assert norms == {f"{node}.norm.{part}" for node in ("mlp.0", "logits") for part in ("scale", "shift")}


def test_a_dead_edge_brings_no_tensors():
    """Nothing that is evaluated reads them."""
    edges = ["embed -> logits", "embed -> mlp 0", "embed -> head 0.0"]
    claim, _ = claim_about(edges, tiny_architecture(biases=False))
    assert rows_of(claim) == EMBEDDED


def test_a_node_that_reads_nothing_is_still_evaluated():
    """It carries its biases to the logits."""
    claim, _ = claim_about(["embed -> logits", "mlp 0 -> logits"], tiny_architecture())
    assert "mlp.0.up.weight" in rows_of(claim)


def test_a_program_head_has_no_queries_and_keys():
    """Its weights come from the claim's text."""
    edges = ["embed -> head 0.1", "head 0.1 -> logits"]
    claim, _ = claim_about(edges, tiny_architecture(), programs={Head(0, 1): PROGRAMS[Head(0, 1)]})
    assert {name for name in rows_of(claim) if name.startswith("head")} == {
        "head.0.1.value.weight",
        "head.0.1.value.bias",
        "head.0.1.output.weight",
    }


def test_faithfulness_takes_the_whole_model():
    """Every edge is evaluated then."""
    claim, model = claim_about(["embed -> logits"], tiny_architecture(), Faithfulness())
    assert set(rows_of(claim)) == set(model.named_slices())


@pytest.mark.parametrize("tied", [False, True])
def test_the_file_holds_the_rows_of_the_model_and_the_claim_their_digests(tied):
    """Read by the safetensors library, compared with torch's own numbers, bit by bit."""
    claim, model = claim_about(
        ["embed -> head 0.0", "head 0.0 -> logits"], replace(tiny_architecture(), tied=tied)
    )
    chosen = extracts(claim, TOKENS)
    found = load(safetensors_bytes(claim.frozen.file, chosen))
    slices = {name: view.detach().numpy() for name, view in model.named_slices().items()}
    assert [extract.name for extract in chosen] == sorted(found)
    for extract in chosen:
        full = slices[extract.name]
        wanted = full if extract.rows is None else full[list(extract.rows)]
        assert found[extract.name].dtype == np.float32
        assert np.array_equal(found[extract.name].view("u4"), np.ascontiguousarray(wanted).view("u4"))
        assert extract.to_json(claim.frozen.file) == {
            "shape": list(full.shape),
            "rows": None if extract.rows is None else list(extract.rows),
            "digest": str(digest_bytes(np.ascontiguousarray(full).tobytes())),
        }


def test_the_data_begin_where_eight_divides():
    """Readers that map the file want aligned numbers; the header is padded with spaces."""
    claim, _ = claim_about(["embed -> logits"], tiny_architecture())
    for chosen in ((Extract("embed.token", (1,)),), extracts(claim, TOKENS)):
        content = safetensors_bytes(claim.frozen.file, chosen)
        (length,) = struct.unpack("<Q", content[:8])
        assert length % 8 == 0
        assert set(json.loads(content[8 : 8 + length])) == {extract.name for extract in chosen}
