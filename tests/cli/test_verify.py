import json
import signal
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from circuitproof.cli.main import main
from circuitproof.files.canonical import readable_json
from circuitproof.models.operators import Attention, BandNorm, Gelu, GeluForm, LayerNorm, Lift
from circuitproof.nn import measuring
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.nn.transformer import Transformer
from circuitproof.tasks.alphabet import TOY, Alphabet
from circuitproof.tasks.quotes import toy_quotes
from circuitproof_check.main import Outcome, check
from hand_models import DOUBLE, LAST_FILLER, QUOTE_EDGES, QUOTE_SIZES, SINGLE, circuit_of, quote_model, rows


@pytest.fixture
def run(monkeypatch, capsys):
    """Return what runs `circuitproof verify` in this process, just as the entry point does."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # the test runner keeps its own Ctrl-C
    monkeypatch.setenv("COLUMNS", "300")

    def run_command(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["circuitproof", "verify", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, *capsys.readouterr()

    return run_command


def given(folder: Path, model: Transformer | None = None, edges=QUOTE_EDGES, alphabet=TOY) -> list[object]:
    """Write a model and a circuit, and return the arguments that name them."""
    save_model(folder / "model", StoredModel(model or quote_model(), alphabet))
    (folder / "circuit.json").write_bytes(readable_json(circuit_of(edges).to_json()))
    return ["--model", folder / "model", "--circuit", folder / "circuit.json", "--task", "quotes"]


def test_a_proved_claim_ends_with_0_and_says_how_much_it_says(run, tmp_path):
    """The task with its digest, edges, ablation, cells, ties, place, remarks, and the floats' error."""
    code, out, err = run(*given(tmp_path), "--epsilon", "1/3", "--measure-floats")
    assert (code, err) == (0, "")
    assert f"quotes {str(toy_quotes().digest)[:12]}: 2 edges, ablation zero, proved" in out
    assert "128 prompts in 2 cells, 0 ties" in out
    assert "measured in floats: largest error of a logit 0.00e+00; the circuit decides" in out
    seen = "embed -> head 0.0: 0 flips, 128 ties; head 0.0 -> logits: 0 flips, 128 ties"
    assert f"implied by equivalence; {seen}" in out
    assert "robustness at 1/3, logits input, positions last" in out
    assert "min radius 0.5; median radius 0.5; max radius 0.5" in out
    assert out.count("no counterexample") == 2
    assert "128/128" in out
    assert not (tmp_path / "bundle").exists()


def test_the_json_is_the_whole_result(run, tmp_path):
    """For programs; nothing else stands on standard output."""
    code, out, _ = run(*given(tmp_path), "--json", "--out", tmp_path / "bundle")
    content = json.loads(out)
    assert code == 0
    assert content["verdict"] == "proved"
    implied = ["implied by equivalence"]
    assert [answer["remarks"] for answer in content["answers"]] == [[], implied, implied]
    assert content["declaration"] == str(toy_quotes().digest)
    assert content["ablation"] == "zero"
    assert [answer["verdict"] for answer in content["answers"]] == ["proved"] * 3
    assert {path.name for path in (tmp_path / "bundle").iterdir()} >= {"claim.json", "certificate.json"}


def test_a_refuted_claim_ends_with_1_and_names_the_counterexamples(run, tmp_path):
    """The bundle is written all the same: a refutation is evidence, too."""
    tokens = rows(32, {SINGLE: (1, 0), DOUBLE: (0, 1), LAST_FILLER: (0, 5)})
    arguments = given(tmp_path, quote_model({"embed.token": tokens}), ("embed -> logits", *QUOTE_EDGES))
    code, out, err = run(*arguments, "--out", tmp_path / "bundle")
    assert (code, err) == (1, "")
    assert ": 3 edges, ablation zero, refuted" in out
    assert "16 counterexamples, first prompt 3" in out
    assert "1 counterexample, first prompt 0 and prompt 3" in out
    assert "implied" not in out
    assert (tmp_path / "bundle" / "certificate.json").exists()


