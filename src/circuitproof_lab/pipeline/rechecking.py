"""Checking a certificate of unrealisability anew, from files and without torch."""

from collections.abc import Sequence
from pathlib import Path

from circuitproof.files.kinds import FileKind, of_kind
from circuitproof.files.reading import read_json, reading
from circuitproof.forward.frozen import open_model
from circuitproof_lab.distill.unrealisable import Unrealisable, read_unrealisable, recheck


def recheck_certificate(file: Path, model: Path, tasks: Sequence[str]) -> Unrealisable:
    """Read a certificate and accept it about a model and tasks, or refuse it with a sentence."""
    with reading(of_kind(read_json(file), str(file), FileKind.UNREALISABLE), str(file)) as fields:
        certificate = read_unrealisable(fields)
    frozen = open_model(model)
    asked = [frozen.declaration.listed_task(task) for task in tasks]
    for task in asked:
        task.refuse_elsewhere()
    recheck(certificate, frozen, asked)
    return certificate
