"""Circuits of ports, and other ablations than zero, as every command takes them."""

import hashlib
import json

import pytest

from circuitproof.circuits.spelling import load_circuit
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.tasks.alphabet import TOY
from circuitproof.tasks.quotes import toy_quotes
from circuitproof_check.main import Beside, Outcome, inspect
from hand_models import quote_model

VALUE = ["embed -> head 0.0 value", "head 0.0 -> logits"]
SWAPPED = {9: 10, 10: 9}
PARTNERS = [[list(one), [SWAPPED.get(token, token) for token in one]] for one in toy_quotes().prompts]
MEAN = {"kind": "mean", "over": "all", "prompts": [list(one) for one in toy_quotes().prompts[::16]]}
COUNTERFACTUAL = {"kind": "counterfactual", "pairs": PARTNERS}
CUT = {"zero": "zero", "mean": MEAN, "counterfactual": COUNTERFACTUAL}
BY_POSITION, OVER_ALL = "mean by position", "mean over all positions"
NAMES = {"zero": "zero", "mean": OVER_ALL, "counterfactual": "counterfactual"}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Go where a model is whose neural head copies quotation marks, and circuits of its value edges."""
    monkeypatch.chdir(tmp_path)
    save_model(tmp_path / "model", StoredModel(quote_model(programs={}), TOY))
    for name, ablation in CUT.items():
        write(tmp_path / f"{name}.json", ablation=ablation)
    (tmp_path / "partners.json").write_text(json.dumps(COUNTERFACTUAL))
    return tmp_path


def write(path, **changes):
    content = {"layers": 1, "heads": 1, "granularity": "port", "ablation": "zero", "edges": VALUE, **changes}
    path.write_text(json.dumps(content))


@pytest.mark.parametrize("name", CUT)
def test_a_circuit_of_ports_is_proved_and_checked_under_each_ablation(here, run, name):
    """The value edges alone close quotes: queries and keys of this head are zero."""
    asked = ("verify", "--model", "model", "--task", "quotes", "--circuit", f"{name}.json")
    kinds = ("--property", "equivalence", "--property", "necessity", "--property", "subset minimality")
    code, out, err = run(*asked, *kinds, "--out", "bundle", "--measure-floats")
    assert (code, err) == (0, "")
    assert f": 2 edges into ports, ablation {NAMES[name]}, proved" in out
    assert "decides as the model on 128 of 128 prompts" in out
    report = inspect(here / "bundle", Beside(here / "model"))
    assert report.outcome is Outcome.VALID, report.reason
    assert f"2 edges into ports, {name} ablation" in report.reason


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("word", "name"), [("mean", BY_POSITION), ("mean-all", OVER_ALL), ("partners.json", "counterfactual")]
)
def test_an_option_says_what_cut_edges_carry_in_the_place_of_the_file(run, word, name):
    """The same circuit file, four ablations, each called by a name of its own."""
    asked = ("verify", "--model", "model", "--task", "quotes", "--circuit", "zero.json", "--json")
    code, out, _ = run(*asked, "--property", "equivalence", "--ablation", word)
    told = json.loads(out)
    assert (code, told["ablation"], told["granularity"]) == (0, name, "port")


@pytest.mark.usefixtures("here")
def test_zero_takes_the_place_of_what_a_file_says(run):
    """Both ways."""
    asked = (
        "verify",
        "--model",
        "model",
        "--task",
        "quotes",
        "--circuit",
        "mean.json",
        "--property",
        "equivalence",
    )
    assert ", ablation zero, proved" in run(*asked, "--ablation", "zero")[1]


@pytest.mark.parametrize("name", CUT)
def test_every_other_command_takes_such_a_circuit(here, run, name):
    """Each reads the same file and computes the same circuit."""
    circuit, model = ("--circuit", f"{name}.json"), ("--model", "model")
    code, out, _ = run("evaluate", *model, "--task", "quotes", *circuit)
    assert code == 0
    assert out.count("128/128") == 2
    code, out, _ = run(
        "logits", *model, *circuit, "--prompt", "1 2 5 9 5 5", "--candidates", "9 10", "--json"
    )
    logits = json.loads(out)["prompts"][0]["floats"]
    assert (code, logits[0] > logits[1]) == (0, True)
    code, out, _ = run("radius", *model, "--task", "quotes", *circuit)
    assert code == 0
    assert "128 of 128 radii known exactly" in out
    code, out, _ = run("minimal", *model, "--task", "quotes", *circuit, "--out", "least")
    assert code == 0
    assert "2 edges at port granularity are the fewest" in out
    assert inspect(here / "least", Beside()).outcome is Outcome.VALID
    code, out, _ = run("queries", *model, "--task", "quotes", *circuit, "--anchors", 1, "--out", "queries")
    assert (code, "holds" in out) == (0, True)
    code, out, _ = run("circuit", f"{name}.json", "--json")
    assert json.loads(out)["edges"] == VALUE


@pytest.mark.usefixtures("here")
def test_explain_and_show_say_what_stands_at_cut_edges(run):
    """In the words of the page, with the prompt's partner by its tokens."""
    asked = ("verify", "--model", "model", "--task", "quotes", "--circuit", "counterfactual.json")
    assert run(*asked, "--property", "equivalence", "--out", "bundle")[0] == 0
    code, out, _ = run("explain", "#0", "--bundle", "bundle")
    words = " ".join(out.split())
    assert code == 0
    assert (
        "what its source puts out in the whole model on the prompt's partner; 128 prompts have one" in words
    )
    assert "biases, norm and cut edges at logits" in words
    assert 'partner <BOS> <TASK_QUOTE> A " A A' in words
    told = json.loads(run("explain", "#0", "--bundle", "bundle", "--json")[1])
    assert (told["ablation"], told["partner"]) == ("counterfactual", PARTNERS[0][1])
    shown = " ".join(run("show", "bundle")[1].split())
    assert "circuit C 2 edges into ports" in shown
    assert "With another ablation the same edges may do something else" in shown


