"""Golden bundles: the digest of what the prover writes for asks of every theme, or that it refuses.

`python tests/golden.py` writes `tests/golden.json` anew. Whoever changes a line of it says why.
"""

import hashlib
import json
import tempfile
from pathlib import Path

from random_claims import CYCLE, known_ask, told

AGREEING = (174, 186, 196, 224, 259, 281, 310, 322, 355, 367, 446, 465)
"""Asks that claim agreement as well, of lists and patterns."""
SEEDS = (*range(10 * len(CYCLE)), *AGREEING)
FILE = Path(__file__).with_suffix(".json")


def golden(seed: int) -> str:
    """Return the theme of an ask and the digest of its bundle."""
    asked = known_ask(seed)
    with tempfile.TemporaryDirectory() as folder:
        bundle = told(asked, Path(folder)).bundle
        content = [] if bundle is None else [file.read_bytes() for file in sorted(bundle.iterdir())]
    digest = hashlib.sha256(b"".join(hashlib.sha256(one).digest() for one in content)).hexdigest()[:16]
    return f"{asked.theme}: {digest if content else 'refused'}"


if __name__ == "__main__":
    FILE.write_text(json.dumps({seed: golden(seed) for seed in SEEDS}, indent=1) + "\n")
