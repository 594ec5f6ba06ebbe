"""`circuitproof model` and `circuitproof install`: models from elsewhere."""

import json
import re
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from circuitproof.errors import ExitCode
from circuitproof.files.codec import to_json
from circuitproof.importers import hugging_face_comparison
from circuitproof.nn.checkpoint import StoredModel, load_model, save_model
from circuitproof.tasks.alphabet import TOY
from gpt2_files import gpt2_tensors, write_gpt2
from hand_models import quote_model
from places import COMPILED, DOCS

PROGRAM = "default 0\nadd 1 when key_token in {9, 10}\notherwise self\n"


@pytest.fixture
def stored(tmp_path):
    """Return the directory of a small model without programs."""
    save_model(tmp_path / "model", StoredModel(quote_model(programs={}), TOY))
    return tmp_path / "model"


def test_a_model_is_described_once_all_of_it_was_read(run, stored):
    """Sizes, names, what is exact, and the digests of its files."""
    code, out, err = run("model", stored)
    assert (code, err) == (0, "")
    assert "all finite" in out
    assert "every circuit of it can be computed exactly" in out
    assert "weights.safetensors" in out
    code, out, _ = run("model", stored, "--json")
    found = json.loads(out)
    tensors = load_file(stored / "weights.safetensors")
    assert code == 0
    assert (found["tensors"], found["parameters"]) == (
        len(tensors),
        sum(one.size for one in tensors.values()),
    )
    assert found["inexact"] is None


def test_an_infinite_weight_is_named(run, stored):
    """A model that no proof could be about is refused here already."""
    file = stored / "weights.safetensors"
    tensors = load_file(file)
    tensors["embed.token"][3, 0] = np.inf
    save_file(tensors, file)
    (stored / "manifest.json").unlink()
    code, _, err = run("model", stored, "--seal")
    assert code == 3
    assert "embed.token" in err
    assert not (stored / "manifest.json").exists()


@pytest.mark.parametrize("name", ["model.json", "weights.safetensors"])
def test_what_is_refused_is_not_sealed(run, stored, name):
    """A seal on files that are no model would vouch for nothing."""
    (stored / "manifest.json").unlink()
    (stored / name).write_bytes(b"{}")
    code, _, err = run("model", stored, "--seal")
    assert (code, name in err) == (3, True)
    assert not (stored / "manifest.json").exists()


def test_sealing_is_asked_for_and_done_once(run, stored):
    """A seal that is there is not replaced."""
    (stored / "manifest.json").unlink()
    code, _, err = run("model", stored)
    assert (code, "manifest.json" in err) == (3, True)
    assert run("model", stored, "--seal")[0] == 0
    code, _, err = run("model", stored, "--seal")
    assert (code, "already exists" in err) == (3, True)


def test_a_program_is_installed_from_its_file(run, stored, tmp_path):
    """Queries and keys are gone, all else is the same, and the model can be verified."""
    (tmp_path / "quotes.program").write_text(PROGRAM)
    code, out, err = run(
        "install",
        "--model",
        stored,
        "--program",
        f"0.0={tmp_path}/quotes.program",
        "--out",
        tmp_path / "with",
    )
    assert (code, err) == (0, "")
    assert "head 0.0" in out
    before, after = (load_file(path / "weights.safetensors") for path in (stored, tmp_path / "with"))
    gone = set(before) - set(after)
    assert gone
    assert all(re.match(r"head\.0\.0\.(query|key)\.", name) for name in gone)
    assert all(np.array_equal(before[name], after[name]) for name in after)
    assert len(load_model(tmp_path / "with").model.programs) == 1
    assert run("model", tmp_path / "with")[0] == 0


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("0.0", "want HEAD=FILE"),
        ("9.0=FILE", "is outside"),
        ("mlp 0=FILE", "is not a node"),
        ("0.0=FILE.no", "FILE.no"),
        ("0.0=OTHER", "names token 99"),
        ("0.0=LATIN", "is not UTF-8 text"),
    ],
)
def test_a_program_that_does_not_fit_is_refused(run, stored, tmp_path, given, sentence):
    """In one sentence, and nothing is written."""
    (tmp_path / "FILE").write_text(PROGRAM)
    (tmp_path / "OTHER").write_text(PROGRAM.replace("10", "99"))
    (tmp_path / "LATIN").write_bytes(b"default 0 \xff")
    asked = given.replace("=", f"={tmp_path}/")
    code, _, err = run("install", "--model", stored, "--program", asked, "--out", tmp_path / "with")
    assert code == (2 if sentence.startswith(("want HEAD", "is ou", "is not a node")) else 3)
    assert sentence in err
    assert not (tmp_path / "with").exists()


def test_the_page_makes_a_model_elsewhere(tmp_path):
    """Its program runs as it stands, and `circuitproof model` accepts what it wrote."""
    program = re.findall(r"```python\n(.*?)```", (DOCS / "models.md").read_text(), re.DOTALL)[0]
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path)  # noqa: S603  # our own page
    asked = [sys.executable, "-m", "circuitproof", "model", "mine", "--seal"]
    ended = subprocess.run(asked, check=False, cwd=tmp_path, capture_output=True, text=True)  # noqa: S603  # ours
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "all finite" in ended.stdout