def test_a_page_marks_ports_and_says_the_ablation(here, run):
    """The letter of each port that is fed stands in its head, in both drawings."""
    asked = ("verify", "--model", "model", "--task", "quotes", "--circuit", "mean.json")
    assert run(*asked, "--property", "equivalence", "--out", "bundle")[0] == 0
    assert run("report", "bundle", "--out", "page.html")[0] == 0
    page = (here / "page.html").read_text()
    assert page.count('class="port">v</text>') == 2
    assert "on 8 declared prompts, at all positions." in page


@pytest.mark.parametrize("ablation", ["zero", "mean", "mean-all", "partners.json"])
@pytest.mark.parametrize("granularity", ["head", "port"])
def test_extraction_searches_by_the_same_definitions(here, run, ablation, granularity):
    """What it finds is written with its ablation, and proved as it stands."""
    cut = ("--ablation", ablation, "--granularity", granularity)
    code, out, err = run("extract", "--model", "model", "--task", "quotes", "--out", "found.json", *cut)
    assert (code, err) == (0, ""), out
    found = load_circuit(here / "found.json")
    named = {"mean": BY_POSITION, "mean-all": OVER_ALL, "partners.json": "counterfactual"}
    name = named.get(ablation, ablation)
    assert (found.ablation.name, str(found.graph.granularity)) == (name, granularity)
    assert len(found) == 2
    report = json.loads((here / "found.report.json").read_text())
    assert (report["ablation"], report["granularity"]) == (name, granularity)
    asked = ("verify", "--model", "model", "--task", "quotes", "--circuit", "found.json")
    assert run(*asked)[0] == 0


@pytest.mark.parametrize("granularity", ["head", "port"])
@pytest.mark.parametrize("ablation", ["mean", "partners.json"])
def test_the_fewest_edges_of_the_model_name_their_granularity(here, run, granularity, ablation):
    """All edges of the model are tried, told apart as asked, and the bundle is valid."""
    asked = (
        "minimal",
        "--model",
        "model",
        "--task",
        "quotes",
        "--granularity",
        granularity,
        "--ablation",
        ablation,
    )
    code, out, err = run(*asked, "--out", "least")
    assert (code, err) == (0, "")
    assert f"2 edges at {granularity} granularity are the fewest" in out
    assert inspect(here / "least", Beside(here / "model")).outcome is Outcome.VALID


