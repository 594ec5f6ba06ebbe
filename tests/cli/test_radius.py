import json

import pytest

from circuitproof.cli.main import main
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.tasks.alphabet import TOY
from hand_models import quote_model


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Return a function that runs a command on a hand-made model and gives its exit code and output."""
    save_model(tmp_path / "model", StoredModel(quote_model(), TOY))

    def run_command(command, *arguments):
        given = ["circuitproof", command, "--model", tmp_path / "model", "--task", "quotes", *arguments]
        monkeypatch.setattr("sys.argv", list(map(str, given)))
        with pytest.raises(SystemExit) as stop:
            main()
        return stop.value.code, *capsys.readouterr()

    return run_command


def test_radii_are_shown_absolute_and_relative(run):
    """With what is proved for all of them."""
    code, out, _ = run("radius")
    assert code == 0
    assert "128 of 128 radii known exactly, at logits input" in out
    assert "0 ties, 0 infinite radii; 0 infima are not known to be attained" in out
    assert "proved: every decision is kept below 0.5" in out


def test_json_holds_every_radius_exactly(run):
    """For programs."""
    code, out, _ = run("radius", "--json", "--at", "head 0.0 output")
    content = json.loads(out)
    assert code == 0
    assert content["at"] == "head 0.0 output"
    assert content["radius"]["min"] == "1/2"


def test_robustness_inside_the_circuit_is_named_by_its_place(run):
    """Ours or TransformerLens's."""
    code, out, _ = run(
        "verify",
        "--property",
        "robustness",
        "--epsilon",
        "1/3",
        "--at",
        "head 0.0 input",
        "--positions",
        "all",
    )
    assert code == 0
    assert "robustness at 1/3, head 0.0 input" in out


def test_an_ambiguous_hook_is_refused_in_a_sentence(run):
    """Exit code 2, and what to name instead."""
    code, _, err = run("radius", "--at", "blocks.0.hook_attn_out")
    assert code == 2
    assert "it is the sum of 1 heads and a bias; name a head, such as 'head 0.0 output'" in err
