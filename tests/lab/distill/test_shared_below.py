from dataclasses import replace

import pytest
import torch

from circuitproof.circuits.circuit import circuit_of
from circuitproof.circuits.graph import EMBED, LOGITS, Edge, Head, Mlp
from circuitproof.errors import DeclarationError
from circuitproof.programs.text import parse
from circuitproof.tasks.quotes import toy_quotes
from circuitproof_lab.distill.audit import audit
from circuitproof_lab.distill.calibrate import Calibration, Rung, calibrate
from circuitproof_lab.distill.install import install, replace_tensors
from circuitproof_lab.distill.lesion import Behaviour
from circuitproof_lab.distill.shared_below import share_below
from circuitproof_lab.records.audit import Aim
from models import random_model, tiny_architecture

HEAD = Head(1, 1)
PROGRAM = parse("default 0\nadd 1 when key_token in {9, 10}\notherwise self")
PLAN = Calibration(seed=0, steps=4, batch=32, learning_rate=0.05, aim=Aim.RADIUS, target=0.02)


def models_of():
    """Return a base, the same with a program, and a behaviour."""
    base = random_model(replace(tiny_architecture(), vocabulary=32, context=6), 3)
    edges = [Edge(EMBED, Mlp(0)), Edge(Mlp(0), HEAD), Edge(HEAD, LOGITS)]
    return base, install(base, {HEAD: PROGRAM}), Behaviour(toy_quotes(), circuit_of(base.graph, edges))


@pytest.mark.parametrize("rung", Rung)
def test_calibration_and_audit_are_the_same_bits_where_what_is_below_is_shared(rung):
    """Sharing is a matter of time alone: tensors, counts and the digest of the lesioned logits."""
    _, alone, behaviour = models_of()
    wanted = calibrate(alone, behaviour, rung, PLAN)
    base, installed, _ = models_of()
    share_below(base, installed)
    found = calibrate(installed, behaviour, rung, PLAN)
    share_below(installed, found)
    assert found.below is installed.below is base.below
    for name, view in wanted.named_slices().items():
        assert torch.equal(view, found.named_slices()[name])
    assert audit(found, behaviour, [HEAD]) == audit(wanted, behaviour, [HEAD])
    assert audit(installed, behaviour, [HEAD]) == audit(alone, behaviour, [HEAD])


def test_models_that_differ_below_are_refused():
    """One number is enough; above it may be anything."""
    _, installed, _ = models_of()
    above = replace_tensors(installed, {"mlp.1.up.bias": installed.named_slices()["mlp.1.up.bias"] + 1})
    share_below(installed, above)
    beneath = replace_tensors(installed, {"mlp.0.up.bias": installed.named_slices()["mlp.0.up.bias"] + 1})
    with pytest.raises(DeclarationError, match="the models differ below layer 1, so what is there cannot be"):
        share_below(installed, beneath)
    assert beneath.below is None


def test_a_program_further_down_is_shared_below_itself():
    """The lowest program of any model decides how far up they are equal."""
    base, installed, _ = models_of()
    share_below(base, installed)
    lower = install(base, {Head(0, 0): PROGRAM})
    share_below(installed, lower)
    assert base.below is not None
    assert lower.below is not None
    assert (base.below.layer, lower.below.layer) == (1, 0)
    assert installed.below is lower.below
