"""Models, tasks and circuits of a notebook are those of files."""

import html
import json

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

import circuitproof as cp
from circuitproof.circuits.circuit import whole
from circuitproof.circuits.graph import Graph
from hand_models import QUOTE_EDGES, circuit_of
from places import RECIPES

LETTERS = {
    "alphabet": ["a", "b", "c", "?"],
    "prompts": [f"{x} {y} ?" for x in "abc" for y in "abc"],
    "answers": [x for x in "abc" for _ in "abc"],
    "classes": [x for x in "abc" for _ in "abc"],
}


def test_a_task_said_in_place_is_that_of_its_file():
    """The arguments are the keys of a task file: the declarations have one digest."""
    declared = cp.declare_task("first-letter", **LETTERS)
    assert declared == cp.load_task(RECIPES / "tasks" / "first-letter.toml")


def test_a_pattern_said_in_place_is_that_of_its_file():
    """Answers map openers to answers, and numbers are tokens."""
    written = cp.load_task(RECIPES / "toy-quotes-pattern.toml")
    declared = cp.declare_task(
        written.name,
        vocabulary=len(written.alphabet),
        candidates=written.candidates,
        answers=dict(written.answer.answers),
        pattern="any{1..6} with exactly 1 of quotes",
        sets={"quotes": (9, 10)},
        names=dict(written.alphabet.names),
    )
    assert declared.domain.longest == 6
    assert (declared.answer, declared.relation, declared.alphabet) == (
        written.answer,
        written.relation,
        written.alphabet,
    )


def test_a_task_takes_the_names_of_a_models_tokens(model):
    """Templates, with the alphabet of the model."""
    task = cp.declare_task(
        "close",
        model=model,
        slots={"mark": ["'", '"'], "word": ["A", "B"]},
        templates=[
            {
                "name": "one",
                "text": "<BOS> {mark} {word}",
                "answer": {"mark": {"'": "'", '"': '"'}},
                "irrelevant": ["word"],
            }
        ],
    )
    assert (task.size, len(task.classes()), task.alphabet) == (4, 2, model.alphabet)
    assert cp.verify(model, task, cp.circuit(model, QUOTE_EDGES)).verdict is cp.Verdict.PROVED


def test_a_task_that_contradicts_itself_is_one_sentence_about_it():
    """As of a file, with the task in the file's place."""
    with pytest.raises(cp.InputError, match=r"task 'mine'\.answers has 1 entries for 9 prompts"):
        cp.declare_task("mine", **{**LETTERS, "answers": ["a"]})
    with pytest.raises(cp.InputError, match="task 'mine' has no prompts, want one of prompts, templates"):
        cp.declare_task("mine", alphabet=["a"])


def test_a_circuit_is_said_by_its_edges(model):
    """In the words of a circuit file; a text in place of a list is refused, and so is what is no edge."""
    assert cp.circuit(model, QUOTE_EDGES) == circuit_of(QUOTE_EDGES)
    with pytest.raises(cp.InputError, match="edges is the text 'embed -> logits', want a list"):
        cp.circuit(model, "embed -> logits")
    with pytest.raises(cp.InputError, match=r"head 7\.0 is outside 1 layers of 1 heads"):
        cp.circuit(model, ["embed -> head 7.0"])


def test_a_model_says_where_it_is_and_whether_it_can_be_proved(model):
    """In a notebook and at Python's prompt."""
    assert repr(model).startswith(str(model.path)[:40])
    assert "every circuit of it can be computed exactly" in repr(model)
    assert len(model.programs) == 1
    with pytest.raises(cp.InputError, match=r"nowhere"):
        cp.load_model(model.path / "nowhere")


def test_a_circuit_shows_its_edges_and_a_task_its_prompts(model):
    """At Python's prompt and in a notebook, where names are no markup; much is cut."""
    circuit = cp.circuit(model, ["embed -> head 0.0", "head 0.0 -> logits"])
    assert repr(circuit) == (
        "circuit of 2 edges, ablation zero; layers 1, heads 1\n  embed -> head 0.0\n  head 0.0 -> logits"
    )
    assert circuit._repr_html_() == f"<pre>{html.escape(repr(circuit))}</pre>"
    task = cp.load_task("quotes")
    lines = repr(task).splitlines()
    assert lines[0] == "task 'quotes': one of ' \", on 128 prompts in 2 classes"
    assert lines[1] == "  <BOS> <TASK_QUOTE> A ' A A -> '"
    assert (len(lines), lines[-1]) == (7, "  … 123 more")
    assert "&lt;BOS&gt;" in task._repr_html_()
    every = cp.declare_task(
        "every",
        vocabulary=32,
        candidates=[9, 10],
        answers={9: 9, 10: 10},
        pattern="any{1..3} with exactly 1 of [9, 10]",
    )
    assert repr(every).startswith("task 'every': one of <9> <10>, on every prompt of any{1..3}")
    wide = whole(Graph(3, 3))
    assert repr(wide).endswith(f"  … {len(wide) - 20} more")


