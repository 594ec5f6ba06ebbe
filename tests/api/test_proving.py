"""Claims answered from Python: the same answers as on the command line, from files or from objects."""

import inspect
import json
import pydoc
import sys
from dataclasses import replace
from fractions import Fraction
from math import inf
from types import SimpleNamespace

import pytest

import circuitproof as cp
from circuitproof.circuits.spelling import load_circuit
from circuitproof.files.canonical import readable_json
from circuitproof.proof.regions.radius import Bracket
from circuitproof.proof.regions.regions import Unsearched
from circuitproof.reports.plain import WIDTH
from circuitproof.verbs.radii import PromptRadius
from hand_models import QUOTE_EDGES


def test_objects_and_files_give_the_same_bundle(model, answers, tmp_path):
    """A task, a circuit and a model in memory are what their files say, byte for byte."""
    task = cp.load_task("quotes")
    (tmp_path / "task.json").write_bytes(readable_json(task.to_json()))
    file = tmp_path / "circuit.json"
    file.write_bytes(readable_json(cp.circuit(model, QUOTE_EDGES).to_json()))
    assert cp.load_circuit(file) == load_circuit(file)
    by_file = cp.verify(model.path, tmp_path / "task.json", str(file), epsilon=Fraction(1, 100))
    by_object = cp.verify(model, task, load_circuit(file), epsilon="1/100", out=tmp_path / "other")
    assert answers.verdict is cp.Verdict.PROVED
    assert by_file.to_json() == by_object.to_json() == answers.to_json()
    names = {path.name for path in answers.bundle.iterdir()}
    assert all(
        (answers.bundle / name).read_bytes() == (tmp_path / "other" / name).read_bytes() for name in names
    )


def test_answers_are_typed_and_show_themselves(answers):
    """At Python's prompt in 80 columns, in a notebook with the page's elements, in a frame of its own."""
    kinds = [str(answer.prop.kind) for answer in answers.answers]
    assert kinds == ["equivalence", "invariance", "necessity", "robustness"]
    assert max(map(len, repr(answers).splitlines())) <= WIDTH
    html = answers._repr_html_()
    assert html.startswith("<iframe srcdoc=")
    for word in ("badge proved", "robustness at 1/100", "circuit of 2 edges", "Content-Security-Policy"):
        assert word in html.replace("&quot;", '"')


def test_a_refuted_claim_shows_its_counterexample(model):
    """What refutes is told in tokens, in each of the places."""
    task = cp.declare_task(
        "upside down",
        model=model,
        prompts=["<BOS> '", '<BOS> "'],
        answers=['"', "'"],
        classes=[0, 1],
    )
    found = cp.verify(model, task, cp.circuit(model, QUOTE_EDGES), properties=["equivalence"])
    assert found.verdict is cp.Verdict.REFUTED
    (one,) = found.counterexamples()
    assert one.prompts[0].margin < 0
    for told in (repr(found), found._repr_html_()):
        assert "equivalence is refuted" in told
        assert "wanted" in told


def test_radii_and_the_fewest_edges_show_themselves(model, tmp_path):
    """With a histogram and with drawings where there is a page for them."""
    radii = cp.radius(model, "quotes", cp.circuit(model, QUOTE_EDGES))
    assert radii.proved == Fraction(1, 2)
    assert "proved: every decision is kept below 0.5" in repr(radii)
    assert "histogram" in radii._repr_html_()
    fewest = cp.minimal(model, "quotes", most=2, out=tmp_path / "fewest")
    assert [len(circuit) for circuit in fewest.search.minimum] == [2]
    assert "2 edges at head granularity are the fewest" in repr(fewest)
    assert "circuit of 2 edges" in fewest._repr_html_()
    assert cp.check(fewest, against=model).outcome is cp.Outcome.VALID


def test_the_fewest_edges_are_searched_for_as_the_command_does(model):
    """As far as the budget allows unless `most` says less, and among the edges of a circuit."""
    assert cp.minimal(model, "quotes", most=1).search.refuted_below == 2
    ended = cp.minimal(model, "quotes", budget=1)
    assert (ended.verdict, ended.search.ended_by) == (cp.Verdict.UNDECIDED, "budget")
    wide = cp.circuit(model, [*QUOTE_EDGES, "embed -> logits"])
    among = cp.minimal(model, "quotes", wide)
    assert [*map(str, among.search.minimum[0])] == sorted(QUOTE_EDGES)
    assert among.among == wide
    none = cp.minimal(model, "quotes", cp.circuit(model, ["embed -> logits"]))
    assert (none.verdict, none.search.ended_by) == (cp.Verdict.REFUTED, "edges")


