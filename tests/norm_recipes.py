"""Recipes of norm removals that run in a second, with a change or a mistake put in where a test wants it."""

from pathlib import Path

from recipes import write_recipe

TINY = {
    "": {"name": '"tiny-norm-free"', "seed": "6", "source": '"source.toml"'},
    "training": {
        "steps": "10",
        "learning_rate": "0.01",
        "warmup": "2",
        "weight_decay": "0.01",
        "gradient_limit": "1.0",
        "evaluate_every": "5",
        "checkpoint_every": "2",
    },
    "schedule": {
        "order": '["mlp", "attention", "logits"]',
        "begin": "2",
        "fade": "2",
        "interval": "2",
        "window": "3",
    },
    "fold": {
        "largest_error": "1e-4",
        "relative_error": "1e-5",
        "agreement": "1.0",
        "loss_change": "1e-4",
    },
}
"""Each section's keys and their values as TOML."""


def write_norm_recipe(
    folder: Path,
    changes: dict[str, str | None] | None = None,
    source_changes: dict[str, str | None] | None = None,
) -> Path:
    """Write the changed recipe and its changed source into `folder` and return the former.

    A change is named as in a sentence about it: `seed`, `schedule.fade`; none leaves the key out.
    """
    folder.mkdir(exist_ok=True)
    write_recipe(folder / "source.toml", source_changes)
    sections = {name: dict(keys) for name, keys in TINY.items()}
    for place, value in (changes or {}).items():
        section, _, key = place.rpartition(".")
        sections[section] = {**sections[section], key: value}
    lines: list[str] = []
    for name, keys in sections.items():
        lines += [f"[{name}]"] if name else []
        lines += [f"{key} = {value}" for key, value in keys.items() if value is not None]
    (folder / "removal.toml").write_text("\n".join(lines) + "\n")
    return folder / "removal.toml"
