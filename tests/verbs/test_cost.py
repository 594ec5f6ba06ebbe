from dataclasses import replace
from fractions import Fraction

import pytest

from circuitproof.errors import InputError
from circuitproof.files.canonical import readable_json
from circuitproof.models.operators import BandNorm, Lift
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.verdict import Verdict
from circuitproof.solvers.choices import Asking, Branching, Engine
from circuitproof.tasks.alphabet import TOY
from circuitproof.verbs.cost import CircuitKind, CostRequest, count_costs, explain
from hand_models import QUOTE_EDGES, QUOTE_SIZES, circuit_of, quote_model

BANDED = replace(QUOTE_SIZES, norm=BandNorm(Fraction(1, 2), Fraction(2), Lift.REFERENCE))
LONGER = (*QUOTE_EDGES, "head 0.0 -> mlp 0", "mlp 0 -> logits")


def models(folder):
    """Write a BandNorm, a norm-free and a program-mediated model, and two circuits."""
    made = {
        "band": quote_model(sizes=BANDED, programs={}),
        "plain": quote_model(programs={}),
        "programs": quote_model(),
    }
    for name, model in made.items():
        save_model(folder / name, StoredModel(model, TOY))
    for name, edges in (("short", QUOTE_EDGES), ("long", LONGER)):
        (folder / f"{name}.json").write_bytes(readable_json(circuit_of(edges).to_json()))
    return tuple(folder / name for name in made)


def asked(folder, circuits, anchors=4, engine=Engine.EXACT):
    """Return a request for a table of the three."""
    return CostRequest(
        models=models(folder),
        circuits=tuple(folder / f"{name}.json" for name in circuits),
        task="quotes",
        epsilon=Fraction(1, 100),
        asking=Asking(engine=engine, branching=Branching.TRACED, anchors=anchors),
    )


def test_one_topology_is_compared_by_its_totals(tmp_path):
    """BandNorm costs more than no norm, neural heads more than programs, on the same edges."""
    found = count_costs(asked(tmp_path, ["short"]))
    assert found.is_matched
    band, plain, programs = found.accounts
    assert [one.variant for one in found.accounts] == list(CircuitKind)
    assert band.total.total > plain.total.total > programs.total.total
    assert band.total.per_norm is not None
    assert plain.total.products > programs.total.products == 0
    assert programs.per_edge == Fraction(programs.total.total, 2)
    assert explain(found)[0] == "one topology: totals may be compared"
    content = found.to_json()
    assert [one["paper_per_edge"] for one in content["accounts"]] == [113_000, 66_000, 31_000]
    assert content["accounts"][0]["solve_seconds"] == {}


def test_a_circuit_that_is_not_proved_is_named(tmp_path):
    """Its failed searches for witnesses count in full, so its figures say nothing of circuits that hold."""
    found = count_costs(asked(tmp_path, ["short", "short", "long"], anchors=2))
    verdicts = [one.verdict for one in found.accounts]
    named = [sentence for sentence in explain(found) if "compare it with nothing" in sentence]
    assert len(named) == sum(verdict is not Verdict.PROVED for verdict in verdicts) > 0
    assert [one["verdict"] for one in found.to_json()["accounts"]] == [str(verdict) for verdict in verdicts]


def test_other_topologies_are_compared_only_per_edge(tmp_path):
    """The paper's policy: raw totals of different circuits say nothing."""
    found = count_costs(asked(tmp_path, ["short", "short", "long"], anchors=2))
    assert not found.is_matched
    assert explain(found)[0].startswith("topologies differ: only what is per edge may be compared")
    assert found.to_json()["matched"] is False


def test_solvers_answer_while_they_are_counted(tmp_path):
    """Solve seconds per solver, and the same counts as without them."""
    alone = count_costs(asked(tmp_path / "a", ["short"], anchors=2))
    found = count_costs(asked(tmp_path / "b", ["short"], anchors=2, engine=Engine.Z3))
    for one, other in zip(found.accounts, alone.accounts, strict=True):
        assert one.seconds().keys() == {"z3"}
        assert dict(one.tallies)[Equivalence()].assertions == dict(other.tallies)[Equivalence()].assertions


def test_circuits_must_fit_the_models(tmp_path):
    """One for all, or one each."""
    with pytest.raises(InputError, match="2 circuits for 3 models; give one for all or one each"):
        count_costs(asked(tmp_path, ["short", "long"]))
