"""A recipe of variants that trains in seconds."""

from pathlib import Path

from corpora import corpus_changes, write_corpus
from norm_recipes import write_norm_recipe
from recipes import write_recipe

TEXT = """
name = "tiny-variants"
base = "base.toml"
seeds = [1, 2]

[[variants]]
name = "baseline"
paper = { loss = 3.0, perplexity = 50.0 }

[[variants]]
name = "plain"
attention = "softmax"
activation = { kind = "gelu", form = "tanh" }
paper = { loss = 3.5, perplexity = 48.0 }

[[variants]]
name = "band"
norm = { kind = "band", low = "1", high = "2", lift = "reference" }

[removal]
name = "norm-free"
recipe = "removal.toml"
source = "plain"
gate = "band"
control = "control"
"""


def write_variants(folder: Path, *changes: tuple[str, str]) -> Path:
    """Write the recipe, what it names and a corpus into `folder`, with some texts replaced."""
    write_corpus(folder)
    write_recipe(folder / "base.toml", corpus_changes())
    write_norm_recipe(folder, {}, corpus_changes())
    text = TEXT
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "variants.toml").write_text(text)
    return folder / "variants.toml"
