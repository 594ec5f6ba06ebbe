"""Every training and every evaluation on a device that is not the processor, with torch's meta in its place.

There are shapes and no numbers: what is read back from it is always the same, so that nothing is learned or
decided here. What is seen is that the work goes through, that no two devices meet, that no tensor is made
without a device, and that most of the work was there.
"""

from contextlib import ExitStack, contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from circuitproof.circuits.ablation import Counterfactual, Mean, Pooling
from circuitproof.circuits.circuit import whole
from circuitproof.circuits.graph import Graph, Head
from circuitproof.errors import InputError
from circuitproof.files.devices import CPU
from circuitproof.find.choices import Order, RemovalUnit, Search
from circuitproof.find.extraction import ExtractionMethod, find_circuits
from circuitproof.models.operators import Attention
from circuitproof.nn import measuring, ops, program_heads
from circuitproof.nn.checkpoint import StoredModel, load_model, save_model
from circuitproof.nn.comparison import compare
from circuitproof.nn.decisions import task_logits
from circuitproof.nn.evaluation import evaluate
from circuitproof.nn.measuring import measured
from circuitproof.proof.effort import UNHURRIED
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.tasks.alphabet import TOY
from circuitproof.tasks.quotes import toy_quotes
from circuitproof.verbs.floats import FloatMeasures
from circuitproof.verbs.verification import Request, verify
from circuitproof_lab.distill.attention import record
from circuitproof_lab.distill.audit import audit
from circuitproof_lab.distill.calibrate import Calibration, Rung, calibrate, least_aimed
from circuitproof_lab.distill.heal import TERMS, Draw, Healing, TextTerm, Treatment, Weighing
from circuitproof_lab.distill.lesion import Behaviour, lesions_of
from circuitproof_lab.distill.prefix_table import PrefixTable
from circuitproof_lab.distill.shared_below import share_below
from circuitproof_lab.records.audit import Aim
from circuitproof_lab.surrogate.fitting import Fitting, fit_network
from circuitproof_lab.train.data import TaskData
from circuitproof_lab.train.fold_norm import compare as compare_folded
from circuitproof_lab.train.fold_norm import fold
from circuitproof_lab.train.loop import NextToken, TrainingPlan, Watcher, fit, train
from circuitproof_lab.train.norm_schedule import NormReader, Schedule
from circuitproof_lab.train.remove_norm import Fading, deviations_of, make_fading
from circuitproof_lab.train.tried_norms import AffineClamp, Clamp, GainBuckets, LeakyClamp, try_norm
from corpora import corpus_data
from devices import META, Elsewhere, NamedDevices
from hand_models import QUOTE_EDGES, circuit_of, quote_model, table_task
from models import ACTIVATIONS, NORMS, PROGRAMS, SCANS, random_model, tiny_architecture
from surrogate_twin import automaton_teacher

PLAN = TrainingPlan(
    seed=1,
    steps=2,
    learning_rate=0.01,
    warmup=1,
    weight_decay=0.01,
    gradient_limit=1.0,
    initial_deviation=0.1,
    evaluate_every=2,
    checkpoint_every=1,
    pieces=2,
)
SIZES = replace(tiny_architecture(), vocabulary=32, context=6)
PROMPTS = [(0, 1), (3, 4), (3, 4, 2), (1, 1, 4), (1, 2, 0), (4, 2, 0, 3)]
TASK = table_task({prompt: sum(prompt) % 3 for prompt in PROMPTS}, candidates=(0, 1, 2))
EDGES = (
    "embed -> head 0.0",
    "head 0.0 -> mlp 0",
    "mlp 0 -> head 1.1",
    "embed -> mlp 0",
    "head 1.1 -> logits",
)
BEHAVIOUR = Behaviour(TASK, circuit_of(EDGES, layers=2, heads=2))
TEXT = TextTerm(corpus_data([place % 7 for place in range(120)], 5, 16, 1), 0.5)


ON_BOTH = pytest.mark.parametrize("elsewhere", [True, False], ids=["FP64", "no FP64"], indirect=True)
"""Marks what is computed in FP64 where there is such a thing."""


@pytest.fixture
def elsewhere(request, monkeypatch):
    """Return what lets meta be a device of its own: without FP64, like mps, unless it is asked for."""
    in_doubles = getattr(request, "param", False)
    for module in (measuring, ops, program_heads):
        monkeypatch.setattr(module, "has_doubles", lambda kind: kind == CPU or in_doubles)

    @contextmanager
    def away(number: int = 1, least: int = 100):
        with ExitStack() as stack:
            stack.enter_context(NamedDevices())
            mode = stack.enter_context(Elsewhere(number, in_doubles=in_doubles))
            yield
        assert mode.calls >= least

    return away


