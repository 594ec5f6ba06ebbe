"""The independent checker: standard library only, nothing shared with circuitproof."""
