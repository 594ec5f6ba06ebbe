"""Distillation recipes that run in seconds, with a change or a mistake put in where a test wants it."""

from pathlib import Path

from recipes import write_recipe

SOURCE = {
    "architecture.layers": "1",
    "architecture.width": "8",
    "architecture.mlp_width": "8",
    "architecture.norm": '{ kind = "none" }',
    "training.steps": "150",
    "training.learning_rate": "0.02",
    "training.warmup": "5",
    "training.initial_deviation": "0.2",
    "training.evaluate_every": "150",
    "training.checkpoint_every": "150",
}
"""What makes the tiny recipe a source that decides every prompt right."""

SMALL = {
    "": {"name": '"small"', "source": '"source.toml"', "seeds": "[5]"},
    "extraction": {
        "objective": '"model"',
        "granularity": '"head"',
        "order": '"attribution"',
        "search": '"greedy"',
        "rule": '"sparsity"',
        "thresholds": "[0.01, 0.1]",
        "agreement": "1.0",
    },
    "synthesis": {"rules": "2", "conditions": "1", "members": "2", "scope": '"circuit"', "budget": "300000"},
    "healing": {
        "steps": "40",
        "learning_rate": "0.01",
        "warmup": "2",
        "weight_decay": "0.1",
        "gradient_limit": "1.0",
        "evaluate_every": "40",
        "checkpoint_every": "10",
        "batch": "32",
        "keep": "0.25",
    },
    "healing.plain": {"task": "1.0"},
    "healing.ablation_aware": {"task": "1.0", "circuit": "1.0", "extra_edges": "1.0", "model_each": "0.5"},
    "healing.core_aware": {
        "task": "1.0",
        "circuit": "1.0",
        "extra_edges": "1.0",
        "model_each": "0.5",
        "model_joint": "0.5",
        "circuit_each": "0.5",
        "circuit_joint": "0.5",
    },
    "gates": {"lesion_kl": "0.1", "lesion_right": '"3/4"', "epsilon": '"1/100"'},
}
"""Each section's keys and their values as TOML."""


def write_distillation(
    folder: Path, changes: dict[str, str | None] | None = None, source: dict[str, str | None] | None = None
) -> Path:
    """Write a small distillation recipe and its source, some values replaced, added, or (with none) left out.

    A change is named as in a sentence about it: `seeds`, `healing.plain.task`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_recipe(folder / "source.toml", {**SOURCE, **(source or {})})
    sections = {name: dict(keys) for name, keys in SMALL.items()}
    for place, value in (changes or {}).items():
        section, _, key = place.rpartition(".")
        if value is None:
            del sections[section][key]
        else:
            sections[section][key] = value
    lines: list[str] = []
    for name, keys in sections.items():
        lines += [f"[{name}]"] if name else []
        lines += [f"{key} = {value}" for key, value in keys.items()]
    path = folder / "small.toml"
    path.write_text("\n".join(lines) + "\n")
    return path