@pytest.mark.parametrize(
    ("elsewhere", "norm", "attention"),
    [
        *((False, norm, attention) for norm, attention in zip(NORMS, [*Attention] * 2, strict=True)),
        *((True, norm, Attention.SPARSEMAX) for norm in NORMS[1:3]),
    ],
    indirect=["elsewhere"],
)
def test_training_on_a_task_goes_on_where_its_checkpoint_ends(elsewhere, tmp_path, norm, attention):
    """Steps, evaluations, checkpoints in main memory, and back."""
    sizes = replace(tiny_architecture(norm=norm, attention=attention), vocabulary=32, context=6)
    with elsewhere():
        for steps in (1, 2):
            plan = replace(PLAN, steps=steps, evaluate_every=1, pieces=1)
            found = train(sizes, TaskData([toy_quotes()], 32, 1), plan, tmp_path, Watcher(), META)
            assert [one.step for one in found.evaluations] == [1, 2][:steps]
            assert found.model.device.type == META
    (stored,) = tmp_path.iterdir()
    assert {tensor.device.type for tensor in load_model(stored).model.parameters()} == {CPU}


@pytest.mark.parametrize("activation", ACTIVATIONS[1:])
def test_training_on_text_in_every_activation(elsewhere, tmp_path, activation):
    """Windows are drawn in main memory."""
    with elsewhere():
        found = train(tiny_architecture(activation=activation), TEXT.data, PLAN, tmp_path, Watcher(), META)
    assert found.evaluations[-1].measures["development loss"] == 1


@pytest.mark.parametrize(
    "tried",
    [
        AffineClamp(Fraction(1)),
        GainBuckets(Fraction(1, 64), Fraction(64)),
        LeakyClamp(Fraction(1), Fraction(1, 10)),
        Clamp(Fraction(1)),
    ],
    ids=lambda tried: tried.tag,
)
def test_norms_that_were_given_up_are_trained_and_measured(elsewhere, tmp_path, tried):
    """What a comparison of variants asks of tasks: the loss over all prompts and the final residual."""
    model, data = random_model(tiny_architecture(norm=NORMS[1])), TaskData([TASK], 4, 1)
    try_norm(model.to(META), tried)
    with elsewhere():
        fit(model, NextToken(data), replace(PLAN, steps=1, pieces=1), tmp_path, Watcher())
        assert data.measure_whole(model)["final residual"] == 1


def test_norms_fade_and_are_folded(elsewhere, tmp_path):
    """The fold is in main memory; both models are compared wherever they are."""
    model = random_model(replace(tiny_architecture(norm=NORMS[1]), layers=1)).to(META)
    schedule = Schedule(order=tuple(NormReader), begin=1, fade=1, interval=1, window=2)
    with elsewhere():
        make_fading(model)
        fit(model, Fading(TEXT.data, schedule, 2), replace(PLAN, steps=4), tmp_path, Watcher())
        folded = fold(model, deviations_of(model)).float()
        assert folded.device.type == CPU
        for other in (folded, folded.to(META)):
            assert compare_folded(model, other, TEXT.data.fixed_batch()).positions == 64 * 5


@ON_BOTH
@pytest.mark.parametrize(
    ("treatment", "programs"), [*zip(Treatment, (PROGRAMS, SCANS, SCANS), strict=True)], ids=[*Treatment]
)
def test_healing_under_every_objective(elsewhere, tmp_path, treatment, programs):
    """Masks, extra edges, silenced programs, and text beside the task."""
    model = random_model(tiny_architecture(), 2, programs).to(META)
    weighing = Weighing(treatment, dict.fromkeys(TERMS[treatment], 0.5))
    goal = Healing([BEHAVIOUR], tuple(programs), weighing, Draw(3, 3, 0.25), TEXT)
    with elsewhere():
        fit(model, goal, replace(PLAN, pieces=1), tmp_path, Watcher())


@pytest.mark.parametrize(("rung", "aim"), [*zip(Rung, Aim, strict=True)])
def test_calibration_of_every_rung(elsewhere, rung, aim):
    """What is calibrated, and its radius; below the programs it is computed once."""
    head = Head(1, 1)
    model = random_model(tiny_architecture(), 2, {head: PROGRAMS[head]}).to(META)
    plan = Calibration(seed=0, steps=2, batch=4, learning_rate=0.05, aim=aim, target=0.02)
    with elsewhere():
        found = calibrate(model, BEHAVIOUR, rung, plan, TEXT)
        share_below(model, found)
        assert found.device.type == META
        assert least_aimed(found, BEHAVIOUR, aim) == 1