def test_a_model_is_written_from_arrays_and_from_torch_and_is_the_same(model, tmp_path):
    """With its programs and names; what the directory holds is what was given, bit for bit."""
    tensors = load_file(model.path / "weights.safetensors")
    given = {name: torch.from_numpy(one).requires_grad_() for name, one in tensors.items()}
    declared = json.loads((model.path / "model.json").read_text())
    parts = {key: declared[key] for key in ("alphabet", "programs")}
    for place, (sizes, arrays) in enumerate(
        ((declared["architecture"], given), (model.architecture, tensors))
    ):
        written = cp.write_model(sizes, arrays, tmp_path / f"{place}", **parts)
        for name in ("model.json", "weights.safetensors"):
            assert (written.path / name).read_bytes() == (model.path / name).read_bytes()


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("embed.token", lambda one: one[:, :1], "tensor embed.token has shape .* the architecture wants"),
        ("embed.token", lambda one: one + np.float64(0.1), "float64, holds a number that FP32 does not have"),
        ("embed.token", lambda one: one.astype(np.float64) + 1e300, "holds a number that FP32 does not have"),
        ("embed.token", lambda one: one * np.nan, "holds a number that FP32 does not have"),
        ("embed.token", lambda one: one.astype(str), "want an array of numbers"),
        ("embed.token", lambda one: torch.from_numpy(one).bfloat16(), "cannot be read as an array"),
        ("embed.token", repr, "want an array of numbers"),
        ("embed.token", np.shape, "tensor embed.token has shape"),
        ("extra", np.shape, "holds tensor extra, which the architecture does not have"),
    ],
    ids=["shape", "double", "huge", "nan", "text", "bfloat16", "one text", "sequence", "extra"],
)
def test_a_tensor_that_does_not_fit_is_refused_and_nothing_is_written(model, tmp_path, name, change, says):
    """Nothing is rounded in silence."""
    tensors = load_file(model.path / "weights.safetensors")
    tensors[name] = change(tensors.get(name))
    programs = json.loads((model.path / "model.json").read_text())["programs"]
    with pytest.raises(cp.InputError, match=says):
        cp.write_model(model.architecture, tensors, tmp_path / "out", programs=programs)
    assert not (tmp_path / "out").exists()


def test_an_edge_into_a_port_makes_a_circuit_of_ports(model):
    """Unless a granularity is given, which must be that of the edges."""
    told = cp.circuit(model, ["embed -> head 0.0 value", "head 0.0 -> logits"])
    assert told.graph.granularity == "port"
    assert cp.circuit(model, ["head 0.0 -> logits"], granularity="port").graph == told.graph
    with pytest.raises(cp.DeclarationError, match="feeds a port, but the granularity of the circuit is head"):
        cp.circuit(model, ["embed -> head 0.0 value"], granularity="head")
    with pytest.raises(cp.InputError, match="granularity is 'neuron'"):
        cp.circuit(model, [], granularity="neuron")


def test_ablations_are_said_by_prompts(model):
    """Of a task, by number, or by the names of a model."""
    task, written = cp.load_task("quotes"), "<BOS> <TASK_QUOTE> A ' A A"
    assert cp.mean(task).prompts == task.prompts
    assert cp.mean([written], over="all", model=model) == cp.mean([task.prompts[0]], over="all")
    one, other = task.prompts[0], task.prompts[64]
    assert cp.counterfactual([(one, other)]) == cp.counterfactual([(written, list(other))], model=model)
    with pytest.raises(cp.InputError, match=r"mean\.prompts\[0\]\[0\] is '<BOS>', want a token's number"):
        cp.mean([written])
    with pytest.raises(cp.InputError, match="over is 'median'"):
        cp.mean(task, over="median")
    with pytest.raises(cp.InputError, match=r"ablation is the text 'mean', want what cp\.mean"):
        cp.circuit(model, ["embed -> logits"], ablation="mean")


def test_a_claim_says_what_cut_edges_carry(model):
    """In the circuit, or beside it."""
    task = cp.load_task("quotes")
    circuit = cp.circuit(model, QUOTE_EDGES, ablation=cp.mean(task))
    assert (
        cp.verify(model, task, circuit, properties=["equivalence"]).to_json()["ablation"]
        == "mean by position"
    )
    beside = cp.verify(
        model, task, cp.circuit(model, QUOTE_EDGES), properties=["equivalence"], ablation="mean"
    )
    assert beside.battery.claim.circuit == circuit
    fewest = cp.minimal(model, task, granularity="port", ablation=cp.mean(task), most=2)
    assert fewest.to_json()["granularity"] == "port"
    assert [str(edge) for edge in fewest.search.minimum[0]] == [
        "embed -> head 0.0 value",
        "head 0.0 -> logits",
    ]
