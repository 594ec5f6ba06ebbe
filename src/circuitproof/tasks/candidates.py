"""Which tokens may be answers, where it is not the task that lists them: a light module."""

from enum import StrEnum


class AskedCandidates(StrEnum):
    """Candidates by a word, in a task file as on the command line."""

    ALL = "all"
    """Every token of the vocabulary."""
