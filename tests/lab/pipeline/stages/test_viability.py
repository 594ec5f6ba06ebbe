"""Whether a model does a task at all, asked before anything is extracted."""

import torch

from circuitproof.circuits.graph import Graph
from circuitproof.tasks.loading import load_listed_task
from circuitproof_lab.pipeline.prompts import TaskPrompts
from circuitproof_lab.pipeline.splits import Split
from circuitproof_lab.pipeline.stages.viability import viability_of
from circuitproof_lab.records.viability import Narrowing


class Decides:
    """A model that decides as told: the only thing that is asked of it."""

    graph = Graph(1, 1)


def pool() -> Split:
    """Return the toy quotes, whose strata are the two openers."""
    source = TaskPrompts(load_listed_task("quotes"), "one")
    return Split("pool", source, source.order())


def deciding(monkeypatch, wrong: set[int]):
    """Let the first candidates of all prompts be right but for some places of the pool's order."""

    def logits(_model, task, _circuits):
        found = torch.zeros(1, task.size, len(task.candidates))
        for place, decision in enumerate(task.decisions()):
            found[0, place, decision] = -1.0 if place in wrong else 1.0
        return found

    monkeypatch.setattr("circuitproof_lab.pipeline.stages.viability.task_logits", logits)


def test_a_model_that_is_right_everywhere_keeps_the_pool(monkeypatch):
    """Nothing goes, and the sentence names no stratum."""
    deciding(monkeypatch, set())
    found = viability_of(Decides(), pool(), Narrowing.NOTHING, 1, 128)
    assert found.is_viable
    assert found.left == 128
    assert "wrong" not in found.sentence


def test_one_wrong_decision_ends_it_where_nothing_may_be_narrowed(monkeypatch):
    """The sentence says which stratum fails, and on how many prompts."""
    deciding(monkeypatch, {3})
    found = viability_of(Decides(), pool(), Narrowing.NOTHING, 1, 2)
    assert not found.is_viable
    assert found.kept == ()
    assert "(1)" in found.sentence


def test_a_stratum_goes_as_a_whole(monkeypatch):
    """Prompts that are decided right go with their stratum, and what is left must be balanced."""
    deciding(monkeypatch, {3})
    found = viability_of(Decides(), pool(), Narrowing.STRATA, 1, 2)
    assert len(found.kept) == len(found.strata) - 1
    assert found.left == 0
    assert not found.is_viable


def test_a_tie_is_not_right(monkeypatch):
    """Equal logits decide nothing."""
    monkeypatch.setattr(
        "circuitproof_lab.pipeline.stages.viability.task_logits",
        lambda _model, task, _circuits: torch.zeros(1, task.size, len(task.candidates)),
    )
    found = viability_of(Decides(), pool(), Narrowing.STRATA, 1, 2)
    assert all(one.right == 0 for one in found.strata)
