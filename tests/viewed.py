"""Stories of every kind of claim, told once: random asks that the prover has answered."""

import json
import tempfile
from functools import cache
from pathlib import Path

from circuitproof.view.story import Story, tell
from golden import FILE
from random_claims import CYCLE, known_ask, told

_EACH = 3


def seeds() -> list[int]:
    """Return some asks of every theme that the prover does not refuse."""
    answered = [int(seed) for seed, said in json.loads(FILE.read_text()).items() if "refused" not in said]
    themes = [[seed for seed in answered if seed % len(CYCLE) == theme] for theme in range(len(CYCLE))]
    return [seed for theme in themes for seed in theme[:_EACH]]


@cache
def bundle_of(seed: int) -> Path:
    """Return the bundle of a random ask."""
    bundle = told(known_ask(seed), Path(tempfile.mkdtemp(prefix="viewed-"))).bundle
    assert bundle is not None
    return bundle


@cache
def story_of(seed: int) -> Story:
    """Return the story of a random ask's bundle."""
    story = tell(bundle_of(seed))
    assert isinstance(story, Story)
    return story
