"""A study of smoke size: a tiny language model that closes quotes, from text to a checked bundle."""

from collections.abc import Iterable
from itertools import product
from pathlib import Path

from circuitproof_lab.train.corpus import Document, DocumentUse

WORDS = ("red", "blue", "green", "one", "two", "old")
VERBS = ("print", "write", "say")

_SOURCE = """
name = "smoke-source"
seed = 1

[architecture]
vocabulary = 290
context = 24
layers = 2
heads = 2
width = 32
mlp_width = 64
norm = { kind = "layer", epsilon = "1/100000" }
attention = "sparsemax"
activation = { kind = "leaky relu", slope = "1/100" }
tied = true
biases = true
logit_bias = false

[data]
kind = "corpus"
text = { kind = "files", root = "code", patterns = ["*.txt"] }
second = { kind = "files", root = "prose", patterns = ["*.txt"] }
tokenizer = { kind = "byte pairs", vocabulary = 290 }
batch = 16

[training]
steps = 300
learning_rate = 0.01
warmup = 20
weight_decay = 0.01
gradient_limit = 1.0
initial_deviation = 0.05
evaluate_every = 150
checkpoint_every = 50
"""

_REMOVAL = """
name = "smoke-norm-free"
seed = 1
source = "source.toml"

[training]
steps = 120
learning_rate = 0.003
warmup = 5
weight_decay = 0.01
gradient_limit = 1.0
evaluate_every = 60
checkpoint_every = 40

[schedule]
order = ["mlp", "attention", "logits"]
begin = 20
fade = 20
interval = 10
window = 10

[fold]
largest_error = 1e-2
relative_error = 1e-4
agreement = 0.99
loss_change = 1e-3
"""

STUDY = """
name = "smoke"
salt = "one"
removal = "removal.toml"
budget = 50.0
epsilon = "1/1000"
anchors = 2
longest = 8

[domain]
fillings = 12
strata = []
narrow = "strata"
least = 6

[[tasks]]
name = "quotes"
answers = { ' "' = '"', " '" = "'" }
slots = { verb = ["print", "write", "say"], body = ["red", "blue", "green", "one", "two", "old"] }

[tasks.templates]
call = "{verb}{opener}{body}"
note = "{verb} {body}{opener}{body}"
bare = "{verb} {verb}{opener}{body}"

[localisation]
objective = "model"
granularity = "head"
order = "attribution"
search = "greedy"
thresholds = [0.01, 0.1]
agreement = 1.0

[[generations]]
name = "A"
development = 12
gate = 12
rule = "sparsity"

[[generations]]
name = "B"
gate = 12
rule = "margin"

[synthesis]
rules = 1
conditions = 1
members = 2
deadline = 10

[healing]
steps = 10
learning_rate = 0.001
warmup = 2
weight_decay = 0.01
gradient_limit = 1.0
evaluate_every = 5
checkpoint_every = 5
batch = 8
keep = 0.25
text = 1.0

[healing.terms]
task = 1.0
circuit = 1.0
extra_edges = 1.0
model_each = 0.5
model_joint = 0.5
circuit_each = 0.5
circuit_joint = 0.5

[gates]
lesion_kl = 0.1
lesion_right = "3/4"

[calibration]
rungs = ["scalar", "readout"]
seed = 0
steps = 60
batch = 24
learning_rate = 0.01
aim = "radius"
target = 0.002
choose = "quality"
joint_necessity = 1
text = 1.0
"""


ORDINARY = (
    ('removal = "removal.toml"', 'base = "ordinary.toml"'),
    ('aim = "radius"', 'aim = "margin"'),
    ("target = 0.002", "target = 0.05"),
)
"""The changes by which the study is of an ordinary model, which stays as it was trained."""
_SOFTMAX = (
    ('attention = "sparsemax"', 'attention = "softmax"'),
    ('{ kind = "leaky relu", slope = "1/100" }', '{ kind = "gelu", form = "tanh" }'),
    ("smoke-source", "smoke-ordinary"),
)


def write_study(folder: Path, *changes: tuple[str, str]) -> Path:
    """Write the study, what it names and a corpus into `folder`, with some texts of the study replaced."""
    _write_corpus(folder)
    (folder / "source.toml").write_text(_SOURCE)
    (folder / "ordinary.toml").write_text(_changed(_SOURCE, _SOFTMAX))
    (folder / "removal.toml").write_text(_REMOVAL)
    (folder / "study.toml").write_text(_changed(STUDY, changes))
    return folder / "study.toml"


def _changed(text: str, changes: Iterable[tuple[str, str]]) -> str:
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


def _write_corpus(folder: Path, documents: int = 60) -> None:
    """Write documents whose lines open a quote and close it, and others to measure on."""
    lines = [
        f"{verb}{between} {quote}{body}{quote}"
        for verb, body, quote in product(VERBS, WORDS, "\"'")
        for between in ("", f" {body}", f" {verb}")
    ]
    for kind, step in (("code", 7), ("prose", 11)):
        (folder / kind).mkdir(parents=True)
        for number in range(documents):
            chosen = [lines[(number * 5 + place * step) % len(lines)] for place in range(30)]
            (folder / kind / f"{number}.txt").write_text("\n".join(chosen) + f"\n{kind} {number}\n")
    names = [Document(f"{number}.txt", "") for number in range(documents)]
    assert {document.part for document in names} == set(DocumentUse) - {DocumentUse.SECOND}
