"""What a table can be written in: a light module, which a command line can offer."""

from enum import StrEnum


class Format(StrEnum):
    """What a table is written in."""

    MARKDOWN = "markdown"
    LATEX = "latex"
