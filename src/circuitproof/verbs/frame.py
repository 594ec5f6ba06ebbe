"""Results as a pandas frame, where pandas is installed."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from circuitproof.errors import InputError
from circuitproof.extras import missing


def frame_of(columns: Mapping[str, Sequence[object]]) -> Any:  # noqa: ANN401  # the package is optional, so its type is not at hand
    """Return a pandas frame of these columns."""
    try:
        pandas = import_module("pandas")
    except ModuleNotFoundError as error:
        raise InputError(missing("pandas", "to_frame")) from error
    return pandas.DataFrame(columns)
