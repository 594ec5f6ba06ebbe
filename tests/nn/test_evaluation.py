import json
from pathlib import Path

import pytest

from circuitproof.circuits.circuit import empty, whole
from circuitproof.circuits.graph import EMBED, LOGITS, Edge, Graph
from circuitproof.errors import InputError
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.nn.decisions import score_circuits
from circuitproof.nn.evaluation import evaluate, telling_circuits
from circuitproof.nn.transformer import Transformer, initialise
from circuitproof.tasks.alphabet import TOY, Alphabet
from circuitproof.tasks.brackets import toy_brackets
from circuitproof.tasks.quotes import toy_quotes
from circuitproof_lab.pipeline.recipe import load_recipe
from floats import agree
from recipes import write_recipe

EDGES = len(Graph(1, 2).edges())


@pytest.fixture
def model(tmp_path) -> Transformer:
    """Return a small model with random weights that fits the toy tasks."""
    made = Transformer(load_recipe(write_recipe(tmp_path / "tiny.toml")).architecture)
    initialise(made, 0, 0.5)
    return made


@pytest.fixture
def stored(tmp_path, model) -> Path:
    """Return the model's directory."""
    save_model(tmp_path / "model", StoredModel(model, TOY))
    return tmp_path / "model"


def test_without_circuits_a_task_is_shown_with_three_telling_ones(stored, model):
    """The first look at a model: what all edges do, the worst single deletion, and nothing."""
    rows = evaluate(stored, ["quotes", "brackets"], [])
    assert [row.task for row in rows] == ["quotes"] * 4 + ["brackets"] * 4
    for task, four in ((toy_quotes(), rows[:4]), (toy_brackets(), rows[4:])):
        assert [row.edges for row in four] == [EDGES, EDGES, EDGES - 1, 0]
        assert [row.circuit for row in four][:2] == ["model", "all edges"]
        assert four[2].circuit.startswith("without ")
        assert four[3].circuit == "no edges"
        assert four[0].score == score_circuits(model, task)[0]
        assert four[1].score == score_circuits(model, task, [whole(model.graph)])[0]


def test_all_edges_are_the_model(model):
    """The first two rows tell the same, up to rounding."""
    model.double()
    for task in (toy_quotes(), toy_brackets()):
        (alone,), (kept,) = score_circuits(model, task), score_circuits(model, task, [whole(model.graph)])
        assert agree(kept.worst_margin, alone.worst_margin)


def test_the_shown_deletion_is_the_most_harmful_one(model):
    """The slow twin deletes each edge by hand."""
    model.double()
    task = toy_quotes()
    name, circuit = telling_circuits(model, task, whole(model.graph))[1]
    (deleted,) = (whole(model.graph) - circuit).edges
    assert name == f"without {deleted}"
    margins = {
        edge: score_circuits(model, task, [whole(model.graph).without(edge)])[0].worst_margin
        for edge in model.graph.edges()
    }
    assert agree(margins[deleted], min(margins.values()))


def test_only_the_chosen_tasks_and_circuits_are_shown(stored, model, tmp_path):
    """A circuit is called by its file."""
    file = tmp_path / "mine.json"
    direct = whole(model.graph) & empty(model.graph)
    file.write_text(json.dumps({**direct.to_json(), "edges": [str(Edge(EMBED, LOGITS))]}))
    rows = evaluate(stored, ["brackets"], [file])
    assert [(row.task, row.circuit, row.edges) for row in rows] == [
        ("brackets", "model", EDGES),
        ("brackets", str(file), 1),
    ]


def test_a_row_is_told_as_json(stored):
    """Programs read the same numbers that people see."""
    row = evaluate(stored, ["quotes"], [])[0]
    assert row.to_json() == {
        "task": "quotes",
        "circuit": "model",
        "edges": EDGES,
        "ablation": None,
        "right": row.score.right,
        "prompts": 128,
        "worst_margin": row.score.worst_margin,
    }


def test_a_model_that_says_nothing_is_never_right(tmp_path, model):
    """Zero weights tie all candidates, and so does the empty circuit of any model without shifts."""
    save_model(tmp_path / "zero", StoredModel(Transformer(model.architecture), TOY))
    rows = evaluate(tmp_path / "zero", ["quotes"], [])
    assert {(row.score.right, row.score.worst_margin) for row in rows} == {(0, 0.0)}


def test_a_task_of_another_alphabet_is_refused(tmp_path, model):
    """Token 9 is a quotation mark in one and something else in the other."""
    save_model(tmp_path / "other", StoredModel(model, Alphabet((*TOY.names[:-1], "other"))))
    with pytest.raises(InputError, match="the model's alphabet is not that of task 'quotes': token "):
        evaluate(tmp_path / "other", ["quotes"], [])


def test_an_unknown_task_is_refused(stored):
    """With the names that there are."""
    with pytest.raises(InputError, match="there is no task 'verse'; known tasks: quotes, brackets"):
        evaluate(stored, ["verse"], [])


def test_a_circuit_of_another_graph_is_refused(stored, tmp_path):
    """Its edges would name nodes that are not there."""
    file = tmp_path / "other.json"
    file.write_text(json.dumps(whole(Graph(2, 2)).to_json()))
    with pytest.raises(InputError, match="the circuit is of 2 layers of 2 heads, the model has 1 of 2"):
        evaluate(stored, ["quotes"], [file])