def test_no_edge_is_needed_where_cut_edges_give_the_answer_away(here, run):
    """A prompt that is its own partner: then nothing is cut, and no claim about edges is made."""
    pairs = {"kind": "counterfactual", "pairs": [[list(one), list(one)] for one in toy_quotes().prompts]}
    (here / "own.json").write_text(json.dumps(pairs))
    code, _, err = run("minimal", "--model", "model", "--task", "quotes", "--ablation", "own.json")
    assert code == 3
    assert "no edge is needed: what cut edges carry (counterfactual) decides every prompt as wanted" in err


def test_prompts_of_a_file_are_names_or_numbers(here, run):
    """As tasks take them."""
    prompts = ["<BOS> <TASK_QUOTE> A ' A A", [1, 2, "A", 10, 5, 5]]
    (here / "mean2.json").write_text(json.dumps({"kind": "mean", "prompts": prompts}))
    asked = (
        "extract",
        "--model",
        "model",
        "--task",
        "quotes",
        "--ablation",
        "mean2.json",
        "--out",
        "found.json",
    )
    assert run(*asked)[0] == 0
    found = load_circuit(here / "found.json").ablation
    assert found.prompts == ((1, 2, 5, 9, 5, 5), (1, 2, 5, 10, 5, 5))


@pytest.mark.usefixtures("here")
def test_without_circuits_evaluate_cuts_as_asked(run):
    """All edges are the model; none is what cut edges carry."""
    code, out, _ = run(
        "evaluate", "--model", "model", "--task", "quotes", "--ablation", "partners.json", "--json"
    )
    rows = {row["circuit"]: row["right"] for row in json.loads(out)}
    assert code == 0
    assert (rows["all edges"], rows["no edges"]) == (128, 0)


def test_a_claims_file_takes_such_a_circuit(here, run):
    """By its file, as any other."""
    digest = hashlib.sha256((here / "model" / "weights.safetensors").read_bytes()).hexdigest()
    (here / "claims.toml").write_text(
        f'name = "mine"\n[models.toy]\npath = "model"\nsha256 = "{digest}"\n'
        '[[claims]]\nname = "quotes"\nmodel = "toy"\ntask = "quotes"\ncircuit = "counterfactual.json"\n'
        'expected = { equivalence = "proved" }\n'
    )
    assert run("claims", "prove", "claims.toml", "--out", "proofs")[0] == 0
    code, out, _ = run("claims", "check", "claims.toml", "--proofs", "proofs")
    assert code == 0, out


@pytest.mark.usefixtures("here")
def test_measured_circuits_say_what_their_cut_edges_carry(run):
    """The two means are two circuits; of the whole model nothing is cut."""
    asked = ("evaluate", "--model", "model", "--task", "quotes", "--circuit", "zero.json", "--json")
    told = {word: json.loads(run(*asked, "--ablation", word)[1]) for word in ("mean", "mean-all")}
    assert {word: [row["ablation"] for row in rows] for word, rows in told.items()} == {
        "mean": [None, BY_POSITION],
        "mean-all": [None, OVER_ALL],
    }
    assert "none cut" in run(*asked[:-1])[1]


def test_a_bundle_of_more_work_than_usual_comes_with_the_bound_to_give(here, run, monkeypatch):
    """The bound is the checker's own count: with it the bundle is judged, and without it is not."""
    monkeypatch.setattr("circuitproof_check.work.usual", lambda _size: 1_000)
    asked = ("verify", "--model", "model", "--task", "quotes", "--property", "equivalence", "--circuit")
    _, _, err = run(*asked, "counterfactual.json", "--out", "bundle")
    said, _, bound = err.strip().rpartition(" --operations ")
    assert said.endswith("unless told: circuitproof-check bundle --against model")
    for operations, outcome in ((int(bound), Outcome.VALID), (int(bound) * 9 // 10, Outcome.INCOMPLETE)):
        beside = Beside(here / "model", operations=operations)
        assert inspect(here / "bundle", beside).outcome is outcome
    assert run(*asked, "zero.json", "--out", "other")[2] == ""
    monkeypatch.setattr("circuitproof.reports.checking_work.MOST_COUNTED", 2_000)
    _, _, err = run(*asked, "counterfactual.json", "--out", "uncounted")
    assert err.endswith(" --operations 20000 or more\n")
    monkeypatch.setattr("circuitproof_check.work.usual", lambda _size: 2_000)
    assert run(*asked, "counterfactual.json", "--out", "large")[2] == ""
