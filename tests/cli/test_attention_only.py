"""Models without MLPs: trained, looked at, searched, proved, shown, and refused where MLPs are needed."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from circuitproof.errors import InputError
from circuitproof.models.operators import Attention, Gelu, GeluForm, LayerNorm
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.nn.transformer import Transformer
from circuitproof.tasks.alphabet import TOY
from circuitproof_check.main import Beside, Outcome, inspect
from circuitproof_lab.train.remove_norm import make_fading
from hand_models import QUOTE_EDGES, QUOTE_SIZES, quote_model
from places import RECIPES

SIZES = replace(QUOTE_SIZES, mlp_width=0)
TRAINED = (
    ("mlp_width = 64", "mlp_width = 0"),
    ("steps = 300", "steps = 3"),
    ("evaluate_every = 100", "evaluate_every = 3"),
)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Go where a model is that closes quotes with one head and has no MLPs, and a circuit of it."""
    monkeypatch.chdir(tmp_path)
    save_model(tmp_path / "model", StoredModel(quote_model(sizes=SIZES), TOY))
    edges = {"layers": 1, "heads": 1, "ablation": "zero", "edges": list(QUOTE_EDGES)}
    (tmp_path / "circuit.json").write_text(json.dumps(edges))
    return tmp_path


def test_a_claim_about_it_is_proved_checked_and_drawn_without_mlps(here, run):
    """A circuit file need not say that there are none: the model does."""
    asked = ("verify", "--model", "model", "--task", "quotes", "--circuit", "circuit.json")
    assert run(*asked, "--measure-floats", "--out", "bundle")[0] == 0
    report = inspect(here / "bundle", Beside(here / "model"))
    assert report.outcome is Outcome.VALID, report.reason
    assert run("report", "bundle", "--out", "page.html")[0] == 0
    assert "mlp" not in (here / "page.html").read_text().partition("<main")[2].partition("<script")[0].lower()
    whole = run("verify", "--model", "model", "--task", "quotes", "--property", "equivalence")
    assert ": the whole model, all 3 edges, ablation zero, proved" in whole[1]


@pytest.mark.usefixtures("here")
def test_other_commands_take_it(run):
    """Its graph has three edges: from embed to the head, from both to the logits."""
    assert "a graph of 3 edges" in run("model", "model")[1]
    assert run("evaluate", "--model", "model", "--task", "quotes")[0] == 0
    assert run("minimal", "--model", "model", "--task", "quotes", "--ablation", "mean")[0] == 0
    assert run("extract", "--model", "model", "--task", "quotes", "--out", "found.json")[0] == 0
    assert json.loads(run("circuit", "found.json", "--json")[1])["mlps"] is False


@pytest.mark.usefixtures("here")
def test_a_circuit_that_has_mlps_is_of_another_model(here, run):
    """In one sentence that says how they differ."""
    content = json.loads((here / "circuit.json").read_text())
    (here / "circuit.json").write_text(json.dumps({**content, "mlps": True}))
    code, _, err = run("verify", "--model", "model", "--task", "quotes", "--circuit", "circuit.json")
    assert code == 3
    assert "the circuit is of 1 layers of 1 heads, the model has 1 of 1 without MLPs" in err


def test_a_recipe_may_leave_mlps_out(tmp_path, run):
    """A width of 0."""
    text = (RECIPES / "toy-plain.toml").read_text()
    for before, after in TRAINED:
        assert before in text
        text = text.replace(before, after)
    (tmp_path / "recipe.toml").write_text(text)
    assert run("train", tmp_path / "recipe.toml", "--out", tmp_path / "run")[0] == 0
    told = run("model", tmp_path / "run" / "model", "--json")[1]
    assert json.loads(told)["architecture"]["mlp_width"] == 0


def test_what_needs_mlps_says_so(tmp_path, run):
    """GPT-2's format has them, and norms are removed from models that have."""
    gpt2 = replace(
        SIZES,
        norm=LayerNorm(Fraction(1, 100_000)),
        attention=Attention.SOFTMAX,
        activation=Gelu(GeluForm.TANH),
        biases=True,
    )
    model = Transformer(replace(gpt2, attention_scale=1))
    save_model(tmp_path / "model", StoredModel(model, TOY))
    code, _, err = run("export-hf", "--model", tmp_path / "model", "--out", tmp_path / "out")
    assert (code, "GPT-2's format cannot hold this model: it has no MLPs" in err) == (3, True)
    with pytest.raises(InputError, match=r"the model has no MLPs \(mlp_width 0\)"):
        make_fading(model)
