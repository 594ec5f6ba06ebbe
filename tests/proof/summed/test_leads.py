import numpy as np
import pytest

from circuitproof.proof.effort import Effort
from circuitproof.proof.properties.accuracy import Accuracy
from circuitproof.proof.summed.leads import Leads
from circuitproof.proof.summed.least import LatticeRegion
from circuitproof.proof.summed.world import SummedWorld
from summed_claims import claim_of, listed

EFFORT = Effort()
SEEDS = (0, 1, 2, 3)


def world_of(seed, heads=4, precision=64):
    return SummedWorld(claim_of(seed, (Accuracy(),), heads), EFFORT, precision)


def regions(world):
    """Return what leads of each label and length are about, with the winner that is right."""
    for label in world.labelled.labels:
        winner = world.claim.task.candidates.index(label.answer)
        for length in world.lattices:
            if (lattice := world.lattice(label, length)) is not None:
                yield Leads(world.tables, world.table(length), LatticeRegion(lattice, lattice.free), winner)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_closed_is_led_on_every_prompt(seed):
    """Weights that close a question leave no prompt on which the rival is not behind."""
    truth = listed(seed, 4)
    for leads in regions(world_of(seed)):
        questions = leads.all_questions()
        closed = leads.closed(questions, leads.plain_weights(questions))
        asked = {query: [] for query in leads.queries}
        for query, is_closed in zip(questions.queries, closed, strict=True):
            asked[query].append(is_closed)
        for prompt in leads.region.lattice.prompts(leads.region.masks):
            query = leads.table.queries.index(prompt[-1])
            if all(asked[query]):
                assert truth[prompt][1] == leads.winner


@pytest.mark.parametrize("seed", SEEDS)
def test_a_lower_precision_closes_no_more(seed):
    """Fewer bits widen every bound."""
    fine, coarse = (list(regions(world_of(seed, precision=bits))) for bits in (96, 24))
    for one, other in zip(fine, coarse, strict=True):
        questions = one.all_questions(), other.all_questions()
        closed = [
            leads.closed(asked, leads.plain_weights(asked))
            for leads, asked in zip((one, other), questions, strict=True)
        ]
        assert not (closed[1] & ~closed[0]).any()


@pytest.mark.parametrize("seed", SEEDS)
def test_bounds_of_what_heads_add_hold_on_every_prompt(seed):
    """The first box holds every mean, and its ends are near to some value."""
    for leads in regions(world_of(seed)):
        questions = leads.all_questions()
        assert (questions.low <= questions.high).all()
        assert np.isfinite(questions.low).all()
        assert (leads.limits(questions) <= questions.high).all()


def test_the_prompt_that_weights_overlook_is_one_of_the_region():
    """It is computed by the forward pass, which would refuse any other."""
    for leads in regions(world_of(0)):
        questions = leads.all_questions()
        weights = leads.plain_weights(questions)
        prompts, sums, _ = leads.overlooked(questions, weights)
        known = set(leads.region.lattice.prompts(leads.region.masks))
        assert {tuple(map(int, prompt)) for prompt in prompts} <= known
        assert sums.shape == weights.shape
