"""circuitproof turns an explanation of a transformer circuit into a claim that can be proved or refuted."""

__version__ = "0.1.0"
