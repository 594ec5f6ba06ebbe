"""Programs that Tracr compiled as model directories, with sparsemax in the place of softmax."""

from dataclasses import dataclass
from os.path import lexists
from pathlib import Path

import numpy as np
from safetensors.numpy import save

from circuitproof.circuits.circuit import whole
from circuitproof.errors import InputError
from circuitproof.files.canonical import (
    readable_json,
    reading_file,
    refuse_existing,
    write_directory,
    write_files,
)
from circuitproof.files.codec import record_to_json
from circuitproof.files.sealed import seal
from circuitproof.forward.frozen import open_unsealed
from circuitproof.importers.tracr_format import Compiled, Readout, load_compiled
from circuitproof.importers.tracr_programs import PROGRAMS, compile_program
from circuitproof.models.declaration import DECLARATION, WEIGHTS
from circuitproof.proof.fold import fold

TASK, REPORT, COMPILED = "task.json", "import.json", "compiled.safetensors"


@dataclass(frozen=True, slots=True, kw_only=True)
class TracrImport:
    """What was imported, what was replaced, and how far that moves the logits on all inputs."""

    program: str
    readout: Readout
    replaced: str
    """What stands in the place of what."""
    prompts: int
    right: int
    """On so many of them the import decides as RASP's interpreter does: all, or nothing is written."""
    largest_difference: float
    """Of a candidate's logit, between the import, computed exactly, and Tracr's own forward in FP32."""
    largest_logit: float


def import_tracr(source: str, out: Path) -> TracrImport:
    """Turn a program of Tracr's library, or a file of a compiled one, into a model directory with its task.

    Nothing is written unless the import decides every input as the original does, and rightly.
    """
    refuse_existing(out)
    compiled = _compiled(source)
    found: list[TracrImport] = []

    def fill(directory: Path) -> None:
        files = {
            DECLARATION: readable_json(compiled.declaration.to_json()),
            WEIGHTS: save(compiled.model_tensors()),
            TASK: readable_json(compiled.task.to_json()),
            COMPILED: compiled.to_bytes(),
        }
        write_files({directory / name: content for name, content in files.items()})
        found.append(_compare(compiled, directory, source))
        write_files({directory / REPORT: readable_json(record_to_json(found[0]))})
        seal(directory)

    write_directory(out, fill)
    return found[0]


def _compiled(source: str) -> Compiled:
    if source in PROGRAMS:
        return compile_program(source)
    with reading_file(path := Path(source)):
        if not lexists(path):
            raise InputError(
                f"{source} is neither a file nor one of the programs known here: {', '.join(PROGRAMS)}"
            )
    return load_compiled(path)


def _compare(compiled: Compiled, directory: Path, source: str) -> TracrImport:
    """Compute the import exactly on every input, and put it beside what the original gave there."""
    frozen, task = open_unsealed(directory), compiled.task
    frozen.declaration.refuse_unfit(task)
    circuit = whole(frozen.graph)
    folds = fold(frozen, task.candidates, [circuit], task.prompts).of(circuit)
    theirs = compiled.recorded_logits()
    ours = np.array([[float(logit) for logit in one.logits] for one in folds])
    wanted = task.decisions()
    wrong = [place for place, one in enumerate(folds) if one.decision != frozenset({wanted[place]})]
    unlike = [
        place
        for place, row in enumerate(theirs)
        if np.flatnonzero(row == row.max()).tolist() != [wanted[place]]
    ]
    for places, what in ((unlike, "Tracr's own model"), (wrong, "the import with sparsemax")):
        if places:
            raise InputError(
                f"{source}: {what} decides {len(places)} of {len(wanted)} inputs otherwise than the program, "
                f"first {task.alphabet.text(task.prompts[places[0]])!r}; nothing was written"
            )
    return TracrImport(
        program=compiled.interface.program,
        readout=compiled.interface.readout,
        replaced="softmax by sparsemax",
        prompts=len(folds),
        right=len(folds) - len(wrong),
        largest_difference=float(np.abs(ours - theirs).max()),
        largest_logit=float(np.abs(theirs).max()),
    )
