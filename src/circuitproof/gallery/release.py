"""The layout of the paper's public release: a folder with weights, programs and circuits as JSON."""

from pathlib import Path

from circuitproof.circuits.spelling import load_circuit
from circuitproof.files.canonical import readable_json, write_file
from circuitproof.importers.release import import_release

_MATCHED = "quote_close_matched"


def fill_row(weights: Path, folder: Path) -> None:
    """Write the model directory with its own circuit, and beside it the release's circuit of five edges."""
    import_release(weights, folder / "model")
    if (file := weights / _MATCHED / "circuit.json").exists():
        write_file(folder / "five-edges.json", readable_json(load_circuit(file).to_json()))
