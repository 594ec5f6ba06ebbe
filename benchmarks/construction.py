"""An artifact of `recipes/gpt2-openers.toml` at a smaller width, with what is below its program head kept.

Against computing it in every forward, in one run; every rung must have the same bytes. `python
benchmarks/construction.py 192` takes the width; on one thread, in processor seconds.
"""

import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import torch

from circuitproof.errors import InputError
from circuitproof.files.canonical import Digest, digest_file
from circuitproof.models.architecture import inverse_root
from circuitproof_lab.pipeline import construction
from circuitproof_lab.pipeline.construction import construct
from circuitproof_lab.pipeline.construction_recipe import Construction, SeededBase, load_construction
from circuitproof_lab.pipeline.stages import calibrate
from timing import print_table

RECIPE = Path(__file__).parents[1] / "recipes" / "gpt2-openers.toml"


def at_width(width: int) -> Construction:
    """Return the recipe's first artifact at another width."""
    found = load_construction(RECIPE)
    if not isinstance(found.base, SeededBase):
        raise SystemExit(f"{RECIPE.name} has no seeded base")
    sizes, head_width = found.base.architecture, width // found.base.architecture.heads
    sizes = replace(
        sizes,
        width=width,
        mlp_width=4 * width,
        head_width=head_width,
        attention_scale=inverse_root(head_width),
    )
    return replace(found, base=replace(found.base, architecture=sizes), blueprints=found.blueprints[:1])


def built(recipe: Construction, folder: Path) -> tuple[list[Digest], float]:
    """Return the weights of every rung and what they cost; whether one passes at this width is not asked."""
    start = time.process_time()
    with suppress(InputError):
        construct(recipe, folder)
    rungs = [folder / recipe.blueprints[0].task.name / f"{one}.safetensors" for one in recipe.rungs]
    return [digest_file(rung) for rung in rungs], time.process_time() - start


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    width = int(sys.argv[1]) if len(sys.argv) > 1 else 192
    recipe = at_width(width)
    with tempfile.TemporaryDirectory() as place:
        ours, seconds = built(recipe, Path(place) / "shared")
        apart = {"attribute": "share_below", "new": lambda *_models: None}
        with patch.object(construction, **apart), patch.object(calibrate, **apart):
            theirs, slow = built(recipe, Path(place) / "apart")
    if ours != theirs:
        raise SystemExit("the rungs differ")
    rows = [
        ("every forward computes all of it", f"{slow:.0f}", ""),
        ("what is below the program head once", f"{seconds:.0f}", f"{slow / seconds:.1f}"),
    ]
    print_table(f"{recipe.name} at width {width}", ("construct", "CPU seconds", "times faster"), rows)


if __name__ == "__main__":
    main()