def test_an_undecided_claim_ends_with_4_and_says_why(run, tmp_path):
    """Neither proved nor refuted has its own exit code."""
    norm = BandNorm(Fraction(1, 2), Fraction(2), Lift.CONTINUOUS)
    ones = {f"{node}.norm.scale": [1, 1] for node in ("attention.0", "logits")}
    arguments = given(tmp_path, quote_model(ones, replace(QUOTE_SIZES, norm=norm)))
    code, out, err = run(*arguments, "--epsilon", "1/100", "--method", "branch")
    assert (code, err) == (4, "")
    assert ": 2 edges, ablation zero, undecided" in out
    assert "prompt 0 and 127 others are open: branch unstable: norm at mass" in out
    assert run(*arguments, "--epsilon", "1/100")[0] == 0
    assert "0/128" in out


def test_a_perturbation_that_reaches_no_prompt_is_one_sentence(run, tmp_path):
    """Position 0 of six tokens decides nothing: exit code 3, and no proof of nothing."""
    code, out, err = run(*given(tmp_path), "--epsilon", "1/3", "--positions", "0")
    assert (code, out) == (3, "")
    assert "logits input at positions 0 reaches the logits of no prompt; choose positions that are" in err


def test_a_place_is_named_in_full(run, tmp_path):
    """Size, node, side and positions; the JSON has them apart."""
    arguments = [*given(tmp_path), "--property", "robustness", "--epsilon", "1/10", "--at", "head 0.0 output"]
    code, out, _ = run(*arguments, "--positions", "5")
    assert code == 0
    assert "robustness at 1/10, head 0.0 output, positions 5" in out
    _, out, _ = run(*arguments, "--positions", "5", "--json")
    assert json.loads(out)["answers"][0]["property"] == {
        "kind": "robustness",
        "epsilon": "1/10",
        "at": "head 0.0 output",
        "positions": [5],
    }


def test_agreement_is_asked_for_with_another_circuit(run, tmp_path):
    """It is proved, checked, and said on the page; a prompt separates it from one that decides otherwise."""
    arguments, other = given(tmp_path), tmp_path / "other.json"
    more = circuit_of((*QUOTE_EDGES, "embed -> mlp 0", "mlp 0 -> logits"))
    other.write_bytes(readable_json(more.to_json()))
    asked = [*arguments, "--agrees-with", other, "--property", "agreement"]
    code, out, _ = run(*asked, "--out", tmp_path / "bundle")
    assert code == 0
    assert "agreement with 4 edges" in out
    assert check(tmp_path / "bundle", tmp_path / "model")[0] is Outcome.VALID
    _, out, _ = run(*asked, "--json")
    assert json.loads(out)["answers"][0]["property"] == {
        "kind": "agreement",
        "granularity": "head",
        "edges": [str(edge) for edge in more],
    }
    other.write_bytes(readable_json(circuit_of(("embed -> logits",)).to_json()))
    code, out, _ = run(*asked)
    assert code == 1
    assert "agreement with 1 edge is refuted" in out


def test_properties_can_be_chosen(run, tmp_path):
    """By name, repeated for several; without a circuit file the whole model is meant."""
    arguments = given(tmp_path)
    code, out, _ = run(*arguments, "--property", "faithfulness", "--property", "equivalence", "--json")
    assert code == 0
    assert [answer["property"]["kind"] for answer in json.loads(out)["answers"]] == [
        "equivalence",
        "faithfulness",
    ]
    whole = [*arguments[:2], *arguments[4:]]
    assert (
        ": the whole model, all 6 edges, ablation zero, proved" in run(*whole, "--property", "equivalence")[1]
    )


def test_an_unknown_property_is_wrong_usage(run, tmp_path):
    """The shell's habit: exit code 2."""
    code, out, err = run(*given(tmp_path), "--property", "beauty")
    assert (code, out) == (2, "")
    assert "'beauty' is not one of 'equivalence'" in err


