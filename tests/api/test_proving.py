"""Claims answered from Python: the same answers as on the command line, from files or from objects."""

import json
from fractions import Fraction

import pytest

import circuitproof as cp
from circuitproof.declare.circuits.spelling import load_circuit
from circuitproof.text.canonical import readable_json
from circuitproof.view.plain import WIDTH
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
    assert "2 edges are the fewest" in repr(fewest)
    assert "circuit of 2 edges" in fewest._repr_html_()
    assert cp.check(fewest, against=model).outcome is cp.Outcome.VALID


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
