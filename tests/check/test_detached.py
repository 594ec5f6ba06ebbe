"""Bundles that name their tensors and hold none: judged against the model, and incomplete without it."""

import json
import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bundle_maker as maker
from bundle_maker import Bundle, fitting, proving
from circuitproof_check import reading, tensors, work
from circuitproof_check.main import Beside, Outcome, check, inspect
from rule_removal import without

UNHELD = "the bundle holds no weights: give the model with --against"


@pytest.fixture(autouse=True)
def _allowed():
    """Leave enough operations to tests that compute without a check."""
    yield
    work.allow(10**12)


def detached(rows: list[int] | None = None) -> Bundle:
    """Return a bundle that holds no weights, and names some rows of one tensor if told."""
    bundle = proving(fitting(), "equivalence", "necessity")
    bundle.claim |= {"detached": True, "weights": maker.pinned(bundle.tensors)}
    bundle.claim["weights"]["logits.bias"]["rows"] = rows
    bundle.pins.remove("tensors")
    bundle.tamper = lambda files: files.pop("weights.safetensors") and None
    return bundle


def write_model(bundle: Bundle, folder: Path, **changes: Any) -> Path:
    """Write the model that a bundle is about."""
    declared = {"architecture": bundle.claim["architecture"], "alphabet": None, "programs": {}} | changes
    files = {"model.json": maker.as_bytes(declared), "weights.safetensors": maker.safetensors(bundle.tensors)}
    maker.seal(folder, files)
    return folder


@pytest.mark.parametrize("rows", [None, [1, 3, 4]])
def test_a_detached_bundle_is_judged_by_the_tensors_of_the_model(rows, tmp_path):
    """It has four files, and the verdict is that of the bundle that holds its weights."""
    bundle = detached(rows)
    folder, model = bundle.write(tmp_path / "b"), write_model(bundle, tmp_path / "m")
    assert {file.name for file in folder.iterdir()} == {
        "claim.json",
        "domain.json",
        "certificate.json",
        "manifest.json",
    }
    whole = proving(fitting(), "equivalence", "necessity").write(tmp_path / "whole")
    assert check(folder, model) == check(whole, model)
    assert inspect(folder, Beside(model)).claim["detached"] is True
    assert "detached" not in inspect(whole, Beside(model)).claim


def test_without_a_model_it_is_incomplete_and_says_what_to_give(tmp_path):
    """Nothing is known of the tensors; one clear sentence says so."""
    bundle = detached()
    assert check(bundle.write(tmp_path / "b")) == (Outcome.INCOMPLETE, UNHELD)


def test_its_task_is_compared_though_no_model_is_given(tmp_path):
    """What can be told without weights is told."""
    (tmp_path / "task.json").write_text(json.dumps({"name": "other"}))
    report = inspect(detached().write(tmp_path / "b"), Beside(task=tmp_path / "task.json"))
    assert report.outcome is Outcome.FAILURE
    assert "task.json" in report.reason


def _changed_tensor(bundle: Bundle) -> None:
    bundle.tensors["logits.bias"][1][0] += 1.0


def _lacking_tensor(bundle: Bundle) -> None:
    del bundle.tensors["logits.bias"]


def _reshaped_tensor(bundle: Bundle) -> None:
    bundle.tensors["logits.bias"] = ((6, 1), bundle.tensors["logits.bias"][1])


def _not_finite(bundle: Bundle) -> None:
    bundle.tensors["logits.bias"][1][0] = float("inf")
    bundle.claim["weights"] = maker.pinned(bundle.tensors)


