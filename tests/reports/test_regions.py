"""Regions of a pattern: counts of prompts, compared with lists of them."""

import pytest

import viewed
from circuitproof.reports.regions import labelled_prompts
from pattern_strategies import all_prompts


@pytest.fixture(scope="module")
def stories():
    """Return the stories in which a proof splits a pattern."""
    found = [story for story in map(viewed.story_of, viewed.seeds()) if story.trees]
    assert len(found) > 5
    return found


def test_the_whole_and_its_parts_are_counted_right(stories):
    """The root has all prompts of the pattern, and the children of a split have those of their parent."""
    for story in stories:
        task = labelled_prompts(story.bundle)
        for tree in story.trees:
            assert tree.regions[0].prompts == task.size == len(all_prompts(task.machine))
            for place, region in enumerate(tree.regions):
                below = tree.regions[place + 1 :]
                end = next((n for n, one in enumerate(below) if one.depth <= region.depth), len(below))
                children = [one.prompts for one in below[:end] if one.depth == region.depth + 1]
                if children and None not in children and region.prompts is not None:
                    assert sum(children) == region.prompts


def test_leaves_say_what_they_show(stories):
    """A split says nothing of its own."""
    for story in stories:
        for tree in story.trees:
            leaves = [region for region in tree.regions if region.shows]
            assert leaves
            assert all("decides" in one.shows or "shown" in one.shows for one in leaves)