def test_a_gpt2_is_imported_told_and_exported(run, tmp_path):
    """Its operators are told, a pattern is refuted by a prompt, and it goes back as it came."""
    source = write_gpt2(tmp_path / "source")
    code, out, err = run("import-hf", source, "--out", tmp_path / "model")
    assert (code, err) == (0, "")
    assert "parameters, tokens have names" in out
    assert "its logits were not compared with those of transformers; --compare does so" in out
    assert "LayerNorm has no exact value" in out
    assert run("model", tmp_path / "model")[0] == 0
    code, out, err = run("verify", "--model", tmp_path / "model", "--task", _task(tmp_path))
    assert code == ExitCode.REFUTED, err
    assert "refuted" in out
    code, out, _ = run("export-hf", "--model", tmp_path / "model", "--out", tmp_path / "back", "--json")
    assert (code, json.loads(out)["directory"]) == (0, str(tmp_path / "back"))
    assert (
        "as a Hugging Face GPT-2"
        in run("export-hf", "--model", tmp_path / "model", "--out", tmp_path / "more")[1]
    )
    back = load_file(tmp_path / "back" / "model.safetensors")
    assert all(np.array_equal(back[f"transformer.{name}"], one) for name, one in gpt2_tensors().items())


def test_an_import_says_how_far_the_logits_differ(run, tmp_path, monkeypatch):
    """As a line, and as JSON for programs."""
    found = hugging_face_comparison.LogitAgreement(
        positions=14, largest_logit=3.0, difference=1e-15, difference_fp32=1e-6
    )
    monkeypatch.setattr(hugging_face_comparison, "compare", lambda _source, _model, _device: found)
    source = write_gpt2(tmp_path / "source", tokenizer=None)
    code, out, _ = run("import-hf", source, "--out", tmp_path / "model", "--compare")
    assert code == 0
    assert "tokens have no names" in out
    assert (
        "logits at 14 positions differ from those of transformers by 1e-15 in FP64 and 1e-06 in FP32" in out
    )
    code, out, _ = run("import-hf", source, "--out", tmp_path / "other", "--compare", "--json")
    assert json.loads(out)["compared"] == to_json(found)


def test_logits_are_told_in_a_table_and_as_json(run, stored):
    """Several prompts at once, of the candidates that are asked for, exactly and as doubles."""
    asked = ("logits", "--model", stored, "--prompt", "<BOS> ' A", "--prompt", "1 10", "--candidates", "' 10")
    code, out, err = run(*asked)
    assert (code, err) == (0, "")
    for words in ("prompt 0: <BOS> ' A", 'prompt 1: <BOS> "', "0.3333333333333333", " 1/3 "):
        assert words in out
    code, out, _ = run(*asked, "--json")
    found = json.loads(out)
    assert (code, found["candidates"]) == (0, [9, 10])
    assert [one["logits"] for one in found["prompts"]] == [["1/3", "0"], ["0", "3/2"]]
    assert found["prompts"][0]["floats"] == [1 / 3, 0.0]
    assert "the largest 10 of 32" in run("logits", "--model", stored, "--prompt", "1 9")[1]


def test_recorded_logits_are_compared_within_a_declared_bound(run, stored, tmp_path):
    """Exit code 1 beyond it, exactly for an exact model; a bound of nothing is wrong usage."""
    row = [0.0] * 32
    row[9] = 0.25
    file = tmp_path / "logits.json"
    file.write_text(json.dumps({"tokens": [[1, 9, 5]], "logits": [row]}))
    code, out, _ = run("model", stored, "--compare", file)
    assert code == 0
    assert "exactly computed logits at 1 positions differ from the recorded ones by at most 0.0833333" in out
    assert "top-1 agrees at 1 of 1 positions" in out
    code, out, _ = run("model", stored, "--compare", file, "--within", "1/12")
    assert (code, "within the bound of 0.0833333" in out) == (0, True)
    code, out, _ = run("model", stored, "--compare", file, "--within", "0.0833", "--json")
    compared = json.loads(out)["compared"]
    assert (code, compared["is_within"], compared["exact"]) == (1, False, True)
    code, _, err = run("model", stored, "--within", "1")
    assert (code, "--compare" in err) == (2, True)
    code, _, err = run("model", stored, "--compare", file, "--within", "nan")
    assert (code, "--within is 'nan', want a rational" in err) == (3, True)


def test_a_compiled_program_is_imported_and_told(run, tmp_path):
    """With the replacement by its name and what it changes; the task stands beside the model."""
    code, out, err = run("import-tracr", COMPILED / "pair-balance.safetensors", "--out", tmp_path / "model")
    assert (code, err) == (0, "")
    assert "pair-balance, compiled by Tracr" in out
    assert "softmax by sparsemax: logits differ by at most" in out
    assert run("task", tmp_path / "model" / "task.json")[0] == 0
    found = run("import-tracr", COMPILED / "length.safetensors", "--out", tmp_path / "more", "--json")
    assert json.loads(found[1])["prompts"] == 120


@pytest.mark.skipif(find_spec("tracr") is not None, reason="Tracr is installed here")
def test_compiling_a_program_says_which_extra_it_needs(run, tmp_path):
    """Tracr and jax are no part of the product: only a program's name asks for them."""
    code, _, err = run("import-tracr", "length", "--out", tmp_path / "model")
    assert (code, "pip install 'circuitproof[tracr]'" in err) == (3, True)


def _task(folder):
    file = folder / "task.toml"
    file.write_text(
        'name = "marks"\nvocabulary = 11\ncandidates = [1, 2]\nanswers = [[1, 1], [2, 2]]\n'
        'pattern = "any{1..3} with exactly 1 of [1, 2]"\n'
    )
    return file
