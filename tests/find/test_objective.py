from itertools import product
from math import exp, log

import pytest
import torch

from circuitproof.circuits.circuit import empty, whole
from circuitproof.circuits.graph import EMBED, Edge, Mlp
from circuitproof.errors import DeclarationError, InputError, NumericError
from circuitproof.files.codec import to_json
from circuitproof.find import objective
from circuitproof.find.choices import Objective
from circuitproof.find.measure import Measure
from circuitproof.find.objective import KeptDecisions, Meter, Tolerance, target_of
from circuitproof.nn import below
from floats import agree
from hand_models import ADDED, ADDER, ADDER_TASK, DIRECT, build, circuit_of, table_task
from models import NORMS, random_model, tiny_architecture

PROMPTS = [prompt for length in (1, 2, 3) for prompt in product((0, 4), repeat=length)]
TASK = table_task({prompt: 1 + sum(prompt) % 3 for prompt in PROMPTS}, candidates=(1, 2, 3))
"""Prompts of three lengths and three candidates."""


def softmax(logits):
    """Return the distribution, in plain Python."""
    total = sum(exp(value) for value in logits)
    return [exp(value) / total for value in logits]


def best(logits):
    """Return the places of the maximal logits."""
    return {place for place, value in enumerate(logits) if value == max(logits)}


def logits_of(model, task, *circuits):
    """Return the candidates' logits prompt by prompt, of a circuit or of the whole model."""
    with torch.no_grad():
        return [
            model.candidate_logits(torch.tensor([prompt]), task.candidates, *circuits)[0, 0].tolist()
            for prompt in task.domain.prompts
        ]


def slow_measure(model, task, wholes, circuit, objective):
    """Return the measure as the words say it, from the model's logits for each prompt and the circuit's."""
    divergences, agreed, margins = [], 0, []
    every = zip(task.answers(), wholes, logits_of(model, task, [circuit]), strict=True)
    for answer, full, found in every:
        right = task.candidates.index(answer)
        wanted = best(full) if objective is Objective.MODEL else {right}
        is_right = [float(place == right) for place in range(len(found))]
        target = softmax(full) if objective is Objective.MODEL else is_right
        pairs = zip(target, softmax(found), strict=True)
        divergences.append(sum(p * log(p / q) for p, q in pairs if p))
        agreed += best(found) == wanted
        (place,) = wanted
        margins.append(found[place] - max(found[:place] + found[place + 1 :]))
    return sum(divergences) / len(divergences), agreed, min(margins)


@pytest.mark.parametrize("objective", Objective)
@pytest.mark.parametrize("norm", NORMS)
def test_a_batch_of_circuits_measures_as_the_words_say(norm, objective):
    """The slow twin takes one prompt and one circuit at a time."""
    model = random_model(tiny_architecture(norm=norm), seed=3).double()
    circuits = [whole(model.graph), *whole(model.graph).lesions()[::5]]
    wholes = logits_of(model, TASK)
    for circuit, found in zip(circuits, Meter(model, TASK, objective).measure(circuits), strict=True):
        kl, agreed, margin = slow_measure(model, TASK, wholes, circuit, objective)
        assert agree(found.kl, kl)
        assert (found.agreed, found.prompts) == (agreed, len(PROMPTS))
        assert agree(found.worst_margin, margin)


def test_the_whole_model_is_faithful_to_itself():
    """Nothing is lost before anything is removed."""
    model = random_model(tiny_architecture()).double()
    (found,) = Meter(model, TASK, Objective.MODEL).measure([whole(model.graph)])
    assert agree(found.kl, 0.0)
    assert found.agreement == 1


def test_the_objectives_differ_where_the_model_is_wrong():
    """The adder without its MLP decides 0 on token 0; the right answer is 1."""
    task = table_task({(0,): 1, (3,): 0})
    model = build({**ADDER, "mlp.0.down.weight": [[0, 0], [0, 0]]})
    (faithful,) = Meter(model, task, Objective.MODEL).measure([circuit_of(DIRECT)])
    (right,) = Meter(model, task, Objective.PROGRAM).measure([circuit_of(DIRECT)])
    assert (faithful.agreed, right.agreed) == (2, 1)
    assert (faithful.worst_margin, right.worst_margin) == (1, -1)


def test_the_divergence_from_the_program_is_the_cross_entropy():
    """Logits (1, 0) give the answer 0 with probability e / (e + 1)."""
    (found,) = Meter(build(ADDER), table_task({(1,): 0}), Objective.PROGRAM).measure([circuit_of(ADDED)])
    assert agree(found.kl, log(1 + exp(-1)))


def test_a_tie_agrees_only_with_the_same_tie():
    """Token 4 ties in the adder and is clear in every circuit without its MLP; no edges tie everything."""
    meter = Meter(build(ADDER), table_task({(4,): 0}), Objective.MODEL)
    tied, clear, nothing = meter.measure([circuit_of(ADDED), circuit_of(DIRECT), empty(meter.model.graph)])
    assert (tied.agreed, tied.worst_margin) == (1, 0)
    assert (clear.agreed, clear.worst_margin) == (0, -2)
    assert (nothing.agreed, nothing.worst_margin) == (1, 0)
    (lost,) = Meter(build(ADDER), ADDER_TASK, Objective.PROGRAM).measure([empty(meter.model.graph)])
    assert (lost.agreed, lost.worst_margin) == (0, 0)


