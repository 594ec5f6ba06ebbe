"""Protocols on a hand-made model, with a change or a mistake put in where a test wants it."""

from pathlib import Path

from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.tasks.alphabet import TOY
from hand_models import quote_model

TEXT = """
name = "small"
salt = "one"
vocabulary = "toy"
stop_when_exact = false
epsilon = "1/100"

[model]
directory = "model"

[method]
objective = "program"
granularity = "head"
order = "attribution"
search = "greedy"
thresholds = [0.01, 0.1]
agreement = 1.0

[[tasks]]
name = "quotes"
answers = { "'" = "'", '"' = '"' }
templates = { six = "<BOS> <TASK_QUOTE> {x} {opener} {y} {z}" }
slots = { x = ["A", "B", "C", "D"], y = ["A", "B", "C", "D"], z = ["A", "B", "C", "D"] }

[[generations]]
name = "A"
development = 8
gate = 16
rule = "sparsity"

[[generations]]
name = "B"
gate = 32
rule = "margin"
"""


def write_protocol(folder: Path, changes: dict[str, str] | None = None) -> Path:
    """Write a protocol with some texts replaced, and beside it a model that closes quotes along one path."""
    text = TEXT
    for old, new in (changes or {}).items():
        assert old in text, old
        text = text.replace(old, new)
    if not (folder / "model").exists():
        save_model(folder / "model", StoredModel(quote_model(), TOY))
    path = folder / "protocol.toml"
    path.write_text(text)
    return path


OWN_TASK = """
name = "own-quotes"
alphabet = "model"
[slots]
x = ["A", "B", "C", "D"]
y = ["A", "B", "C", "D"]
z = ["A", "B", "C", "D"]
opener = ["'", '"']
[[templates]]
name = "six"
text = "<BOS> <TASK_QUOTE> {x} {opener} {y} {z}"
answer = { opener = { "'" = "'", '"' = '"' } }
irrelevant = ["x", "y", "z"]
"""


def write_own_protocol(folder: Path, task: str = OWN_TASK, changes: dict[str, str] | None = None) -> Path:
    """Write a protocol whose only task is declared in a file of its own."""
    (folder / "own.toml").write_text(task)
    entry = TEXT[TEXT.index("[[tasks]]") : TEXT.index("[[generations]]")]
    own = {entry: '[[tasks]]\ntask = "own.toml"\n\n', 'vocabulary = "toy"\n': ""}
    return write_protocol(folder, {**own, **(changes or {})})
