"""Where things are."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
RECIPES = ROOT / "recipes"
REFERENCE = ROOT.parent / "shared" / "reference"
"""Public artifacts, beside the project; not everywhere."""
