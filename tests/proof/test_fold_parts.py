"""Folds in parts: who computes which prompts or circuits changes nothing."""

from random import Random

import pytest

from ablated_circuits import CANDIDATES, ablation_of, circuit_of, model_of, prompts_of
from circuitproof.circuits.circuit import whole
from circuitproof.forward.frozen import open_model
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.proof import fold_parts
from circuitproof.proof.arithmetic import EXACT, EnclosedNumbers
from circuitproof.proof.effort import Pace
from circuitproof.proof.enclosed import Enclosed
from circuitproof.proof.fold import fold
from circuitproof.workers import Processes
from hand_models import freeze
from real_twin import ordinary_model


def plain(folded):
    """Return all that was found, as values that can be compared."""
    rows = [(one.numbers, one.reach) if isinstance(one, Enclosed) else one.row for one in folded.folds]
    return rows, folded.places, folded.cells


def asked_of(seed, arithmetic, prompts, lesions):
    """Return a random model, circuits of any ports and ablation, and prompts."""
    draw = Random(seed)  # noqa: S311  # circuits, not secrets
    model = model_of(draw, seed) if arithmetic is EXACT else ordinary_model(draw, seed)
    frozen, listed = freeze(model.float()), prompts_of(draw, prompts)
    first = circuit_of(draw, model, ablation_of(draw, listed))
    return frozen, CANDIDATES, [first, whole(first.graph), *first.lesions()[:lesions]], listed


@pytest.mark.parametrize("arithmetic", [EXACT, EnclosedNumbers(40)], ids=["exact", "enclosed"])
@pytest.mark.parametrize(("prompts", "lesions"), [(25, 2), (2, 20)], ids=["prompts", "circuits"])
@pytest.mark.parametrize(("seed", "count"), [(0, 2), (1, 2), (2, 3)])
def test_the_number_of_workers_changes_nothing(seed, count, prompts, lesions, arithmetic):
    """Logits, their numbering and the count of cells, whichever there are more of and are divided."""
    asked = asked_of(seed, arithmetic, prompts, lesions)
    wanted = plain(fold(*asked, arithmetic=arithmetic))
    assert plain(fold(*asked, arithmetic=arithmetic, workers=Processes(count))) == wanted


def test_each_circuit_and_prompt_is_in_one_part():
    """Prompts that share a beginning are neighbours; no part is empty, however many workers there are."""
    frozen, candidates, circuits, prompts = asked_of(1, EXACT, 25, 1)
    for some in (prompts, prompts[:1]):
        task = fold_parts.FoldTask(frozen, candidates, tuple(circuits), some, EXACT)
        for count in (1, 2, 3, 100):
            parts = task._parts(count)
            pairs = [(circuit, prompt) for one in parts for circuit in one.circuits for prompt in one.prompts]
            assert sorted(pairs) == [(c, p) for c in range(len(circuits)) for p in range(len(some))]
            assert len(parts) == min(count, max(len(circuits), len(some)))
            assert all(one.circuits and one.prompts for one in parts)
            in_order = [some[prompt] for one in parts for prompt in one.prompts if one.circuits[0] == 0]
            assert in_order == sorted(in_order)


def test_workers_leave_out_what_there_is_no_time_for(monkeypatch):
    """As this process does: a circuit is left out where a worker had no time for it on its prompts."""
    frozen, candidates, circuits, prompts = asked_of(1, EXACT, 25, 2)
    over = Pace(0.0, lambda: 1.0)
    assert not fold(frozen, candidates, circuits, prompts, over, workers=Processes(2)).places
    monkeypatch.setattr(fold_parts, "end_of", lambda _left: 0.0)
    found = fold(frozen, candidates, circuits, prompts, Pace(5.0, float), workers=Processes(2))
    assert not found.places
    assert not found.folds


def test_a_worker_reads_the_weights_that_were_opened(tmp_path):
    """Not what has been written in their place since."""
    draw = Random(3)  # noqa: S311  # circuits, not secrets
    model, prompts = model_of(draw, 3).float(), prompts_of(draw, 25)
    save_model(tmp_path / "model", StoredModel(model, None))
    frozen = open_model(tmp_path / "model")
    wanted = plain(fold(frozen, CANDIDATES, [whole(frozen.graph)], prompts))
    weights = tmp_path / "model" / "weights.safetensors"
    content = weights.read_bytes()
    weights.unlink()
    weights.write_bytes(content[:-4] + b"\x00\x00\x80\x3f")
    found = fold(frozen, CANDIDATES, [whole(frozen.graph)], prompts, workers=Processes(2))
    assert plain(found) == wanted