OTHERS: dict[str, tuple[Callable[[Bundle], None], dict[str, Any], str]] = {
    "one changed tensor": (_changed_tensor, {}, "tensor logits.bias breaks the rule that digests are of the"),
    "a missing tensor": (_lacking_tensor, {}, "tensor logits.bias breaks the rule that shapes are of the"),
    "a tensor of another shape": (_reshaped_tensor, {}, "breaks the rule that shapes are of the model"),
    "a number that is none": (_not_finite, {}, "breaks the rule that numbers are finite"),
    "another architecture": (
        lambda _: None,
        {"architecture": maker.architecture(attention_scale="1/4")},
        "breaks the rule that architecture is of the model",
    ),
    "other programs": (
        lambda _: None,
        {"programs": {"0.0": ["default 1", "otherwise self"]}},
        "breaks the rule that programs are of the model",
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_model_makes_it_invalid(name, tmp_path):
    """The digests of the claim say which model is meant; no tensor of another is used."""
    change, declared, words = OTHERS[name]
    bundle = detached()
    change(bundle)
    outcome, sentence = check(bundle.write(tmp_path / "b"), write_model(bundle, tmp_path / "m", **declared))
    assert outcome is Outcome.INVALID
    assert words in sentence


def test_only_its_digest_tells_a_changed_tensor(tmp_path, monkeypatch):
    """A number that moves no decision; without the rule about digests the other model passes."""
    bundle = detached([1, 3, 4])
    numbers = bundle.tensors["logits.bias"][1]
    numbers[0] += 1.0
    folder, model = bundle.write(tmp_path / "b"), write_model(bundle, tmp_path / "m")
    assert "digests are of the model" in check(folder, model)[1]
    without("digests_are_of_the_model", monkeypatch)
    assert check(folder, model)[0] is Outcome.VALID


def test_one_that_holds_weights_all_the_same_is_invalid(tmp_path, monkeypatch):
    """They would be looked at by nobody; without the rule nothing else refuses it."""
    bundle = detached()
    bundle.tamper = lambda files: files.update({"weights.safetensors": b"anything"})
    folder, model = bundle.write(tmp_path / "b"), write_model(bundle, tmp_path / "m")
    outcome, sentence = check(folder, model)
    assert outcome is Outcome.INVALID
    assert sentence == "bundle breaks the rule that weights are here unless detached: found True"
    without("weights_are_here_unless_detached", monkeypatch)
    assert check(folder, model)[0] is Outcome.VALID


def test_weights_beside_it_that_no_manifest_lists_are_refused(tmp_path):
    """A file that is there and not listed makes any bundle invalid."""
    bundle = detached()
    folder, model = bundle.write(tmp_path / "b"), write_model(bundle, tmp_path / "m")
    shutil.copy(model / "weights.safetensors", folder)
    outcome, sentence = check(folder, model)
    assert outcome is Outcome.INVALID
    assert 'bundles have their files alone: found ("weights.safetensors")' in sentence


def test_a_bundle_without_weights_that_does_not_say_so_is_invalid(tmp_path):
    """Also where the model is given: what a claim leaves out is not made up."""
    bundle = detached()
    del bundle.claim["detached"]
    folder, model = bundle.write(tmp_path / "b"), write_model(bundle, tmp_path / "m")
    for outcome, sentence in (check(folder), check(folder, model)):
        assert outcome is Outcome.INVALID
        assert sentence == "bundle breaks the rule that weights are here unless detached: found False"


@pytest.mark.parametrize("told", [False, None, 1, "true", [True]])
def test_what_says_that_it_is_detached_is_true_or_left_out(told, tmp_path):
    """One spelling: no claim of before format changes by a byte, and no reader guesses."""
    bundle = detached()
    bundle.claim["detached"] = told
    outcome, sentence = check(bundle.write(tmp_path / "b"), write_model(bundle, tmp_path / "m"))
    assert outcome is Outcome.INVALID
    assert "detached is true or left out" in sentence


@pytest.mark.parametrize("name", ["weights.safetensors", "model.json"])
def test_a_model_reached_through_a_link_is_not_read(name, tmp_path):
    """What is read is what was sealed there, not what a link leads to."""
    bundle = detached()
    folder, model = bundle.write(tmp_path / "b"), write_model(bundle, tmp_path / "m")
    (model / name).rename(tmp_path / name)
    (model / name).symlink_to(tmp_path / name)
    outcome, sentence = check(folder, model)
    assert outcome is Outcome.FAILURE
    assert name in sentence


def test_a_file_of_weights_larger_than_the_claim_declares_is_not_read(tmp_path):
    """Its size is bounded by the claim's architecture before any of it is read."""
    bundle = detached()
    folder, model = bundle.write(tmp_path / "b"), write_model(bundle, tmp_path / "m")
    with (model / "weights.safetensors").open("ab") as file:
        file.truncate(1 << 33)
    report = inspect(folder, Beside(model))
    assert report.outcome is Outcome.INCOMPLETE
    assert "the size of" in report.reason


@pytest.mark.parametrize("content", [b"", b"123", b"\xff" * 8, b"\x10" + bytes(7) + b"{}"])
def test_a_file_that_holds_no_tensors_is_refused(content, tmp_path):
    """Too short for a length, a header that ends after the file, one that is cut."""
    bundle = detached()
    folder, model = bundle.write(tmp_path / "b"), write_model(bundle, tmp_path / "m")
    declared = (model / "model.json").read_bytes()
    maker.seal(model, {"model.json": declared, "weights.safetensors": content})
    assert check(folder, model)[0] is Outcome.INVALID


def test_tensors_that_are_streamed_are_those_that_are_read(tmp_path, monkeypatch):
    """In parts of whatever size, any rows: the same bytes, shapes and digests as from the file at once."""
    numbers = {"a": ((7, 3), [float(n) for n in range(21)]), "b": ((5,), [0.5] * 5), "c": ((), [2.0])}
    content = maker.safetensors(numbers)
    maker.seal(tmp_path, {"file": content})
    at_once = tensors.read_safetensors(content, "file")
    rows = {"a": [0, 2, 6], "b": [4]}
    for chunk in (1, 4, 12, 13, 24, 1 << 20):
        monkeypatch.setattr(tensors, "CHUNK", chunk)
        work.allow(10**9)
        slices = {name: tensors.Slice(numbers[name][0], tuple(rows[name]), "") for name in rows}
        with reading.open_sealed(tmp_path).streamed("file", 10**6) as file:
            found = tensors.stream_safetensors(file, slices, "file")
        assert {name: one.shape for name, one in found.items()} == {n: t.shape for n, t in at_once.items()}
        assert [found[n].digest for n in found] == [reading.sha256(at_once[n].content) for n in found]
        for name, wanted in rows.items():
            kept = [found[name].kept.row(place) for place in range(len(wanted))]
            assert kept == [at_once[name].row(row) for row in wanted]
        assert found["c"].kept.content == b""


def test_a_file_is_read_to_its_end_before_its_digest_is_compared(tmp_path):
    """Bytes that nobody asked for count as well."""
    maker.seal(tmp_path, {"file": b"12345678"})
    sealed = reading.open_sealed(tmp_path)
    with sealed.streamed("file", 100) as file:
        assert file.read(3) == b"123"
    (tmp_path / "file").write_bytes(b"12345679")
    with pytest.raises(reading.ForgedError), sealed.streamed("file", 100) as file:
        file.read(3)
    with pytest.raises(reading.UnreadableError), sealed.streamed("file", 100) as file:
        file.read(9)


def test_only_the_rows_that_are_wanted_are_kept(tmp_path):
    """A model may be far larger than what a claim reads of it: what is in memory is that, and a part."""
    shape, size = (1 << 16, 64), 1 << 24
    header = maker.as_bytes({"a": {"dtype": "F32", "shape": list(shape), "data_offsets": [0, size]}})
    maker.seal(tmp_path, {"file": len(header).to_bytes(8, "little") + header + bytes(size)})
    work.allow(10**9)
    tracemalloc.start()
    with reading.open_sealed(tmp_path).streamed("file", 1 << 25) as file:
        found = tensors.stream_safetensors(file, {"a": tensors.Slice(shape, (0, 9, 65535), "")}, "file")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found["a"].kept.content == bytes(3 * 256)
    assert peak < 4 << 20


def test_the_tensors_of_the_model_count_as_bytes_of_the_bundle(tmp_path, monkeypatch):
    """A detached bundle is small; who names the model vouches for what is read of it."""
    bundle = detached()
    folder, model = bundle.write(tmp_path / "b"), write_model(bundle, tmp_path / "m")
    assert inspect(folder, Beside(model)).outcome is Outcome.VALID
    taken = work.spent()
    size = sum((folder / f"{name}.json").stat().st_size for name in ("claim", "domain", "certificate"))
    monkeypatch.setattr(work, "PER_BYTE", 1)
    monkeypatch.setattr(work, "ONCE", taken - 1 - size)
    assert inspect(folder, Beside(model)).outcome is Outcome.VALID
    assert inspect(folder, Beside(model, operations=taken)).outcome is Outcome.VALID
    assert inspect(folder, Beside(model, operations=taken - 1)).outcome is Outcome.INCOMPLETE
