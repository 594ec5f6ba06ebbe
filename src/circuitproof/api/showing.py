"""How a notebook and Python's prompt show what the calls return, which is plain data."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from circuitproof.reports.said import Said, html_of, text_of

Found = TypeVar("Found")


def show_as(kind: type[Found], said: Callable[[Found], Iterable[Said]]) -> None:
    """Let results of a kind be shown by what is said of them: in 80 columns, or as the page does."""
    shows: dict[str, Callable[[Found], str]] = {
        "__repr__": lambda found: text_of(said(found)),
        "_repr_html_": lambda found: html_of(said(found)),
    }
    for name, show in shows.items():
        setattr(kind, name, show)
