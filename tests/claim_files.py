"""A claims file about a model that was made by hand, with everything that it names beside it."""

from pathlib import Path

from circuitproof.files.canonical import digest_file, readable_json
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.tasks.alphabet import TOY
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


ARTIFACT = """
name = "artifact"

[models.artifact]
path = "artifact"
sha256 = "ARTIFACT"

[models.base]
path = "base"
sha256 = "BASE"

[models.changed]
path = "changed"
sha256 = "CHANGED"

[[claims]]
name = "fewest"
model = "artifact"
base = "base"
task = "quotes"
circuit = "circuit.json"
minimum = ["circuit.json"]
[claims.expected]
equivalence = "proved"
minimum = "proved"
"lesion identity" = "proved"

[[claims]]
name = "not its base"
model = "artifact"
base = "changed"
task = "quotes"
expected = { "lesion identity" = "refuted" }
"""
"""Claims about all circuits of a model, and about the models that it was and was not built on."""


def write_artifact_claims(folder: Path, text: str = ARTIFACT) -> Path:
    """Write the claims about an artifact, its circuit and both models; return where the file is.

    The artifact and its base differ in the readout of the program head. A third model, `changed`, differs
    from the base in an MLP too.
    """
    zero = [[0, 0], [0, 0]]
    silent = {"head.0.0.output.weight": zero}
    models = {
        "artifact": quote_model(),
        "base": quote_model(silent),
        "changed": quote_model({**silent, "mlp.0.up.weight": [[1, 0], [0, 0]]}),
    }
    for name, model in models.items():
        if not (folder / name).exists():
            save_model(folder / name, StoredModel(model, TOY))
    (folder / "circuit.json").write_bytes(readable_json(circuit_of(QUOTE_EDGES).to_json()))
    for name in models:
        text = text.replace(name.upper(), str(digest_file(folder / name / "weights.safetensors")))
    file = folder / "claims.toml"
    file.write_text(text)
    return file
