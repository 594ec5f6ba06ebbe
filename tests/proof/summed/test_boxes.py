from dataclasses import replace

import pytest

from circuitproof.bundle.files import write_bundle
from circuitproof.proof.battery import prove
from circuitproof.proof.effort import UNHURRIED, Effort, Pace
from circuitproof.proof.evidence import Led, RatioCut, _leaves
from circuitproof.proof.properties.accuracy import Accuracy
from circuitproof.proof.summed.boxes import shown
from circuitproof.proof.summed.leads import Leads
from circuitproof.proof.summed.least import LatticeRegion
from circuitproof.proof.summed.world import SummedWorld
from circuitproof.tasks.rules import OnlyOpener
from circuitproof_check.main import Beside, Outcome, inspect
from summed_claims import claim_of, listed

SEEDS = (13, 16, 32)
"""Claims of two or three heads of which plain weights do not close every question that can be closed."""


def everything(seed):
    """Return what leads of each label and length are about, whichever candidate is to lead."""
    world = SummedWorld(claim_of(seed, (Accuracy(),), 4), Effort(), 64)
    for label in world.labelled.labels:
        for length in world.lattices:
            if (lattice := world.lattice(label, length)) is not None:
                for winner in range(len(world.claim.task.candidates)):
                    region = LatticeRegion(lattice, lattice.free)
                    yield label, Leads(world.tables, world.table(length), region, winner)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_boxes_close_is_led_on_every_prompt(seed):
    """Cuts and weights are another way to say what the forward pass decides."""
    truth, trees = listed(seed, 4), 0
    for _, leads in everything(seed):
        found = shown(leads, UNHURRIED)
        trees += len(found.trees)
        for prompt in leads.region.lattice.prompts(leads.region.masks):
            if leads.table.queries.index(prompt[-1]) not in found.open_queries():
                assert truth[prompt][1] == leads.winner
    assert trees


def with_answer(claim, label, winner):
    """Return a claim in which a candidate is the right answer where an opener stands."""
    answers = tuple(
        (opener, claim.task.candidates[winner] if opener == label.group else answer)
        for opener, answer in claim.task.answer.answers
    )
    return replace(claim, task=replace(claim.task, answer=OnlyOpener(answers)))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_checker_accepts_cuts(tmp_path, seed):
    """It closes each box by itself, and knows no reason why it was cut there."""
    label, leads = next((label, leads) for label, leads in everything(seed) if shown(leads, UNHURRIED).trees)
    battery = prove(with_answer(claim_of(seed, (Accuracy(),), 4), label, leads.winner), Effort(listed=1))
    cuts = [
        tree for leaf in _leaves(battery.answers[0].evidence) if isinstance(leaf, Led) for tree in leaf.cuts
    ]
    assert cuts
    write_bundle(tmp_path / "bundle", battery)
    report = inspect(tmp_path / "bundle", Beside(operations=10**9))
    assert report.outcome is Outcome.VALID, report.reason


def test_some_tree_cuts_a_box():
    """Weights alone do not always do."""
    found = [
        tree
        for seed in SEEDS
        for _, leads in everything(seed)
        for tree in shown(leads, UNHURRIED).trees.values()
    ]
    assert any(isinstance(tree, RatioCut) for tree in found)


def test_no_box_is_looked_at_once_time_is_over():
    """What is not closed by then is open."""
    for _, leads in everything(SEEDS[0]):
        found = shown(leads, Pace(deadline=-1.0))
        assert not any(isinstance(tree, RatioCut) for tree in found.trees.values())
