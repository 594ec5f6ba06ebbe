"""The command that removes norms: its tables, its JSON, its refusals."""

import json

from circuitproof.nn.checkpoint import load_model
from norm_recipes import write_norm_recipe


def test_a_removal_shows_norms_accuracy_and_fold(run, tmp_path):
    """Everything that a reader asks about a removal, in two tables and two sentences."""
    code, out, _ = run("remove-norm", write_norm_recipe(tmp_path), "--out", tmp_path / "run")
    assert code == 0
    for words in ("mlp.0.norm", "attention.0.norm", "logits.norm", "deviation", "norms left", "folded"):
        assert words in out
    assert out.count("/128") == 8  # two tasks: with norms, at two evaluations, folded
    assert "folded in FP64, compared in FP32 at 1536 positions: largest error of a logit" in out
    assert out.rstrip().endswith(f"{tmp_path / 'run' / 'model'} holds the model without norms")


def test_a_removal_as_json_says_the_same(run, tmp_path):
    """For programs; the progress bar does not get between. A model may be given."""
    recipe = write_norm_recipe(tmp_path)
    run("remove-norm", recipe, "--out", tmp_path / "first")
    source = tmp_path / "first" / "source" / "model"
    code, out, _ = run("remove-norm", recipe, "--model", source, "--out", tmp_path / "run", "--json")
    assert code == 0
    found = json.loads(out)
    assert [norm["norm"] for norm in found["norms"]] == ["attention.0.norm", "mlp.0.norm", "logits.norm"]
    assert [evaluation["step"] for evaluation in found["evaluations"]] == [5, 10]
    assert set(found["fold"]) == {"error", "unties", "adds_biases", "adds_logit_bias", "source", "folded"}
    assert not load_model(tmp_path / "run" / "model").model.architecture.has_norm
    first, second = ((tmp_path / name / "model" / "weights.safetensors") for name in ("first", "run"))
    assert first.read_bytes() == second.read_bytes()


def test_what_folding_changed_is_said(run, tmp_path):
    """A tied output embedding is untied, and the user is told."""
    changes = {"architecture.tied": "true", "architecture.biases": "false"}
    code, out, _ = run("remove-norm", write_norm_recipe(tmp_path, {}, changes), "--out", tmp_path / "run")
    assert code == 0
    assert "; the output embedding is no longer tied; heads and MLPs have biases now; the logits" in out


def test_a_fold_that_costs_too_much_has_exit_code_3(run, tmp_path):
    """Nothing is printed where results go."""
    recipe = write_norm_recipe(tmp_path, {"fold.relative_error": "1e-30"})
    code, out, err = run("remove-norm", recipe, "--out", tmp_path / "run")
    assert (code, out) == (3, "")
    assert "circuitproof: fold refused: the relative error is" in err
