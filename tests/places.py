"""Where things are."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
RECIPES = ROOT / "recipes"
COMPILED = ROOT / "tests" / "compiled"
"""Programs of Tracr's library that `make tracr` compiled, a file each."""
REFERENCE = ROOT.parent / "shared" / "reference"
"""Public artifacts, beside the project; not everywhere."""
