"""The choices a synthesis makes, as data that can be recorded before anything is computed."""

from enum import StrEnum


class Scope(StrEnum):
    """Which forward passes must decide as wanted with the program installed."""

    BOTH = "both"
    """The whole model and the circuit of each task."""
    MODEL = "model"
    CIRCUIT = "circuit"


class Growth(StrEnum):
    """How a search comes by its words."""

    WHOLE = "whole"
    """It has all of them from the beginning: the nearest candidate of the language is accepted."""
    GUIDED = "guided"
    """It adds what the best refuted candidate lacks: a candidate of a small language is accepted."""