def test_without_torch_the_error_is_not_measured(run, tmp_path, monkeypatch):
    """And that is said, beside the answers and beside JSON."""
    arguments = given(tmp_path)
    monkeypatch.setattr(measuring, "find_spec", lambda _: None)
    sentence = "no floats measured, which changes nothing of the answers: torch is not installed"
    for form in ([], ["--json"]):
        code, out, err = run(*arguments, "--measure-floats", *form)
        assert (code, err) == (0, f"{sentence}\n")
        assert "proved" in out


def test_an_exact_proof_loads_neither_torch_nor_the_checker(tmp_path):
    """In a process of its own: torch would take longer to import than all of it, the checker a tenth."""
    arguments = ["verify", *map(str, given(tmp_path)), "--out", str(tmp_path / "kept")]
    text = (
        "import sys; from circuitproof.cli.main import app\n"
        f"try: app({arguments!r})\n"
        "except SystemExit as end: print(end.code, {'torch', 'circuitproof_check.main'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)  # noqa: S603  # our own text
    assert done.stdout.splitlines()[-1] == "0 set()"


def refused(result: tuple[int, str, str], exit_code: int = 3) -> str:
    """Return the sentence of a command that failed with an exit code and printed no result."""
    code, out, err = result
    assert (code, out) == (exit_code, "")
    assert err.startswith("circuitproof: ")
    assert err.count("\n") == 1
    return err


@pytest.mark.parametrize(
    ("epsilon", "sentence"),
    [
        ("0", "epsilon is 0, want a positive rational such as 1/100"),
        ("-1/100", "epsilon is -1/100, want a positive rational such as 1/100"),
        ("1/0", "epsilon is '1/0', want a rational"),
        ("tiny", "epsilon is 'tiny', want a rational"),
        ("nan", "epsilon is 'nan', want a rational"),
        ("1e-99999", "epsilon is 1e-99999, want an exponent of at most three digits"),
    ],
)
def test_an_epsilon_that_is_no_positive_rational_is_a_sentence(run, tmp_path, epsilon, sentence):
    """Nothing is proved at a size that was not understood."""
    assert sentence in refused(run(*given(tmp_path), f"--epsilon={epsilon}"), 2)


def test_robustness_without_an_epsilon_is_a_sentence(run, tmp_path):
    """There is no size that would do for everybody."""
    assert "robustness wants an epsilon" in refused(run(*given(tmp_path), "--property", "robustness"), 2)


def test_a_bundle_is_never_overwritten(run, tmp_path):
    """The sentence names the place."""
    arguments = [*given(tmp_path), "--out", tmp_path / "bundle"]
    assert run(*arguments)[0] == 0
    assert f"{tmp_path / 'bundle'} already exists" in refused(run(*arguments))


def test_a_model_that_is_not_there_is_a_sentence(run, tmp_path):
    """It says which file cannot be read."""
    arguments = given(tmp_path)
    arguments[1] = tmp_path / "absent"
    assert "cannot read" in refused(run(*arguments))


def test_a_circuit_that_is_not_there_is_a_sentence(run, tmp_path):
    """It says which file cannot be read."""
    arguments = given(tmp_path)
    (tmp_path / "circuit.json").unlink()
    assert f"cannot read {tmp_path / 'circuit.json'}" in refused(run(*arguments))


@pytest.mark.parametrize("name", ["weights.safetensors", "model.json"])
def test_a_model_that_was_tampered_with_is_refused(run, tmp_path, name):
    """One bit is enough."""
    arguments = given(tmp_path)
    content = bytearray((tmp_path / "model" / name).read_bytes())
    content[-2] ^= 1
    (tmp_path / "model" / name).write_bytes(content)
    assert f"{name} has digest" in refused(run(*arguments, "--out", tmp_path / "bundle"))
    assert not (tmp_path / "bundle").exists()


def test_an_unknown_task_is_a_sentence(run, tmp_path):
    """With those that are known."""
    arguments = given(tmp_path)
    arguments[5] = "poetry"
    assert "no task 'poetry'; known tasks: quotes" in refused(run(*arguments), exit_code=2)


def test_a_weight_that_is_no_number_is_a_sentence(run, tmp_path):
    """NaN compares as false with everything; a proof over it would be worth nothing."""
    model = quote_model({"head.0.0.value.weight": [[float("nan"), 0], [0, 1]]})
    assert "tensor head.0.0.value.weight" in refused(run(*given(tmp_path, model)))


def test_a_circuit_that_cannot_read_its_prompt_is_a_sentence(run, tmp_path):
    """Whatever it decides, it decides blindly."""
    arguments = given(tmp_path, edges=("mlp 0 -> logits",))
    assert "may attend nowhere reaches logits" in refused(run(*arguments))


def test_a_circuit_of_another_model_is_a_sentence(run, tmp_path):
    """Sizes are compared before anything is computed."""
    arguments = given(tmp_path)
    other = circuit_of(QUOTE_EDGES, heads=2)
    (tmp_path / "circuit.json").write_bytes(readable_json(other.to_json()))
    assert "of 1 layers of 2 heads, the model has 1 of 1" in refused(run(*arguments))


def test_a_model_that_names_its_tokens_otherwise_is_a_sentence(run, tmp_path):
    """A quotation mark by another name is another task."""
    names = Alphabet((*TOY.names[:-1], "other"))
    assert "alphabet is not that of task" in refused(run(*given(tmp_path, alphabet=names)))


@pytest.mark.parametrize(
    "changes",
    [
        {"norm": LayerNorm(Fraction(1, 1000))},
        {"attention": Attention.SOFTMAX},
        {"activation": Gelu(GeluForm.EXACT)},
    ],
    ids=["layer norm", "softmax", "gelu"],
)
def test_an_operator_without_an_exact_value_is_enclosed(run, tmp_path, changes):
    """The same command, and a bundle that the checker judges; margins have a radius."""
    model = quote_model(sizes=replace(QUOTE_SIZES, **changes), programs={})
    arguments = given(tmp_path, model, (*QUOTE_EDGES, "embed -> mlp 0", "mlp 0 -> logits"))
    found = run(*arguments, "--property", "equivalence", "--precision", "128", "--out", tmp_path / "bundle")
    assert found[0] in (0, 1)
    outcome, sentence = check(tmp_path / "bundle")
    assert outcome.value == found[0]
    assert "enclosed arithmetic of 64 bits" in sentence
    assert "logits are enclosed at 64 bits; the smallest margin is " in found[1]


def test_floats_are_measured_beside_enclosed_logits(run, tmp_path):
    """Three formats against the midpoints; what an enclosure is, programs read too."""
    model = quote_model(sizes=replace(QUOTE_SIZES, activation=Gelu(GeluForm.EXACT)))
    arguments = given(tmp_path, model, (*QUOTE_EDGES, "embed -> mlp 0", "mlp 0 -> logits"))
    code, out, err = run(*arguments, "--property", "equivalence", "--measure-floats")
    assert (code, err) == (0, "")
    assert "measured in floats: largest error of a logit" in out
    assert all(name in out for name in ("FP64", "FP32", "FP16", "decided otherwise"))
    code, out, _ = run(*arguments, "--property", "equivalence", "--measure-floats", "--json")
    content = json.loads(out)
    assert (code, content["arithmetic"], content["precision"]) == (0, "enclosed", 64)
    assert [one["format"] for one in content["float_runs"]] == ["FP64", "FP32", "FP16"]
    assert [one["differing"] for one in content["float_runs"]] == [0, 0, 0]
    assert content["float_error"] == content["float_runs"][1]["error"]


@pytest.mark.parametrize(
    "sizes",
    [
        replace(QUOTE_SIZES, attention=Attention.SOFTMAX),
        replace(QUOTE_SIZES, activation=Gelu(GeluForm.EXACT)),
    ],
    ids=["softmax", "gelu"],
)
def test_an_operator_that_the_circuit_does_not_use_does_not_matter(run, tmp_path, sizes):
    """The head is a program and no MLP is kept."""
    assert run(*given(tmp_path, quote_model(sizes=sizes)))[0] == 0