def test_a_surrogate_is_fitted(elsewhere):
    """Its weights come back to be rounded; here they are all the same, which no teacher agrees with."""
    teacher = automaton_teacher([(1, 0), (0, 1)], [0, 1])
    fitting = Fitting(hidden=(12,), steps=2, learning_rate=0.02, attempts=1, seed=1)
    with elsewhere(number=0), pytest.raises(InputError, match="agrees with teacher 'machine' on"):
        fit_network(teacher, fitting, META)


@pytest.fixture
def stored(tmp_path) -> Path:
    """Return the directory of a random model for the toy tasks."""
    save_model(tmp_path / "model", StoredModel(random_model(SIZES), TOY))
    return tmp_path / "model"


@pytest.mark.parametrize("ablation", ["zero", "mean"])
def test_evaluating_a_stored_model(elsewhere, stored, ablation):
    """The model, all edges, the worst lesion and none."""
    with elsewhere():
        rows = evaluate(stored, ["quotes", "brackets"], [], ablation, META)
    assert [row.score.prompts for row in rows] == [128] * 8


def test_cut_edges_carry_another_prompt(elsewhere):
    """Partners are looked up by the tokens that are read back: here each of them is a one."""
    model = random_model(SIZES).to(META)
    partners = Counterfactual(tuple(((1,) * length, (2,) * length) for length in range(2, 5)))
    for ablation in (partners, Mean(tuple(PROMPTS), Pooling.POSITION), Mean(tuple(PROMPTS), Pooling.ALL)):
        circuit = replace(BEHAVIOUR.circuit, ablation=ablation)
        with elsewhere():
            assert task_logits(model, TASK, [circuit]).device.type == CPU


def test_a_large_graph_with_few_gaps(elsewhere):
    """There every node reads the running sum less what it must not read."""
    model = random_model(replace(SIZES, layers=12, heads=4)).to(META)
    circuit = whole(Graph(12, 4))
    with elsewhere():
        task_logits(model, TASK, [circuit.without(circuit.graph.edges()[0])])


@pytest.mark.parametrize(
    ("unit", "order"),
    [*zip(RemovalUnit, (Order.ATTRIBUTION, Order.TOPOLOGICAL, Order.ATTRIBUTION), strict=True)],
)
def test_extraction_in_every_unit(elsewhere, stored, unit, order):
    """Attribution goes backward through the masks, which are in main memory."""
    method = ExtractionMethod(granularity=unit, order=order, search=Search.BISECTION, thresholds=(0.1,))
    with elsewhere():
        found = find_circuits(stored, toy_quotes(), method, device=META)
    assert found.candidates


def test_floats_beside_a_proof(elsewhere, tmp_path):
    """What was proved does not change; what is measured comes from there."""
    save_model(tmp_path / "model", StoredModel(quote_model(), TOY))
    kept = circuit_of(QUOTE_EDGES)
    request = Request(model=tmp_path / "model", circuit=kept, task="quotes", properties=(Equivalence(),))
    found = verify(request, None)
    with elsewhere(least=20):
        floats = measured(found, UNHURRIED, META).floats
    assert isinstance(floats, FloatMeasures)
    assert floats.agreement == 128


def test_recorded_logits_beside_a_model(tmp_path):
    """In FP64, so that there is no such thing without it."""
    model = random_model(tiny_architecture(attention=Attention.SOFTMAX))
    save_model(tmp_path / "model", StoredModel(model, None))
    (tmp_path / "logits.json").write_text('{"tokens": [[0, 1]], "logits": [[1, 1, 1, 1, 1, 1, 1]]}')
    with NamedDevices(), Elsewhere() as mode:
        assert compare(tmp_path / "model", tmp_path / "logits.json", device=META).difference == 0
    assert mode.calls > 50


def test_audits_lesions_and_attention(elsewhere):
    """What the stages of a study measure of a model."""
    head = Head(1, 1)
    model = random_model(tiny_architecture(), 2, {head: PROGRAMS[head]}).to(META)
    with elsewhere():
        assert audit(model, BEHAVIOUR, [head]).prompts == len(PROMPTS)
        assert len(lesions_of(model, BEHAVIOUR)) == 6
        assert record(model, Head(0, 0), PrefixTable(tuple(PROMPTS))).mean_support > 0
