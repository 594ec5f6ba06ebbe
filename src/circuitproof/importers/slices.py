"""Where one of our tensors stands in one of theirs: all of it or a part, as it is or turned."""

from dataclasses import dataclass
from typing import Any

ALL = slice(None)


@dataclass(frozen=True, slots=True)
class TensorSlice:
    """A part of a tensor, perhaps stored as [in, out]."""

    theirs: str
    part: tuple[int | slice, ...] = (ALL,)
    is_turned: bool = False

    def cut(self, theirs: Any) -> Any:  # noqa: ANN401  # an array, or a view into a file that is read when cut
        return theirs[self.part].T if self.is_turned else theirs[self.part]

    def put(self, theirs: Any, ours: Any) -> None:  # noqa: ANN401  # arrays
        theirs[self.part] = ours.T if self.is_turned else ours


def span(place: int, width: int) -> slice:
    """Return the rows or columns of the head at a place among heads of one width."""
    return slice(place * width, (place + 1) * width)
