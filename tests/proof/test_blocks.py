"""Lists in blocks: where one ends changes nothing, and what prompts share is computed once."""

from random import Random

import pytest

from ablated_circuits import CANDIDATES, ablation_of, circuit_of, model_of, prompts_of
from circuitproof.arithmetic import exact, grid
from circuitproof.arithmetic.balls import Enclose
from circuitproof.circuits.circuit import whole
from circuitproof.models.operators import BandNorm
from circuitproof.proof import blocks
from circuitproof.proof.arithmetic import EXACT, EnclosedNumbers
from circuitproof.proof.effort import UNHURRIED
from circuitproof.proof.enclosed import Enclosed
from circuitproof.proof.fold import fold
from hand_models import freeze
from real_twin import ordinary_model


def plain(folded):
    """Return all that was found, as values that can be compared."""
    rows = [(one.numbers, one.reach) if isinstance(one, Enclosed) else one.row for one in folded.folds]
    return rows, folded.places, folded.cells


@pytest.mark.parametrize("arithmetic", [EXACT, EnclosedNumbers(40)], ids=["exact", "enclosed"])
@pytest.mark.parametrize("seed", range(6))
def test_the_size_of_blocks_changes_nothing(seed, arithmetic, monkeypatch):
    """Logits, their numbering and the count of cells, with any ports, programs and ablation."""
    draw = Random(seed)  # noqa: S311  # circuits, not secrets
    model = model_of(draw, seed) if arithmetic is EXACT else ordinary_model(draw, seed)
    frozen, prompts = freeze(model.float()), prompts_of(draw, 25)
    first = circuit_of(draw, model, ablation_of(draw, prompts))
    asked = (frozen, CANDIDATES, [first, whole(first.graph), *first.lesions()[:2]], prompts)
    wanted = plain(fold(*asked, arithmetic=arithmetic))
    for most in (1, 7, 40):
        monkeypatch.setattr(blocks, "MOST_ROWS", most)
        assert plain(fold(*asked, arithmetic=arithmetic)) == wanted
    assert len(list(blocks.blocks(frozen, asked[2], prompts, UNHURRIED))) >= 1


@pytest.mark.parametrize("seed", range(6))
def test_limbs_change_nothing(seed, monkeypatch):
    """Numbers are kept in limbs where they are many; the slow twin uses Python's integers throughout."""
    draw = Random(seed)  # noqa: S311  # circuits, not secrets
    model = model_of(draw, seed)
    frozen, prompts = freeze(model.float()), prompts_of(draw, 12)
    first = circuit_of(draw, model, ablation_of(draw, prompts))
    asked = (frozen, CANDIDATES, [first, *first.lesions()[:2]], prompts)
    found = []
    for most, many in ((10**9, 10**9), (0, 0), (0, 10**9)):
        monkeypatch.setattr(grid, "_PLAIN_PRODUCTS", most)
        monkeypatch.setattr(exact, "_MANY_NUMBERS", many)
        found.append(plain(fold(*asked)))
    assert found[0] == found[1] == found[2]


def test_blocks_hold_every_prompt_once_in_the_order_of_tokens(monkeypatch):
    """Neighbours share prefixes; a block has room for twice what its first prompt needs."""
    draw = Random(1)  # noqa: S311  # circuits, not secrets
    model = model_of(draw, 1)
    frozen, prompts = freeze(model.float()), prompts_of(draw, 40)
    monkeypatch.setattr(blocks, "MOST_ROWS", 1)
    found = list(blocks.blocks(frozen, [whole(frozen.graph)], prompts, UNHURRIED))
    places = [place for block in found for place in block.prompts]
    assert len(found) > 3
    assert [prompts[place] for place in places] == sorted(prompts)
    assert all(block.is_part for block in found)


def deep_models(count):
    """Return some ordinary models of two layers whose MLPs read every position, frozen."""
    for seed in range(100):
        model = ordinary_model(Random(seed), seed)  # noqa: S311  # models, not secrets
        sizes = model.architecture
        if (
            sizes.mlp_width
            and sizes.layers > 1
            and not model.programs
            and not isinstance(sizes.norm, BandNorm)
        ):
            yield freeze(model.float())
            if not (count := count - 1):
                return


def test_a_shared_prefix_is_computed_once_in_enclosed_numbers(monkeypatch):
    """Five prompts of three tokens that differ in the last have seven rows in an MLP, not fifteen."""
    counted = []
    plain_activate = Enclose.activate

    def activate(self, values, activation):
        counted.append(len(values.radii))
        return plain_activate(self, values, activation)

    monkeypatch.setattr(Enclose, "activate", activate)
    prompts = [(1, 2, last) for last in range(5)]
    for frozen in deep_models(3):
        counted.clear()
        fold(frozen, CANDIDATES, [whole(frozen.graph)], prompts, arithmetic=EnclosedNumbers(64))
        assert counted == [2 + 5, 5]  # the last MLP is needed at the ends alone
