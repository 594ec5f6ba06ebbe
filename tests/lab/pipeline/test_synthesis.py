import json
from pathlib import Path

import pytest

from circuitproof.circuits.graph import Graph, Head
from circuitproof.circuits.spelling import parse_head
from circuitproof.errors import InputError
from circuitproof.files.canonical import digest_file
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.programs.atoms import Brackets
from circuitproof.programs.candidates import Grammar, NamedOperand
from circuitproof.programs.features import Feature, WordKind
from circuitproof.programs.text import parse
from circuitproof.proof.verdict import Verdict
from circuitproof.tasks.alphabet import TOY, Alphabet
from circuitproof.tasks.quotes import toy_quotes
from circuitproof_lab.distill.synthesis import Bounds
from circuitproof_lab.pipeline.rechecking import recheck_certificate
from circuitproof_lab.pipeline.synthesis import (
    SynthesisRequest,
    certificate_path,
    parse_brackets,
    report_path,
    synthesise,
)
from hand_models import QUOTE_EDGES, circuit_of, quote_model

GRAMMAR = Grammar(rules=1, features=(Feature.KEY_TOKEN,))
MISLED = (NamedOperand(WordKind.TOKEN, 9),)
"""The single quotation mark: a program that looks for it ties where there is none."""


@pytest.fixture
def request_for(tmp_path):
    """Return a function that asks for a program for the head of a stored model that closes quotes."""
    save_model(tmp_path / "model", StoredModel(quote_model(programs={}), TOY))
    (tmp_path / "circuit.json").write_text(json.dumps(circuit_of(QUOTE_EDGES).to_json()))

    def make(**change):
        asked = {
            "model": tmp_path / "model",
            "tasks": ("quotes",),
            "head": "0.0",
            "circuits": (tmp_path / "circuit.json",),
            "bounds": Bounds(grammar=GRAMMAR),
        }
        return SynthesisRequest(**asked | change)

    return make


def unrealisable_model(path: Path) -> Path:
    """Write a model whose head has no effect."""
    changes = {"head.0.0.output.weight": [[0, 0], [0, 0]], "embed.token": [[0, 0]] * 32}
    save_model(path, StoredModel(quote_model(changes, programs={}), TOY))
    return path


def test_the_program_is_written_with_its_report(request_for, tmp_path):
    """The file holds the program's text; the report says from what and how it was found."""
    out = tmp_path / "program.txt"
    found = synthesise(request_for(), out)
    assert found.verdict is Verdict.PROVED
    assert parse(out.read_text()) == found.synthesis.program
    report = json.loads(report_path(out).read_text())
    assert report == found.to_json()
    assert report["tasks"] == {"quotes": str(toy_quotes().digest)}
    assert (report["outcome"], report["scope"], report["certificate_digest"]) == ("realised", "both", None)
    assert not certificate_path(out).exists()


def test_a_certificate_is_written_where_there_is_no_program(request_for, tmp_path):
    """And it is accepted when it is read again."""
    out, model = tmp_path / "program.txt", unrealisable_model(tmp_path / "other")
    found = synthesise(request_for(model=model), out)
    assert found.verdict is Verdict.REFUTED
    assert not out.exists()
    assert found.certificate == digest_file(certificate_path(out))
    certificate = recheck_certificate(certificate_path(out), model, ["quotes"])
    assert len(certificate.refuted) == found.synthesis.effort.meanings
    with pytest.raises(InputError, match="about another model"):
        recheck_certificate(certificate_path(out), tmp_path / "model", ["quotes"])


def test_an_unfinished_search_writes_only_its_report(request_for, tmp_path):
    """There is neither a program nor a proof."""
    out = tmp_path / "program.txt"
    found = synthesise(request_for(bounds=Bounds(grammar=GRAMMAR, budget=1)), out)
    assert found.verdict is Verdict.UNDECIDED
    assert not out.exists()
    assert not certificate_path(out).exists()
    assert "more than 1; want smaller bounds" in json.loads(report_path(out).read_text())["reason"]


def test_words_and_circuits_may_be_left_to_the_bounds(request_for, tmp_path):
    """Without a circuit the whole model alone is asked."""
    bounds = Bounds(grammar=GRAMMAR, words=MISLED)
    found = synthesise(request_for(bounds=bounds, circuits=()), tmp_path / "program.txt")
    assert found.synthesis.effort.words == 1


@pytest.mark.parametrize("name", ["program.txt", "program.report.json", "program.unrealisable.json"])
def test_what_is_there_is_not_overwritten(request_for, tmp_path, name):
    """It is refused before any work."""
    (tmp_path / name).write_text("mine")
    with pytest.raises(InputError, match="already exists; remove it or choose another place"):
        synthesise(request_for(), tmp_path / "program.txt")
    assert (tmp_path / name).read_text() == "mine"


def test_circuits_are_given_for_each_task_or_for_none(request_for, tmp_path):
    """A circuit is that of the task in its place."""
    with pytest.raises(InputError, match="1 circuits for 2 tasks; give one for each, or none"):
        synthesise(request_for(tasks=("quotes", "brackets")), tmp_path / "program.txt")


def test_a_task_of_another_alphabet_is_refused(request_for, tmp_path):
    """Token 9 is a quotation mark in one and something else in the other."""
    other = Alphabet((*TOY.names[:-1], "other"))
    save_model(tmp_path / "other", StoredModel(quote_model(programs={}), other))
    with pytest.raises(InputError, match="the model's alphabet is not that of task 'quotes'"):
        synthesise(request_for(model=tmp_path / "other"), tmp_path / "program.txt")


def test_heads_are_named_by_layer_and_index():
    """With or without the word."""
    graph = Graph(2, 2)
    assert parse_head("1.0", graph, "--head") == parse_head("head 1.0", graph, "--head") == Head(1, 0)
    for text, sentence in (("7.0", "outside 2 layers"), ("mlp 0", "is not a node")):
        with pytest.raises(InputError, match=sentence):
            parse_head(text, graph, "--head")


def test_brackets_are_pairs_of_tokens():
    """All pairs together are one set of brackets."""
    assert parse_brackets([]) == ()
    assert parse_brackets(["12:14", "11:13"]) == (Brackets(((11, 13), (12, 14))),)
    with pytest.raises(InputError, match="want the tokens of an opener and its closer"):
        parse_brackets(["11-13"])
