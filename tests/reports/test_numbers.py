"""Numbers behind a page: who needs an edge, found by cells as if every prompt were computed."""

import pytest

import viewed
from circuitproof.proof.fold import fold
from circuitproof.reports.numbers import Needs, Numbers

SEEDS = viewed.seeds()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_prompts_that_need_an_edge_are_those_found_one_by_one(seed):
    """Cells are computed once for all their prompts; the slow twin computes each prompt by itself."""
    view = viewed.view_of(seed)
    bundle, found = view.bundle, view.numbers
    assert isinstance(found, Numbers)
    for edge, lesion in zip(bundle.circuit, bundle.circuit.lesions(), strict=True):
        flips, ties = [], []
        for place, prompt in enumerate(bundle.domain.prompts):
            folded = fold(bundle.frozen, bundle.task.candidates, (bundle.circuit, lesion), [prompt])
            (before,), (after,) = folded.of(bundle.circuit), folded.of(lesion)
            if before.is_clear and after.decision != before.decision:
                (flips if after.is_clear else ties).append(place)
        assert found.needs[edge] == Needs(tuple(flips), tuple(ties))
