"""Golden verdicts: all that the checker says, as JSON, of a claim of each kind and of one about a pattern.

`python tests/golden_verdicts.py` writes `tests/verdicts` anew. Whoever changes a file of it says why.
"""

import contextlib
import tempfile
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import measure_forgeries
import pattern_forgeries
from bundle_maker import Bundle
from circuitproof.bundle.files import write_bundle
from circuitproof.circuits.graph import Head
from circuitproof.files.canonical import readable_json
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.programs.text import parse
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.properties.agreement import Agreement
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.faithfulness import Faithfulness
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.properties.lesion_identity import identity_with
from circuitproof.proof.properties.minimum import Minimum
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.property import Property
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.properties.subset_minimality import SubsetMinimality
from circuitproof.tasks.alphabet import Alphabet
from circuitproof_check.main import Beside, inspect
from hand_models import (
    ADDED,
    ADDER,
    ADDER_TASK,
    DIRECT,
    IDENTITY,
    PLAIN,
    adder_claim,
    build,
    circuit_of,
    freeze,
)
from measures_oracle import counting

FOLDER = Path(__file__).parent / "verdicts"
BUNDLE, MODEL, BASE, TASK = Path("bundle"), Path("model"), Path("base"), Path("task.json")


def _about_the_adder(prop: Property, *, alphabet: Alphabet | None = None, **beside: Path) -> str:
    write_bundle(BUNDLE, prove(adder_claim(prop)))
    save_model(MODEL, StoredModel(build(ADDER), alphabet))
    TASK.write_bytes(readable_json(ADDER_TASK.to_json()))
    return inspect(BUNDLE, Beside(**beside)).to_json()


def _about(bundle: Bundle) -> str:
    return inspect(bundle.write(BUNDLE), Beside()).to_json()


def _about_a_base() -> str:
    sizes = replace(PLAIN, heads=2, biases=True)
    readout = {"head.0.0.value.weight": IDENTITY, "head.0.0.output.weight": IDENTITY}
    program = parse("default 0\nadd 1 when key_token == 3\notherwise self")
    before, after = build(ADDER, sizes), build({**ADDER, **readout}, sizes, {Head(0, 0): program})
    made = freeze(after)
    claim = Claim(made, circuit_of(ADDED, heads=2), ADDER_TASK, (identity_with(freeze(before), made),))
    write_bundle(BUNDLE, prove(claim))
    save_model(MODEL, StoredModel(after, None))
    save_model(BASE, StoredModel(before, None))
    return inspect(BUNDLE, Beside(against=MODEL, base=BASE)).to_json()


VERDICTS: dict[str, Callable[[], str]] = {
    "equivalence": lambda: _about_the_adder(Equivalence(), against=MODEL, task=TASK),
    "invariance": lambda: _about_the_adder(Invariance()),
    "necessity": lambda: _about_the_adder(Necessity(), alphabet=Alphabet(tuple("abcde")), against=MODEL),
    "robustness": lambda: _about_the_adder(Robustness(Fraction(1, 8)), against=MODEL),
    "faithfulness": lambda: _about_the_adder(Faithfulness(), task=TASK),
    "agreement": lambda: _about_the_adder(Agreement(circuit_of(DIRECT))),
    "subset minimality": lambda: _about_the_adder(SubsetMinimality()),
    "minimum": lambda: _about_the_adder(Minimum((circuit_of(ADDED),))),
    "accuracy": lambda: _about(counting(measure_forgeries.mistaken(2)).bundle),
    "loss": lambda: _about(measure_forgeries.stating("loss")),
    "logit difference": lambda: _about(measure_forgeries.stating("logit difference")),
    "recovered difference": lambda: _about(measure_forgeries.stating("recovered difference")),
    "lesion identity": _about_a_base,
    "pattern": lambda: _about(pattern_forgeries.honest()),
}
"""What is said of a claim, made in the current folder, compared with this or that."""


def file_of(kind: str) -> Path:
    """Return where a verdict is kept."""
    return FOLDER / f"{kind.replace(' ', '-')}.json"


def verdict(kind: str) -> str:
    """Return what the checker says of a claim of a kind; paths are relative to a folder of its own."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return VERDICTS[kind]() + "\n"


if __name__ == "__main__":
    for kind in VERDICTS:
        file_of(kind).write_text(verdict(kind))