def test_a_tie_of_some_must_lead_the_others():
    """Both its lead over the rest and its evenness count."""
    wanted = torch.tensor([[True, True, False]])
    target = KeptDecisions(wanted.double() / 2, wanted)
    logits = torch.tensor([[[2.0, 2.0, 1.0]], [[2.0, 1.5, 1.0]], [[2.0, 2.0, 5.0]], [[2.0, 2.0, 2.0]]])
    assert target.agrees(logits)[:, 0].tolist() == [True, False, False, False]
    assert target.margins(logits)[:, 0].tolist() == [0, -0.5, -3, 0]


def test_nothing_is_run_twice_and_dead_edges_make_no_difference():
    """The sweep leans on it: the cache is keyed by what is live."""
    model = random_model(tiny_architecture())
    meter = Meter(model, TASK, Objective.MODEL)
    direct = empty(model.graph) | circuit_of(DIRECT, layers=2, heads=2)
    dead = direct | circuit_of([str(Edge(EMBED, Mlp(0)))], layers=2, heads=2)
    first = meter.measure([direct, dead])
    assert first[0] is first[1]
    assert meter.measure([dead, direct]) == first
    assert (meter.batches, meter.circuits) == (1, 1)


def test_a_tolerance_bounds_the_rise_and_the_agreement():
    """A fall of the divergence is always tolerated, a lost prompt never."""
    before = Measure(0.5, 10, 10, 1.0)
    tolerance = Tolerance(0.1)
    assert tolerance.allows(before, Measure(0.59, 10, 10, 1.0))
    assert tolerance.allows(before, Measure(0.0, 10, 10, -1.0))
    assert not tolerance.allows(before, Measure(0.61, 10, 10, 1.0))
    assert not tolerance.allows(before, Measure(0.5, 9, 10, 1.0))
    assert Tolerance(0.1, agreement=0.9).allows(before, Measure(0.5, 9, 10, 1.0))


def test_rounding_is_no_rise():
    """The same circuit in another batch differs in its last bits; a threshold of 0 must not see it."""
    assert Tolerance(0.0).allows(Measure(0.5, 1, 1, 1.0), Measure(0.5 + 1e-8, 1, 1, 1.0))
    assert not Tolerance(0.0).allows(Measure(0.5, 1, 1, 1.0), Measure(0.5 + 1e-5, 1, 1, 1.0))


@pytest.mark.parametrize("threshold", [-0.1, float("nan"), float("inf")])
def test_a_threshold_is_a_number_of_nats(threshold):
    """NaN compares false with everything, so it would remove nothing in silence."""
    with pytest.raises(InputError, match=f"threshold is {threshold}, want a number of nats, not negative"):
        Tolerance(threshold)


@pytest.mark.parametrize("agreement", [0, -1, 1.01, float("nan")])
def test_an_agreement_is_a_share(agreement):
    """With 0 every circuit would do."""
    with pytest.raises(DeclarationError, match="want a share of the prompts, above 0 and at most 1"):
        Tolerance(0.1, agreement)


@pytest.mark.parametrize("objective", Objective)
def test_logits_that_are_no_numbers_are_refused(objective):
    """A NaN agrees with nothing and would look like a wrong answer."""
    model = build({**ADDER, "logits.weight": [[float("nan"), 0]] * 5})
    with pytest.raises(NumericError, match="a candidate's logit is NaN or infinite"):
        Meter(model, ADDER_TASK, objective).measure([whole(model.graph)])


def test_the_target_of_the_program_is_the_answer():
    """Whatever the model says."""
    target = target_of(build(ADDER), ADDER_TASK, Objective.PROGRAM)
    assert target.decisions.tolist() == [[False, True], [True, False], [False, True], [True, False]]
    assert target.probabilities.tolist() == [[0, 1], [1, 0], [0, 1], [1, 0]]


def test_a_measure_is_told_as_json():
    """With counts, not shares: a reader can see what was counted."""
    found = Measure(0.25, 3, 4, -1.5)
    assert found.agreement == 0.75
    assert to_json(found) == {"kl": 0.25, "agreed": 3, "prompts": 4, "worst_margin": -1.5}


@pytest.fixture
def many_tokens(monkeypatch):
    """Let a few tokens be many."""
    monkeypatch.setattr(objective, "_FEW_TOKENS", 0)


@pytest.mark.usefixtures("many_tokens")
def test_circuits_one_after_the_other_are_measured_as_a_fresh_meter_does():
    """What they share is remembered by the meter alone: the model is as it was."""
    model = random_model(tiny_architecture(), 5)
    circuits = [whole(model.graph).without(edge) for edge in model.graph.edges()]
    meter = Meter(model, TASK, Objective.MODEL)
    assert meter.at_once == 1
    for circuit in circuits:
        assert meter.measure([circuit]) == Meter(model, TASK, Objective.MODEL).measure([circuit])
    assert model.below is None


@pytest.mark.usefixtures("many_tokens")
def test_what_would_not_fit_is_not_remembered(monkeypatch):
    """It is measured all the same, and several at once."""
    model, found = random_model(tiny_architecture(), 5), []
    for numbers in (1 << 28, 1):
        monkeypatch.setattr(below, "_NUMBERS", numbers)
        meter = Meter(model, TASK, Objective.MODEL)
        assert (meter.at_once > 1) == (numbers == 1)
        found.append([meter.measure([whole(model.graph).without(edge)]) for edge in model.graph.edges()])
    assert found[0] == found[1]
