"""What every test may ask for."""

from pathlib import Path

import pytest

_REFERENCE = Path(__file__).resolve().parents[2] / "shared" / "reference"


@pytest.fixture
def reference() -> Path:
    """Return the folder of the paper's public artifacts, which the product does not contain."""
    if not _REFERENCE.is_dir():
        pytest.skip(f"the public artifacts of the paper are not at {_REFERENCE}")
    return _REFERENCE
