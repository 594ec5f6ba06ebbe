"""Claims of a file on other models, as a command line asks for them."""

import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, BadParameter, Option

from circuitproof.cli.show import progress
from circuitproof.errors import UsageError
from circuitproof.files.replacing import Continued
from circuitproof.workers import Division

if TYPE_CHECKING:
    from circuitproof.claims.checkpoints import ClaimsOnModel, ClaimsOverCheckpoints

ModelPlaces = Annotated[
    list[str] | None,
    Option("--where", metavar="NAME=DIR", help="Where a model of the file is; repeat for several."),
]
OtherModelOption = Annotated[
    Path | None,
    Option("--model", metavar="DIR", help="Another model, which takes the place of the file's."),
]
Checkpoints = Annotated[
    Path | None,
    Option(
        "--models", metavar="DIR...", help="Checkpoints, such as run/kept/*, which take its place in turn."
    ),
]
FurtherModels = Annotated[
    list[Path] | None, Argument(metavar="[CHECKPOINT]...", show_default=False, hidden=True)
]
"""What a shell makes of the star after --models: the first is the option's value, the others stand alone."""
InsteadOf = Annotated[
    str | None,
    Option("--instead-of", metavar="NAME", help="Which model's place that is, where the file has several."),
]
ProofsAnew = Annotated[
    Path | None,
    Option("--out", help="Keep the proofs on other models here; else they are not kept."),
    Continued(),
]


@dataclass(frozen=True, slots=True)
class AskedAnew:
    """A claims file whose claims are asked of other models."""

    file: Path
    where: Mapping[str, Path]
    only: Collection[str]
    instead_of: str | None
    workers: Division


def checkpoints_asked(first: Path | None, further: Sequence[Path] | None) -> Sequence[Path]:
    """Return all models that stand behind --models."""
    if first is None and further:
        raise UsageError(f"{further[0]} is one argument too many; checkpoints are given by --models")
    return () if first is None else (first, *(further or ()))


def placed(where: Collection[str] | None) -> dict[str, Path]:
    """Return the directory that is given for each model; one is given once."""
    found: dict[str, Path] = {}
    for spelled in where or ():
        name, sign, path = spelled.partition("=")
        if not (name and sign and path) or name in found:
            raise BadParameter(f"--where {spelled} wants NAME=DIR, each name once")
        found[name] = Path(path)
    return found


def check_anew(
    asked: AskedAnew, models: Sequence[Path], out: Path | None, *, is_one: bool
) -> "ClaimsOnModel | ClaimsOverCheckpoints":
    """Prove the claims anew on one model, or on each of several, and let the checker judge them."""
    from circuitproof.claims.checkpoints import claims_on, claims_over, load_at_steps
    from circuitproof.claims.file import OtherModel, load_claims

    with nullcontext(str(out)) if out else tempfile.TemporaryDirectory(prefix="circuitproof-") as folder:
        if is_one:
            file = load_claims(asked.file, asked.where, OtherModel(models[0], asked.instead_of)).only(
                asked.only
            )
            with shown_claims(file.name, len(file.claims)) as hear:
                return claims_on(file, Path(folder), hear, workers=asked.workers)
        found = load_at_steps(asked.file, asked.where, models, asked.instead_of)
        files = {step: file.only(asked.only) for step, file in found.items()}
        with shown_claims(asked.file.name, sum(len(file.claims) for file in files.values())) as hear:
            return claims_over(files, Path(folder), hear, workers=asked.workers)


@contextmanager
def shown_claims(title: str, total: int) -> "Iterator[Callable[[str, int, int], None]]":
    """Show on a terminal how many claims are done."""
    with progress(title, total) as bar:
        yield lambda name, done, _: bar.update(bar.task_ids[0], completed=done, note=name)
