"""Constructions on a seeded base so small that they take a second."""

from pathlib import Path

TEXT = """
name = "small"
salt = "one"
vocabulary = "toy"
epsilon = "1/100"
anchors = 3

[base]
seed = 0
deviation = 0.3
bias_deviation = 0.05

[base.architecture]
vocabulary = 32
context = 6
layers = 2
heads = 2
width = 8
mlp_width = 16
norm = { kind = "none" }
attention = "sparsemax"
activation = { kind = "leaky relu", slope = "1/100" }
tied = true
biases = true
logit_bias = true

[calibration]
rungs = ["scalar", "readout"]
seed = 0
steps = 120
batch = 32
learning_rate = 0.05
aim = "radius"
target = 0.02
choose = "first"
joint_necessity = 1

[[artifacts]]
name = "quotes"
circuit = ["embed -> mlp 0", "mlp 0 -> head 1.1", "head 1.1 -> logits"]
programs = { "1.1" = ["default 0", "add 1 when key_token in {9, 10}", "otherwise self"] }
answers = { "'" = "'", '"' = '"' }
templates = { six = "<BOS> <TASK_QUOTE> {x} {opener} {y} {z}" }
slots = { x = ["A", "B", "C", "D"], y = ["A", "B", "C", "D"], z = ["A", "B", "C", "D"] }
count = 64
"""


def write_construction(folder: Path, changes: dict[str, str] | None = None) -> Path:
    """Write the construction with some texts replaced."""
    text = TEXT
    for old, new in (changes or {}).items():
        assert old in text, old
        text = text.replace(old, new)
    path = folder / "construction.toml"
    path.write_text(text)
    return path
