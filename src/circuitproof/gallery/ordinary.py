"""Models of softmax, GELU and LayerNorm: imported as a user would, with their inputs as tasks beside them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from circuitproof.files.canonical import Json, readable_json, write_file
from circuitproof.gallery.inputs import addition, induction, larger, sorting
from circuitproof.importers.foreign import Foreign
from circuitproof.importers.hugging_face import import_hf
from circuitproof.importers.min_gpt import import_mingpt
from circuitproof.importers.transformer_lens import import_tl
from circuitproof.models.declaration import read_declaration
from circuitproof.tasks.loading import read_declared

RowTasks: TypeAlias = Callable[[], Mapping[str, Mapping[str, object]]]
"""Returns tasks by their names, each with the keys of a task file."""
_MODEL = "model"
_ROWS: Mapping[str, tuple[Callable[[Path, Path], Foreign], RowTasks]] = {
    "max_of_two": (import_tl, larger),
    "max_of_two_undertrained": (import_tl, larger),
    "modular_addition": (import_tl, lambda: addition(113, 113)),
    "modular_addition_4_errors": (import_tl, lambda: addition(113, 113)),
    "grokking": (import_tl, lambda: addition(113, 113)),
    "pizza_softmax_attention": (import_tl, lambda: addition(59)),
    "induction_head": (import_tl, lambda: {"repeats": induction().task()}),
    "nano_sort": (import_mingpt, sorting),
    "shakespeare_gpt2": (import_hf, dict),
}


def fill_row(name: str, weights: Path, folder: Path) -> None:
    """Write the model directory, its tasks and, where they are made by a rule, its circuits."""
    read, inputs = _ROWS[name]
    read(weights, folder / _MODEL)
    tokens = read_declaration(folder / _MODEL).tokens
    for title, keys in inputs().items():
        task = read_declared({"name": title, **keys}, title, tokens)
        write_file(folder / f"{title}.json", readable_json(task.to_json()))
    if name == "induction_head":
        _write_circuits(folder)


def _write_circuits(folder: Path) -> None:
    for title, circuit in induction().circuits().items():
        found: Json = dict(circuit)
        write_file(folder / f"{title}.json", readable_json(found))
