"""A bundle beside the model that it is said to be about."""

from pathlib import Path
from typing import Any

import pytest

import bundle_maker as maker
from bundle_maker import Bundle, fitting, proving
from circuitproof_check import model
from circuitproof_check.main import Outcome, check


def without(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take a rule about the model away."""
    honest = model.require
    monkeypatch.setattr(
        model, "require", lambda name, condition, *words: honest(name, condition or name == rule, *words)
    )


PROGRAM = {"0.0": ["default 1", "otherwise self"]}


def write_model(bundle: Bundle, folder: Path, **changes: Any) -> Path:
    """Write the model of a bundle."""
    declared = {"architecture": bundle.claim["architecture"], "alphabet": None, "programs": PROGRAM} | changes
    files = {"model.json": maker.as_bytes(declared), "weights.safetensors": maker.safetensors(bundle.tensors)}
    maker.seal(folder, files)
    return folder


def sliced(row: int = 1) -> tuple[Bundle, Bundle]:
    """Return a bundle with a few rows of a tensor, and one with the full tensor.

    The first kept row is taken from `row` of the full tensor; it is said to be row 1.
    """
    full, part = (proving(fitting(programs=PROGRAM), "equivalence") for _ in range(2))
    shape, numbers = part.tensors["logits.bias"]
    part.tensors["logits.bias"] = ((3,), [numbers[row], numbers[3], numbers[4]])
    part.claim["weights"]["logits.bias"]["rows"] = [1, 3, 4]
    part.pins.remove("tensors")
    assert shape == (6,)
    return full, part


def test_a_bundle_of_the_model_is_valid(tmp_path):
    """Full tensors by digest, kept rows by comparison."""
    full, part = sliced()
    assert check(part.write(tmp_path / "b"), write_model(full, tmp_path / "m"))[0] is Outcome.VALID


def _shape() -> tuple[Bundle, Bundle]:
    full, part = sliced()
    full.tensors["logits.bias"] = ((6, 1), full.tensors["logits.bias"][1])
    return full, part


def _digest() -> tuple[Bundle, Bundle]:
    full, part = sliced()
    full.tensors["logits.bias"][1][0] += 1.0
    return full, part


FORGERIES = {
    "shapes_are_of_the_model": (_shape, {}),
    "digests_are_of_the_model": (_digest, {}),
    "programs_are_of_the_model": (sliced, {"programs": {}}),
    "architecture_is_of_the_model": (sliced, {"architecture": maker.architecture(attention_scale="1/4")}),
}


@pytest.mark.parametrize("rule", FORGERIES)
def test_a_bundle_of_another_model_is_invalid(rule, tmp_path, monkeypatch):
    """Each breaks one rule; without the rule it passes."""
    make, changes = FORGERIES[rule]
    full, part = make()
    bundle, directory = part.write(tmp_path / "b"), write_model(full, tmp_path / "m", **changes)
    assert check(bundle, directory)[0] is Outcome.INVALID
    without(rule, monkeypatch)
    assert check(bundle, directory)[0] is Outcome.VALID


def test_rows_must_be_those_of_the_model(tmp_path, monkeypatch):
    """The row is put in the place of one that nothing reads, so only the comparison can tell."""
    full, part = sliced()
    shape, numbers = part.tensors["logits.bias"]
    part.tensors["logits.bias"] = ((shape[0] + 1,), [7.0, *numbers])
    part.claim["weights"]["logits.bias"]["rows"] = [0, 1, 3, 4]
    bundle, directory = part.write(tmp_path / "b"), write_model(full, tmp_path / "m")
    assert check(bundle)[0] is Outcome.VALID
    assert (
        "tensor logits.bias breaks the rule that rows are of the model: found 0"
        in check(bundle, directory)[1]
    )
    without("rows_are_of_the_model", monkeypatch)
    assert check(bundle, directory)[0] is Outcome.VALID


@pytest.mark.parametrize("is_there", [True, False])
def test_a_tensor_that_the_model_does_not_have_is_invalid(is_there, tmp_path):
    """There is nothing to compare it with."""
    full, part = sliced()
    _, numbers = full.tensors.pop("logits.bias")
    full.tensors |= {"logits.bias": ((6, 1), numbers)} if is_there else {}
    outcome, sentence = check(part.write(tmp_path / "b"), write_model(full, tmp_path / "m"))
    assert outcome is Outcome.INVALID
    assert sentence.startswith("tensor logits.bias breaks the rule that shapes are of the model: found (6,)")


def test_a_model_without_programs_need_not_name_them(tmp_path):
    """Its file has no such key."""
    bundle = proving(fitting(), "equivalence")
    declared = {"architecture": bundle.claim["architecture"], "alphabet": None}
    files = {"model.json": maker.as_bytes(declared), "weights.safetensors": maker.safetensors(bundle.tensors)}
    maker.seal(tmp_path / "m", files)
    assert check(bundle.write(tmp_path / "b"), tmp_path / "m")[0] is Outcome.VALID


def test_what_is_not_a_model_directory_is_a_failure(tmp_path):
    """Nothing can be said about the bundle's model."""
    bundle = proving(fitting(), "equivalence").write(tmp_path / "b")
    assert check(bundle, tmp_path / "b")[0] is Outcome.FAILURE
    assert check(bundle, tmp_path / "nowhere")[0] is Outcome.FAILURE


def calibrated(**base: str) -> Bundle:
    """Return a bundle that claims the lesion identity with a base that differs in some digests."""
    prover = fitting(programs=PROGRAM)
    table = {name: entry["digest"] for name, entry in maker.pinned(prover.bundle.tensors).items()}
    names = sorted(name for name in table if not name.startswith("head.0.0."))
    entry = {"kind": "lesion identity", "base": table | base, "artifact": table}
    children = [{"same": table[name]} for name in names]
    prover.answer(entry, "proved", {"split": "tensor", "children": children})
    return prover.bundle


def test_a_lesion_identity_holds_against_artifact_and_base(tmp_path):
    """Every tensor of both directories is digested again."""
    bundle = calibrated()
    model_path = write_model(bundle, tmp_path / "m")
    base = write_model(bundle, tmp_path / "base", programs={})
    assert check(bundle.write(tmp_path / "b"), model_path, base)[0] is Outcome.VALID


def test_tables_of_another_model_are_refused(tmp_path):
    """A changed tensor that the circuit does not read, on either side, and a tensor too many."""
    bundle = calibrated()
    honest = write_model(bundle, tmp_path / "honest")
    written = bundle.write(tmp_path / "b")
    shape, numbers = bundle.tensors["mlp.0.up.bias"]
    other = calibrated()
    other.tensors["mlp.0.up.bias"] = (shape, [number + 1 for number in numbers])
    wrong = write_model(other, tmp_path / "wrong")
    outcome, sentence = check(written, honest, wrong)
    assert outcome is Outcome.INVALID
    assert "base, tensor mlp.0.up.bias breaks the rule that tables are of the model" in sentence
    other = calibrated()
    other.tensors["extra"] = ((1,), [0.0])
    more = write_model(other, tmp_path / "more")
    outcome, sentence = check(written, honest, more)
    assert outcome is Outcome.INVALID
    assert "tables list the model" in sentence


def test_a_base_that_nobody_claims_is_refused(tmp_path):
    """Asking about a base wants a bundle that has one."""
    full, _ = sliced()
    base = write_model(full, tmp_path / "base")
    outcome, sentence = check(full.write(tmp_path / "b"), None, base)
    assert outcome is Outcome.INVALID
    assert "a base is claimed" in sentence


def test_a_base_that_is_no_model_cannot_be_judged(tmp_path):
    """A bundle is not a model directory."""
    bundle = calibrated()
    written = bundle.write(tmp_path / "b")
    outcome, sentence = check(written, None, written)
    assert outcome is Outcome.FAILURE
    assert "is not a model directory" in sentence
