"""The independent checker: standard library only, nothing shared with circuitproof.

Names: `main.check`, `claim.Claim`, `ablation.Ablation`, `forward.Forward`, which recomputes circuits and what
cut edges carry, `enclosed.forward.Enclosures`, which does so in enclosed numbers, `gates`, which says what
each kind of evidence may prove, `properties`, `remarks`, `summary`, `work`, which bounds all of it.
"""

__version__ = "0.1.0"
FORMAT = 3
"""The format of bundles that it reads."""