def test_a_search_for_radii_ends_after_five_minutes_unless_told_otherwise(model, monkeypatch):
    """After a norm it may take hours, and says nothing meanwhile; no deadline at all must be asked for."""
    seen = []
    monkeypatch.setattr(
        "circuitproof.api.proving.find_radii", lambda *given: seen.append(given[-1].pace.left)
    )
    for deadline in ({}, {"deadline": 7}, {"deadline": None}):
        cp.radius(model, "quotes", **deadline)
    first, second, third = seen
    assert 290 < first <= 300
    assert 0 < second <= 7
    assert third == inf


def test_a_deadline_ends_the_work_and_progress_is_told(model):
    """What is not reached is undecided, and a deadline that makes no sense is refused."""
    heard = []
    found = cp.verify(model, "quotes", deadline=1e-9, progress=lambda *told: heard.append(told))
    assert found.verdict is cp.Verdict.UNDECIDED
    found = cp.verify(model, "quotes", deadline=1000, progress=lambda *told: heard.append(told))
    assert found.verdict is not cp.Verdict.UNDECIDED
    assert heard[-1][1] == heard[-1][2]
    with pytest.raises(cp.InputError, match=r"deadline is -1, want a number of seconds above 0"):
        cp.radius(model, "quotes", deadline=-1)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"properties": ["equivalence", "niceness"]}, r"the call\.property is 'niceness'"),
        ({"epsilon": 0.01}, r'the call\.epsilon is .*want a rational in a string such as "1/100"'),
        ({"properties": ["robustness"]}, "robustness wants an epsilon"),
        ({"limits": True}, "lists its prompts; leave it out"),
        ({"at": "the moon", "epsilon": "1/10"}, "the moon"),
        ({"properties": "equivalence"}, "properties is the text 'equivalence', want a list of properties"),
        ({"properties": [3]}, "property is '3'"),
        ({"at": 3}, "at is the int 3, want a node's side such as 'mlp 0 output'"),
        ({"positions": [0]}, "positions is of type list, want 'last', 'all'"),
        ({"effort": 5}, "effort is the int 5, want such as cp.Effort"),
        ({"deadline": "soon"}, "deadline is the text 'soon', want a number of seconds"),
        ({"deadline": True}, "deadline is the bool True"),
        ({"progress": 3}, "progress is the int 3, want a function"),
        ({"out": 3}, "out is the int 3, want a path"),
    ],
)
def test_a_call_that_makes_no_sense_is_one_sentence(model, given, says):
    """The package's own error, which says what was found and what is wanted."""
    with pytest.raises(cp.InputError, match=says):
        cp.verify(model, "quotes", cp.circuit(model, QUOTE_EDGES), **given)


