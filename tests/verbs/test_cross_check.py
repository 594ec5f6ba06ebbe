from fractions import Fraction

import pytest

from circuitproof.errors import InputError
from circuitproof.files.canonical import readable_json
from circuitproof.forward.frozen import open_model
from circuitproof.importers.release import import_release
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.proof.claim import Claim
from circuitproof.proof.properties.agreement import Agreement
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.verdict import Verdict
from circuitproof.solvers.choices import Asking, Branching, Engine
from circuitproof.solvers.cvc5 import Cvc5
from circuitproof.solvers.obligations import QueryPlan, Questions
from circuitproof.solvers.results import Unsatisfiable
from circuitproof.solvers.rulings import DisagreementError, Portfolio
from circuitproof.solvers.z3 import Z3
from circuitproof.tasks.alphabet import TOY
from circuitproof.tasks.quotes import toy_quotes
from circuitproof.verbs.cross_check import cross_check, write_queries
from circuitproof.verbs.verification import Request
from hand_models import QUOTE_EDGES, circuit_of, quote_model

FOUR = (Equivalence(), Invariance(), Necessity(), Robustness(Fraction(1, 3)))


def request(folder, properties=FOUR, model=None):
    """Write the quote model and return a claim about it."""
    save_model(folder / "model", StoredModel(model or quote_model(), TOY))
    (folder / "circuit.json").write_bytes(readable_json(circuit_of(QUOTE_EDGES).to_json()))
    return Request(
        model=folder / "model", circuit=folder / "circuit.json", task="quotes", properties=properties
    )


def test_all_engines_decide_the_four_properties(tmp_path):
    """Who decided what in how long; the bundle is the exact engine's."""
    found = cross_check(request(tmp_path), Asking(engine=Engine.ALL), tmp_path / "bundle")
    assert found.verdict is Verdict.PROVED
    assert found.exact_seconds is not None
    for one in found.compared:
        assert one.answer is not None
        verdicts = {ruling.solver: ruling.verdict for ruling in one.solver_answers.rulings}
        assert verdicts == {"z3": Verdict.PROVED, "cvc5": Verdict.PROVED}
    assert (tmp_path / "bundle" / "certificate.json").exists()
    content = found.to_json()
    assert content["answers"][2]["solvers"][0]["solutions"][0]["obligation"] == "embed -> head 0.0"
    assert content["answers"][3]["cost"]["assertions"]["decision"] > 0


def test_one_solver_alone_answers_without_evidence(tmp_path):
    """Its verdict stands, but there is nothing that could be checked."""
    asked = request(tmp_path, (Equivalence(), Robustness(Fraction(1, 2))))
    found = cross_check(asked, Asking(engine=Engine.CVC5), None)
    assert [one.verdict for one in found.compared] == [Verdict.PROVED, Verdict.REFUTED]
    assert (found.verdict, found.exact_seconds, found.compared[0].answer) == (Verdict.REFUTED, None, None)
    with pytest.raises(InputError, match="a solver's answer is no evidence that anyone can check"):
        cross_check(asked, Asking(engine=Engine.Z3), tmp_path / "bundle")
    (tmp_path / "there").mkdir()
    with pytest.raises(InputError, match="already exists"):
        cross_check(asked, Asking(engine=Engine.ALL), tmp_path / "there")


def test_a_contradiction_fails_and_leaves_its_query_behind(tmp_path, monkeypatch):
    """No verdict, and no bundle; a file that shows it to both solvers."""
    monkeypatch.setattr("circuitproof.solvers.encode._bounded", lambda *_: ())
    place = tmp_path / "disagreement.smt2"
    with pytest.raises(DisagreementError, match=r"engines disagree: .*smt2 holds the smallest query"):
        cross_check(request(tmp_path), Asking(engine=Engine.ALL, reproduction=place), tmp_path / "bundle")
    assert place.read_text().startswith("; prompt")
    assert not (tmp_path / "bundle").exists()


def test_what_a_solver_finds_says_whose_decision_is_wanted(tmp_path):
    """Of agreement it is the other circuit's, not the task's, as the exact engine says too."""
    asked = request(tmp_path, (Agreement(circuit_of(("embed -> logits",))),))
    says = {
        engine: [one.says for one in cross_check(asked, Asking(engine=engine), None).counterexamples()]
        for engine in (Engine.Z3, Engine.ALL)
    }
    wanted = "wanted is what the other circuit decides; a tie is no clear decision"
    assert says == {Engine.Z3: [wanted], Engine.ALL: [wanted]}


def test_what_no_engine_decides_is_undecided(tmp_path):
    """Some prompts alone prove nothing about all."""
    asked = request(tmp_path, (Equivalence(),))
    found = cross_check(asked, Asking(engine=Engine.Z3, anchors=2), None)
    assert found.verdict is Verdict.UNDECIDED
    assert found.to_json()["answers"][0]["exact"] is None


def test_every_query_can_be_written_and_read_by_both_solvers(tmp_path):
    """The files are the queries: standard text, with the same answers."""
    asked = request(tmp_path)
    count = write_queries(asked, Asking(engine=Engine.ALL, anchors=4), tmp_path / "queries")
    files = sorted((tmp_path / "queries").iterdir())
    assert len(files) == count > 4
    for file in files:
        text = file.read_text()
        answers = [type(solver.solve(text, [], 20)) for solver in (Z3(), Cvc5())]
        assert answers[0] is answers[1]
        assert (answers[0] is Unsatisfiable) == (not file.name.startswith("necessity"))


@pytest.fixture(params=["norm_free", "band_norm_matched", "program_healed"])
def public(request, reference, tmp_path):
    """Return a claim about each public quote circuit."""
    released = import_release(reference / request.param, tmp_path / "model")
    return Claim(open_model(tmp_path / "model"), released.circuits["quotes"], toy_quotes(), FOUR)


@pytest.mark.parametrize("solver", [Z3(), Cvc5()], ids=["z3", "cvc5"])
def test_public_circuits_are_decided_on_anchors_with_every_intermediate_symbolic(public, solver):
    """Every branch of norms, attention and activations kept; what is left open is only what was not asked."""
    ruling = decided(public, solver, Equivalence(), QueryPlan(anchors=1))
    assert (ruling.met, ruling.refuted) == (1, 0)
    assert ruling.open == ["127 of 128 obligations were not asked about"]


@pytest.mark.parametrize("solver", [Z3(), Cvc5()], ids=["z3", "cvc5"])
@pytest.mark.parametrize("epsilon", [Fraction(1, 400)])
def test_public_circuits_are_robust_for_all_inputs(public, solver, epsilon):
    """Also with BandNorm, where the traced method of the paper leaves every input open."""
    prop = Robustness(epsilon)
    assert decided(public, solver, prop, QueryPlan()).verdict is Verdict.PROVED
    traced = decided(public, solver, prop, QueryPlan(Branching.TRACED))
    is_unstable = public.frozen.architecture.has_norm
    assert traced.verdict is (Verdict.UNDECIDED if is_unstable else Verdict.PROVED)


def decided(claim, solver, prop, plan):
    """Return what one solver makes of a property."""
    questions = Questions(claim, plan)
    return Portfolio((solver,), 60).hear(prop, questions.obligations(prop), len(claim.task.domain)).rulings[0]
