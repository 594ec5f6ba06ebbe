"""Recipes that train in a second, with a change or a mistake put in where a test wants it."""

from pathlib import Path

TINY = {
    "": {"name": '"tiny"', "seed": "5"},
    "architecture": {
        "vocabulary": "32",
        "context": "6",
        "layers": "1",
        "heads": "2",
        "width": "4",
        "mlp_width": "4",
        "norm": '{ kind = "layer", epsilon = "1/100000" }',
        "attention": '"sparsemax"',
        "activation": '{ kind = "leaky relu", slope = "1/100" }',
        "tied": "false",
        "biases": "true",
        "logit_bias": "false",
    },
    "data": {"kind": '"tasks"', "tasks": '["quotes", "brackets"]', "batch": "32"},
    "training": {
        "steps": "6",
        "learning_rate": "0.01",
        "warmup": "2",
        "weight_decay": "0.01",
        "gradient_limit": "1.0",
        "initial_deviation": "0.1",
        "evaluate_every": "4",
        "checkpoint_every": "2",
    },
}
"""Each section's keys and their values as TOML."""


def recipe_text(changes: dict[str, str | None] | None = None) -> str:
    """Return the tiny recipe with some values replaced, added, or (with none) left out.

    A change is named as in a sentence about it: `seed`, `training.steps`.
    """
    sections = {name: dict(keys) for name, keys in TINY.items()}
    for place, value in (changes or {}).items():
        section, _, key = place.rpartition(".")
        if value is None:
            del sections[section][key]
        else:
            sections.setdefault(section, {})[key] = value
    lines: list[str] = []
    for name, keys in sections.items():
        lines += [f"[{name}]"] if name else []
        lines += [f"{key} = {value}" for key, value in keys.items()]
    return "\n".join(lines) + "\n"


def write_recipe(path: Path, changes: dict[str, str | None] | None = None) -> Path:
    """Write the changed tiny recipe to `path` and return it."""
    path.write_text(recipe_text(changes))
    return path
