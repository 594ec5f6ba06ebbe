"""The paper's table of branch-certificate remediation, on the public BandNorm model that it is about."""

from dataclasses import replace

import pytest
import torch

from circuitproof.circuits.circuit import Circuit, circuit_of
from circuitproof.circuits.graph import EMBED, LOGITS, Edge, Graph, Head
from circuitproof.circuits.spelling import load_circuit
from circuitproof.importers.release import import_release
from circuitproof.nn.checkpoint import load_model
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.regions.search import Effort, Method
from circuitproof.proof.verdict import Verdict
from circuitproof.solvers.choices import Asking, Engine
from circuitproof.tasks.brackets import toy_brackets
from circuitproof.verbs.cross_check import cross_check
from circuitproof.verbs.verification import Request, parse_properties, verify
from circuitproof_check.main import Outcome, check

EPSILONS = ("1/1000", "1/400", "1/200", "1/100")
TWO_EDGES = circuit_of(Graph(2, 2), [Edge(EMBED, Head(0, 0)), Edge(Head(0, 0), LOGITS)])
"""The own circuit of either task, as the release's sweep over radii has it."""


@pytest.fixture
def model(reference, tmp_path):
    """Return the directory of the matched BandNorm model."""
    import_release(reference / "band_norm_matched", tmp_path / "model")
    return tmp_path / "model"


def robustness(model, task: str, epsilon: str, circuit: Circuit = TWO_EDGES) -> Request:
    """Return the question that the table asks."""
    properties = parse_properties([Kind.ROBUSTNESS], epsilon)
    return Request(model=model, circuit=circuit, task=task, properties=properties)


def test_the_quote_circuit_of_the_release_is_the_two_edges(reference):
    """So what is proved of them is about the file that the authors publish."""
    assert load_circuit(reference / "band_norm_matched" / "quote_close" / "circuit.json") == TWO_EDGES


@pytest.mark.parametrize(("epsilon", "stable"), list(zip(EPSILONS, (64, 0, 0, 0), strict=True)))
def test_what_the_paper_leaves_unknown_about_quotes_is_proved(model, tmp_path, epsilon, stable):
    """The traced branch holds for few of the 128 inputs or none; splitting the ball decides all of them."""
    request = robustness(model, "quotes", epsilon)
    (complete,) = verify(request, tmp_path / "bundle").answers
    assert (complete.verdict, complete.met) == (Verdict.PROVED, 128)
    assert check(tmp_path / "bundle", model)[0] is Outcome.VALID
    (traced,) = verify(replace(request, effort=Effort(Method.BRANCH)), None).answers
    assert (traced.verdict, traced.met) == (Verdict.UNDECIDED, stable)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_what_the_paper_leaves_unknown_about_brackets_is_refuted_on_64_prompts(model, tmp_path, epsilon):
    """The paper reports no decision violation at any of the four radii; there are 64 at each."""
    (answer,) = verify(robustness(model, "brackets", epsilon), tmp_path / "bundle").answers
    assert (answer.verdict, answer.met, len(answer.findings.counterexamples)) == (Verdict.REFUTED, 64, 64)
    assert check(tmp_path / "bundle", model)[0] is Outcome.REFUTED


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_the_first_refutation_of_brackets_replays_in_floats(model, dtype):
    """A model that anybody runs decides otherwise there: the jump is the released norm's, not rounding's."""
    (found,) = verify(robustness(model, "brackets", "1/1000"), None).counterexamples()
    (seen,) = found.prompts
    assert round(float(max(map(abs, seen.eta))), 5) == 0.00095
    transformer = load_model(model).model.to(dtype)
    with torch.no_grad():
        residual = transformer.final_residual(torch.tensor([seen.prompt]), [TWO_EDGES])
        moved = residual + torch.tensor([float(value) for value in seen.eta], dtype=dtype)
        logits = transformer.residual_logits(torch.cat([residual, moved]), toy_brackets().candidates)
    margins = (logits[:, 0] - logits[:, 1]).tolist()
    assert [round(margin, 4) for margin in margins] == [-0.0885, 0.0289]


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(
    ("task", "verdict", "met"), [("quotes", Verdict.PROVED, 128), ("brackets", Verdict.REFUTED, 64)]
)
def test_both_solvers_say_the_same(model, task, verdict, met, epsilon):
    """Each in its own way, with every branch of norm and attention kept."""
    (compared,) = cross_check(robustness(model, task, epsilon), Asking(engine=Engine.ALL), None).compared
    assert {(one.solver, one.verdict, one.met) for one in compared.solver_answers.rulings} == {
        ("z3", verdict, met),
        ("cvc5", verdict, met),
    }


FIVE_EDGES = dict(zip(EPSILONS, (128, 64, 64, 64), strict=True))


@pytest.mark.parametrize(("epsilon", "met"), FIVE_EDGES.items())
def test_the_five_edge_quote_circuit_is_robust_at_the_least_radius_alone(model, reference, epsilon, met):
    """It is another circuit of the same model, on which the paper counts what encodings cost."""
    circuit = load_circuit(reference / "band_norm_matched" / "quote_close_matched" / "circuit.json")
    (answer,) = verify(robustness(model, "quotes", epsilon, circuit), None).answers
    assert (answer.verdict is Verdict.PROVED, answer.met) == (met == 128, met)
