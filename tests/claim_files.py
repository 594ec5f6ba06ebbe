"""A claims file about a model that was made by hand, with everything that it names beside it."""

from pathlib import Path

from circuitproof.declare.tasks.alphabet import TOY
from circuitproof.lab.model.checkpoint import StoredModel, save_model
from circuitproof.text.canonical import digest_file, readable_json
from hand_models import QUOTE_EDGES, circuit_of, quote_model

CLAIMS = """
name = "toy"

[models.toy]
path = "model"
sha256 = "DIGEST"

[[claims]]
name = "quotes"
model = "toy"
task = "quotes"
circuit = "circuit.json"
epsilon = "1/100"
[claims.expected]
equivalence = "proved"
necessity = "proved"
robustness = "proved"

[[claims]]
name = "brackets"
model = "toy"
task = "brackets"
expected = { equivalence = "refuted" }
"""


def write_claims(folder: Path, text: str = CLAIMS) -> Path:
    """Write a claims file with its circuit, and its model unless that is there; return where it is."""
    if not (folder / "model").exists():
        save_model(folder / "model", StoredModel(quote_model(), TOY))
    (folder / "circuit.json").write_bytes(readable_json(circuit_of(QUOTE_EDGES).to_json()))
    file = folder / "claims.toml"
    file.write_text(text.replace("DIGEST", str(digest_file(folder / "model" / "weights.safetensors"))))
    return file


def changed(before: str, after: str) -> str:
    """Return the claims with a place of them changed, which must be there."""
    assert before in CLAIMS
    return CLAIMS.replace(before, after, 1)
