"""What the tests of pages share."""

import pytest

from browsers import launched


@pytest.fixture(scope="module")
def browser():
    """One browser for all tests of a file."""
    with launched() as found:
        yield found
