"""What a proof about every input of a one-layer model costs: seconds to prove and to check, bytes per prompt.

The models are seeded and have the layout of the gallery's row about addition; the task's answers are what the
circuit decides, so that all is proved. With folders of proofs as arguments, their bundles are rows too.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from safetensors.numpy import save_file

from circuitproof.bundle.files import write_bundle
from circuitproof.circuits.spelling import load_circuit
from circuitproof.files.reading import read_fields
from circuitproof.forward.frozen import open_model
from circuitproof.gallery.modular_addition import addition, fill_row
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.tasks.rules import AnswerTable
from circuitproof_check.main import Beside, Outcome, inspect
from timing import print_table, shown, timed

CIRCUIT = Path(__file__).parent.parent / "src/circuitproof/gallery/rows/pizza/nine-edges.json"
HEADS, HEAD_WIDTH, MLP = 4, 8, 128


def main() -> None:
    """Print the table."""
    seeded = (_seeded(modulus) for modulus in (11, 23, 41))
    given = (row for folder in sys.argv[1:] for row in _given(Path(folder)))
    columns = ("bundle", "prompts", "cells", "prove s", "check s", "bytes", "bytes per prompt")
    print_table("evidence about every input", columns, shown(row for rows in (seeded, given) for row in rows))


def _seeded(modulus: int) -> tuple[str, ...]:
    with TemporaryDirectory() as folder:
        at = Path(folder)
        save_file(_tensors(modulus), at / "weights.safetensors")
        fill_row(at / "weights.safetensors", at)
        claim = _claim(at / "model", modulus)
        battery, seconds = timed(lambda: prove(claim))
        write_bundle(at / "bundle", battery)
        return _row(f"seeded, modulo {modulus}", at / "bundle", f"{battery.cells}", f"{seconds:.2f}")


def _claim(model: Path, modulus: int) -> Claim:
    frozen, circuit, task = open_model(model), load_circuit(CIRCUIT), addition(modulus)
    found = prove(Claim(frozen, circuit, task, (Equivalence(),))).folded.of(circuit)
    decided = tuple(task.candidates[one.winner] for one in found)
    own = replace(task, answer=AnswerTable(decided))
    return Claim(frozen, circuit, own, (Equivalence(), Robustness(Fraction(1, 10**9))))


def _tensors(modulus: int) -> dict[str, np.ndarray]:
    draw, width = np.random.default_rng(modulus), HEADS * HEAD_WIDTH
    shapes = {
        "embed.W_E": (width, modulus),
        "pos_embed.W_pos": (2, width),
        "blocks.0.attn.W_V": (HEADS, HEAD_WIDTH, width),
        "blocks.0.attn.W_O": (width, width),
        "blocks.0.mlp.W_in": (MLP, width),
        "blocks.0.mlp.b_in": (MLP,),
        "blocks.0.mlp.W_out": (width, MLP),
        "blocks.0.mlp.b_out": (width,),
        "unembed.W_U": (width, modulus),
    }
    return {name: draw.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def _given(folder: Path) -> Iterator[tuple[str, ...]]:
    for record in sorted(folder.glob("*/proved.json")):
        fields = read_fields(record)
        seconds = f"{fields.number('seconds', above=-1):.2f}"
        yield _row(record.parent.name, record.parent / "bundle", f"{fields.integer('cells')}", seconds)


def _row(name: str, bundle: Path, cells: str, seconds: str) -> tuple[str, ...]:
    report, checking = timed(lambda: inspect(bundle, Beside()))
    assert report.outcome in (Outcome.VALID, Outcome.REFUTED), report.reason  # noqa: S101  # a bundle that does not hold has no cost
    size = sum(file.stat().st_size for file in bundle.iterdir())
    prompts = str(report.claim["prompts"]).removesuffix(" prompts")
    each = f"{size / int(prompts):,.0f}" if prompts.isdecimal() else ""  # a pattern has too many to count so
    return (name, prompts, cells, seconds, f"{checking:.2f}", f"{size:,}", each)


if __name__ == "__main__":
    main()
