"""Results are plain data; what a notebook and Python's prompt show of them comes from outside."""

from dataclasses import dataclass

from circuitproof.api.showing import show_as
from circuitproof.reports.said import Table


@dataclass(frozen=True, slots=True)
class Count:
    """A result that knows nothing of how it is shown."""

    edges: int


def test_a_plain_result_is_shown_by_what_is_said_of_it():
    """The data stays as it was: frozen, with its own fields only."""
    show_as(Count, lambda one: [Table("sizes", ("edges#",), ((f"{one.edges}",),)), "all were counted"])
    assert repr(Count(7)).splitlines() == ["sizes", "edges", "-----", "    7", "all were counted"]
    assert "all were counted" in Count(7)._repr_html_()
    assert (Count(7), Count.__slots__) == (Count(7), ("edges",))
