"""A run folder with a file of every kind that a page shows, all of whose names are hostile."""

import json
import shutil
from pathlib import Path

import viewed
from page_reader import EVIL

GATE = {"kl": 0.1, "agreed": 15, "prompts": 16, "worst_margin": -0.25}
CIRCUIT = {"layers": 1, "heads": 1, "ablation": "zero", "edges": ["embed -> logits"]}
POINT = {"origin": EVIL, "circuit": CIRCUIT, "development": GATE, "gate": GATE}
AUDIT = {"prompts": 8, "model": 8, "circuit": 7, "without_heads": 1, "without_circuit": 2}
STATE = {"name": EVIL, "audit": AUDIT, "radius": 0.5, "loss": None, "seconds": 1.5, "passes": True}
LESION = {"where": "model", "silenced": ["head 0.0"], "kl": 1.0, "unchanged": 3, "right": 3, "prompts": 8}
BEHAVIOUR = {"task": EVIL, "fate": "held", "lesions": [{**LESION, "worst_margin": -1.0}] * 2}
FOLD = {
    "error": {"largest_error": 1e-7, "agreement": 1.0, "positions": 1536},
    "source": {"step": 0, "measures": {EVIL: 0.5}},
    "folded": {"step": 10, "measures": {EVIL: 0.75}},
}
FILES = {
    "fold.json": FOLD,
    "run.json": {"recipe": EVIL, "recipe_digest": "0" * 64},
    "A/quotes/gate.result.json": {
        "generation": EVIL,
        "task": EVIL,
        "points": [POINT],
        "nested": [POINT],
        "selected": 0,
        "ledger_head": "0" * 64,
    },
    "quotes/exact.json": STATE,
    "seed-0/healed/migration.json": {"fate": "used", "behaviours": [BEHAVIOUR]},
    "attenuated/removal.json": {"norms": [{"norm": EVIL, "first": 1, "last": 2, "deviation": 0.1}]},
}


def write_run(folder: Path) -> Path:
    """Write the folder, with a bundle."""
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(content))
    shutil.copytree(viewed.bundle_of(viewed.seeds()[0]), folder / "proof" / "bundle")
    return folder
