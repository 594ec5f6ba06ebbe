"""How wide the columns of a table are in some room, on a terminal and in a text."""

from collections.abc import Callable, Sequence


def column_widths(
    columns: Sequence[Sequence[str]], room: int, measure: Callable[[str], int] = len
) -> list[int] | None:
    """Return widths as the columns' longest words, the rest shared out; nothing where a word would break.

    >>> column_widths([["name", "a long name"], ["1", "22"]], 10)
    [8, 2]
    >>> column_widths([["a longer name"]], 5)
    """
    widths = [max(measure(word) for cell in column for word in cell.split() or "-") for column in columns]
    wishes = [max(map(measure, column)) - width for column, width in zip(columns, widths, strict=True)]
    spare = room - sum(widths)
    if spare < 0:
        return None
    for done, place in enumerate(sorted(range(len(columns)), key=wishes.__getitem__)):
        share = max(0, min(wishes[place], spare // (len(columns) - done)))
        widths[place] += share
        spare -= share
    return widths
