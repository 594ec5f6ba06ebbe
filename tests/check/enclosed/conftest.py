"""What the tests of enclosed numbers share."""

import pytest

from circuitproof_check import work


@pytest.fixture(autouse=True)
def allowed():
    """Allow more work than a test takes; whatever was judged before left another number."""
    work.allow(10**12)
