"""What every test may ask for."""

import gc
import os
from pathlib import Path

import pytest
from hypothesis import settings
from jaxtyping import config as shapes

from places import REFERENCE

# A busy machine must not turn a law into a failure. CIRCUITPROOF_EXAMPLES=1000 is the nightly size.
settings.register_profile(
    "circuitproof", deadline=None, max_examples=int(os.environ.get("CIRCUITPROOF_EXAMPLES", "30"))
)
settings.load_profile("circuitproof")

# Models of this size need one thread; two on a busy machine wait for each other. Torch reads it on loading.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Tests kill processes, not the power: nothing waits for the disk but what tests that something would.
os.fsync = lambda _descriptor: None

# Another CPU has other last bits; a number here makes this one differ from itself (see `rounding.py`).
if "CIRCUITPROOF_ROUNDING" in os.environ:
    from rounding import other_rounding

    other_rounding(int(os.environ["CIRCUITPROOF_ROUNDING"]))


SHAPED = ("tests/nn/", "tests/lab/train/")
"""The tests of what has shapes in its annotations. Elsewhere they would be half of all work in torch."""
EVERYWHERE = "CIRCUITPROOF_SHAPES" in os.environ


def pytest_collection_finish() -> None:
    """Let the collector pass over what lives until the end: modules, and thousands of tests."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let shapes in annotations be enforced in the tests of models and training; by night in all tests."""
    shapes.update("jaxtyping_disable", not (EVERYWHERE or item.nodeid.startswith(SHAPED)))


@pytest.fixture
def reference() -> Path:
    """Return the folder of the paper's public artifacts, which the product does not contain."""
    if not REFERENCE.is_dir():
        pytest.skip(f"the public artifacts of the paper are not at {REFERENCE}")
    return REFERENCE
