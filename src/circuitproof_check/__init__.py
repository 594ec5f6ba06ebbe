"""The independent checker: standard library only, nothing shared with circuitproof."""

__version__ = "0.1.0"
FORMAT = 2
"""The format of bundles that it reads."""
