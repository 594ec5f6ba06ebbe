from random import Random

import numpy as np
import pytest

from circuitproof.proof.summed.lattice import PromptGraph
from circuitproof.proof.summed.leads import masks_with
from pattern_claims import PATTERNS, task_of
from pattern_strategies import all_prompts


@pytest.fixture(params=PATTERNS)
def task(request):
    return task_of(request.param).labelled


def parts(task):
    """Return the prompts of each label and length, and of any label."""
    found = {}
    for prompt in all_prompts(task.machine):
        found.setdefault((task.label_of(prompt), len(prompt)), []).append(prompt)
        found.setdefault((None, len(prompt)), []).append(prompt)
    return found


def test_a_lattice_has_each_prompt_of_a_label_and_a_length_once(task):
    """A prompt that was missing would be in no region; one that is there twice would be counted twice."""
    graph, known = PromptGraph(task), parts(task)
    for label in (None, *task.labels):
        for length in range(1, task.pattern.longest + 1):
            lattice, wanted = graph.lattice(label, length), known.get((label, length), [])
            found = [] if lattice is None else list(lattice.prompts(lattice.free))
            assert sorted(found) == sorted(wanted)
            assert lattice is None or lattice.count(lattice.free) == len(wanted)


def test_pairs_are_those_of_prompts_that_end_so(task):
    """The largest score, and so every exponential, is taken over just these."""
    graph = PromptGraph(task)
    for (label, length), prompts in parts(task).items():
        lattice = graph.lattice(label, length)
        assert lattice.last_tokens(lattice.free) == sorted({prompt[-1] for prompt in prompts})
        for last in {prompt[-1] for prompt in prompts}:
            wanted = np.zeros((length, task.vocabulary), dtype=bool)
            for prompt in prompts:
                if prompt[-1] == last:
                    wanted[range(length), prompt] = True
            assert (lattice.pairs(last, lattice.free) == wanted).all()


def test_masks_leave_the_prompts_that_have_their_tokens(task):
    """Regions are divided by tokens at positions."""
    draw = Random(0)  # noqa: S311  # prompts, not secrets
    for (label, length), prompts in parts(task).items():
        lattice = PromptGraph(task).lattice(label, length)
        position, tokens = draw.randrange(length), draw.sample(range(task.vocabulary), 3)
        masks = masks_with(lattice.free, position, np.isin(np.arange(task.vocabulary), tokens))
        wanted = [prompt for prompt in prompts if prompt[position] in tokens]
        assert sorted(lattice.prompts(masks)) == sorted(wanted)
        assert lattice.count(masks) == len(wanted)


def test_a_prompt_that_is_drawn_is_one_of_the_lattice(task):
    """Prompts are tried for necessity, and each must be one of the claim."""
    draw = Random(0)  # noqa: S311  # prompts, not secrets
    for (label, length), prompts in parts(task).items():
        lattice = PromptGraph(task).lattice(label, length)
        assert {lattice.draw(draw) for _ in range(8)} <= set(prompts)
