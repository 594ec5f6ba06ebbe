"""Regions of a pattern: counts of prompts, compared with lists of them."""

import pytest

import viewed
from circuitproof.reports.regions import labelled_prompts
from pattern_strategies import all_prompts


@pytest.fixture(scope="module")
def views():
    """Return the views in which a proof splits a pattern."""
    found = [view for view in map(viewed.view_of, viewed.seeds()) if view.trees]
    assert len(found) > 5
    return found


def test_the_whole_and_its_parts_are_counted_right(views):
    """The root has all prompts of the pattern, and the children of a split have those of their parent."""
    for view in views:
        task = labelled_prompts(view.bundle)
        for tree in view.trees:
            assert tree.regions[0].prompts == task.size == len(all_prompts(task.machine))
            for place, region in enumerate(tree.regions):
                below = tree.regions[place + 1 :]
                end = next((n for n, one in enumerate(below) if one.depth <= region.depth), len(below))
                children = [one.prompts for one in below[:end] if one.depth == region.depth + 1]
                if children and None not in children and region.prompts is not None:
                    assert sum(children) == region.prompts


def test_leaves_say_what_they_show(views):
    """A split says nothing of its own."""
    for view in views:
        for tree in view.trees:
            leaves = [region for region in tree.regions if region.shows]
            assert leaves
            assert all("decides" in one.shows or "shown" in one.shows for one in leaves)
