from dataclasses import replace

import pytest
import torch

from circuitproof.circuits.circuit import Circuit, circuit_of, whole
from circuitproof.circuits.graph import EMBED, LOGITS, Edge, Head, Mlp
from circuitproof.errors import DeclarationError, NumericError
from circuitproof.models.declaration import readout_tensors
from circuitproof.models.operators import BandNorm, LayerNorm, NoNorm
from circuitproof.nn.decisions import answer_margins, score_circuits, task_logits
from circuitproof.programs.text import parse
from circuitproof.tasks.quotes import toy_quotes
from circuitproof_lab.distill.calibrate import Calibration, Rung, calibrate, least_aimed
from circuitproof_lab.distill.install import replace_tensors
from circuitproof_lab.distill.lesion import Behaviour, silence
from circuitproof_lab.records.audit import Aim
from floats import agree
from models import NORMS, random_model, tiny_architecture

HEAD = Head(1, 1)
PROGRAM = parse("default 0\nadd 1 when key_token in {9, 10}\notherwise self")
SIZES = replace(tiny_architecture(), vocabulary=32, context=6)
PLAN = Calibration(seed=0, steps=150, batch=32, learning_rate=0.05, aim=Aim.RADIUS, target=0.02)


def model_of(**changes):
    """Return a random model with one program head."""
    return random_model(replace(SIZES, **changes), 3, {HEAD: PROGRAM})


def behaviour_of(model) -> Behaviour:
    """Return quote closing through the first MLP and the program head."""
    edges = [Edge(EMBED, Mlp(0)), Edge(Mlp(0), HEAD), Edge(HEAD, LOGITS)]
    return Behaviour(toy_quotes(), circuit_of(model.graph, edges))


@pytest.mark.parametrize("rung", Rung)
@pytest.mark.parametrize("biases", [True, False])
def test_every_rung_leaves_all_other_tensors_as_they_were(rung, biases):
    """Bit by bit; and the model without the program head computes the very same logits."""
    model = model_of(biases=biases, logit_bias=biases)
    behaviour = behaviour_of(model)
    after = calibrate(model, behaviour, rung, replace(PLAN, steps=3))
    local = readout_tensors([HEAD], biases=biases)
    before, now = model.named_slices(), after.named_slices()
    changed = {name for name in before if not torch.equal(before[name], now[name])}
    assert changed
    assert changed <= local <= before.keys()
    lesion: Circuit = silence(whole(model.graph), [HEAD])
    logits = [task_logits(one, behaviour.task, [lesion]) for one in (model, after)]
    assert torch.equal(*logits)
    assert all(parameter.requires_grad for parameter in model.parameters())


def test_the_shared_output_bias_is_not_local():
    """It is left when one head of several is gone."""
    assert readout_tensors([HEAD], biases=True) == {
        "head.1.1.value.weight",
        "head.1.1.value.bias",
        "head.1.1.output.weight",
    }


def test_the_readout_rung_learns_to_answer_in_circuit_and_model():
    """With the radius that was asked for."""
    model = model_of()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(0.4)  # a quieter rest of the model, which the readout has to outshout
    behaviour = behaviour_of(model)
    after = calibrate(model, behaviour, Rung.READOUT, replace(PLAN, steps=500))
    (alone,) = score_circuits(after, behaviour.task)
    (circuit,) = score_circuits(after, behaviour.task, [behaviour.circuit])
    assert alone.right == circuit.right == 128
    assert least_aimed(after, behaviour, Aim.RADIUS) >= PLAN.target


def test_a_gain_buys_radius_but_no_relative_radius():
    """Why the relative aim exists: scaling what the head writes scales margin and residual alike."""
    model = random_model(replace(SIZES, biases=False, logit_bias=False), 3, {HEAD: PROGRAM})
    behaviour = behaviour_of(model)
    plan = replace(PLAN, steps=60)
    one = calibrate(model, behaviour, Rung.READOUT, plan)
    name = "head.1.1.output.weight"
    twice = replace_tensors(one, {name: 2 * one.named_slices()[name]})
    absolute = [least_aimed(model.double(), behaviour, Aim.RADIUS) for model in (one, twice)]
    relative = [least_aimed(model.double(), behaviour, Aim.RELATIVE_RADIUS) for model in (one, twice)]
    assert agree(absolute[1], 2 * absolute[0])
    assert agree(relative[1], relative[0])


def test_the_same_plan_gives_the_same_bits():
    """Nothing depends on when it runs."""
    model = model_of()
    one, other = (
        calibrate(model, behaviour_of(model), Rung.READOUT, replace(PLAN, steps=4)) for _ in range(2)
    )
    for name, view in one.named_slices().items():
        assert torch.equal(view, other.named_slices()[name])


def test_a_model_without_programs_is_refused():
    """There is nothing that may be trained."""
    model = random_model(SIZES)
    with pytest.raises(DeclarationError, match="has no program heads, so there is nothing that may be calib"):
        calibrate(model, behaviour_of(model), Rung.SCALAR, PLAN)


def test_a_margin_is_aimed_at_through_a_final_norm():
    """It is the lead of the right logit, whatever stands between residual and logits."""
    model = model_of(norm=next(norm for norm in NORMS if isinstance(norm, LayerNorm)))
    behaviour, plan = behaviour_of(model), replace(PLAN, steps=60, aim=Aim.MARGIN, target=0.5)
    after = calibrate(model, behaviour, Rung.READOUT, plan)
    logits = task_logits(after, behaviour.task, [behaviour.circuit])
    assert least_aimed(after, behaviour, Aim.MARGIN) == float(answer_margins(behaviour.task, logits).min())
    assert least_aimed(after, behaviour, Aim.MARGIN) > least_aimed(model, behaviour, Aim.MARGIN)


def test_a_radius_through_norms_is_refused():
    """A radius at the final residual has no closed form there."""
    norm = next(norm for norm in NORMS if isinstance(norm, BandNorm))
    model = model_of(norm=norm)
    assert not isinstance(model.architecture.norm, NoNorm)
    with pytest.raises(DeclarationError, match="aims at the radius, and the logits of a model with norms"):
        calibrate(model, behaviour_of(model), Rung.SCALAR, PLAN)


def test_a_loss_that_is_not_a_number_stops_calibration(monkeypatch):
    """With the step, and what to do."""
    monkeypatch.setattr("circuitproof_lab.distill.calibrate._loss", lambda *_: torch.tensor(torch.nan))
    model = model_of()
    with pytest.raises(NumericError, match="the loss is nan at step 0; lower the learning rate"):
        calibrate(model, behaviour_of(model), Rung.SCALAR, PLAN)