def test_what_is_written_already_is_not_written_over(model, answers):
    """Nothing is lost by calling twice."""
    with pytest.raises(cp.InputError, match="already exists; remove it or choose another place"):
        cp.verify(model, "quotes", out=answers.bundle)
    assert json.loads((answers.bundle / "certificate.json").read_text())["answers"]


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("load_model", {"path": 3}, "model is the int 3, want a model directory"),
        ("load_task", {"spec": None}, "task is None, want a task, the name of one or its file"),
        ("load_circuit", {"path": b"x"}, "circuit is of type bytes, want a circuit file"),
        ("verify", {"task": 3}, "task is the int 3, want a task, the name of one or its file"),
        (
            "verify",
            {"task": "quotes", "circuit": ["embed -> logits"]},
            "circuit is of type list, want a circ",
        ),
        ("verify", {"model": None, "task": "quotes"}, "model is None, want a model directory"),
        ("minimal", {"task": "quotes", "most": "4"}, "most is the text '4', want a whole number"),
        ("minimal", {"task": "quotes", "most": 0}, "most is 0, want at least 1"),
        ("circuit", {"edges": 3}, "edges is the int 3, want a list of edges"),
        ("circuit", {"edges": [3]}, "an edge is the int 3, want a text such as"),
        ("verify", {"task": "quotes", "ablation": 3}, "the ablation is of type int, want a word, a file"),
        ("minimal", {"task": "quotes", "ablation": [1]}, "the ablation is of type list, want a word, a file"),
        (
            "minimal",
            {"task": "quotes", "circuit": "c.json", "granularity": "port"},
            "granularity does nothing beside a circuit, which has its own",
        ),
        ("check", {"bundle": 3}, "bundle is the int 3, want a bundle's directory"),
        ("explain", {"bundle": "x", "prompt": None}, "prompt is None, want a text, a place or a list of tok"),
        ("report", {"path": ()}, "bundle is of type tuple, want a bundle's directory"),
        ("import_release", {"source": [], "out": "x"}, "source is of type list, want a path"),
        ("import_tracr", {"source": 3, "out": "x"}, "source is the int 3, want a program of Tracr's library"),
        ("logits", {"prompts": 3}, "prompts is the int 3, want a text"),
        ("logits", {"prompts": [[1], 2.5]}, "a prompt is the float 2.5"),
        ("logits", {"prompts": "1", "candidates": "9"}, "candidates is the text '9', want a list"),
    ],
)
def test_a_wrong_type_is_one_sentence(model, name, given, says):
    """Not an error of whatever first meets the value."""
    call = getattr(cp, name)
    taken = {"model": model} if "model" in inspect.signature(call).parameters else {}
    with pytest.raises(cp.InputError, match=says) as error:
        call(**{**taken, **given})
    assert "\n" not in str(error.value)


def test_a_verdict_has_no_truth_value(answers):
    """`if answers.verdict:` would take a refutation for a proof."""
    for verdict in cp.Verdict:
        with pytest.raises(TypeError, match=f"the verdict {verdict} is neither true nor false; compare it"):
            bool(verdict)
    assert answers.verdict is cp.Verdict.PROVED
    assert answers.verdict == "proved"


def test_agreement_is_asked_for_with_another_circuit(model):
    """A circuit, or its file; without names of properties it is asked beside the paper's three."""
    circuit, more = cp.circuit(model, QUOTE_EDGES), cp.circuit(model, ["embed -> logits"])
    (answer,) = cp.verify(model, "quotes", circuit, properties=["agreement"], agrees_with=more).answers
    assert (answer.verdict, answer.prop.circuit) == (cp.Verdict.REFUTED, more)
    asked = cp.verify(model, "quotes", circuit, agrees_with=more).answers
    assert [str(one.prop.kind) for one in asked] == ["equivalence", "invariance", "necessity", "agreement"]
    with pytest.raises(cp.InputError, match="give its file with --agrees-with"):
        cp.verify(model, "quotes", circuit, properties=["agreement"])


def test_help_on_verify_says_what_can_be_asked_and_what_can_go_wrong():
    """Whoever is at Python's prompt need not open a page."""
    told = pydoc.plain(pydoc.render_doc(cp.verify))
    asked = ("equivalence", "invariance", "necessity", "robustness", "faithfulness", "agreement")
    words = ("subset minimality", "mlp 0 output", "NotExactError", "InputError", "cp.verify(model")
    for word in (*asked, *words, "Verification"):
        assert word in told, word


def test_radii_have_a_view_in_floats_and_a_frame_where_pandas_is(model, monkeypatch):
    """For plots; without pandas the frame is refused with the package to install."""
    radii = cp.radius(model, "quotes", cp.circuit(model, QUOTE_EDGES))
    assert set(radii.floats()) == {(0.5, 0.5)}
    tied = PromptRadius(None, Fraction(2))
    bounds = Bracket(Fraction(1, 4), None, is_attained=False, eta=None, tree=Unsearched(Fraction(1, 4)))
    unreached = Bracket(Fraction(0), None, is_attained=False, eta=None, tree=None)
    assert tied.floats() == (0.0, 0.0)
    assert PromptRadius(bounds, Fraction(1)).floats() == (0.25, inf)
    assert PromptRadius(unreached, Fraction(1)).floats() == (inf, inf)
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=dict))
    columns = replace(radii, prompts=(*radii.prompts[:-1], tied)).to_frame()
    assert {len(column) for column in columns.values()} == {128}
    assert (columns["lower"][0], columns["is_exact"][0], columns["is_tie"][-1]) == (0.5, True, True)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(
        cp.InputError, match="to_frame needs pandas, which is not installed: pip install pandas"
    ):
        radii.to_frame()
