"""Commands about a claims file: prove, check, tabulate and archive all of its claims."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, BadParameter, Exit, Option, Typer, echo

from circuitproof.claims.forms import Format
from circuitproof.cli.helping import refuse_idle
from circuitproof.cli.options import AsJson
from circuitproof.cli.show import printing, progress, show_json, show_line, show_note, show_result
from circuitproof.cli.writing import guarded
from circuitproof.files.replacing import Continued, OneFile

if TYPE_CHECKING:
    from circuitproof.claims.file import ClaimsFile
    from circuitproof.claims.proving import SettledClaim
    from circuitproof.claims.results import Claims

group = Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)

File = Annotated[Path, Argument(metavar="FILE", help="A claims file, such as claims.toml.")]
_FOLDER = "The folder of the proofs, one for each claim. [default: the file's, or build/NAME]"
ProofsOut = Annotated[Path | None, Option("--out", help=_FOLDER), Continued()]
Proofs = Annotated[Path | None, Option("--proofs", help=_FOLDER)]
Jobs = Annotated[int, Option("--jobs", min=1, help="How many claims are worked on at a time.")]
OnlyOption = Annotated[list[str] | None, Option("--only", help="A claim by its name; repeat for several.")]
Anew = Annotated[bool, Option("--force", help="Replace proofs of other claims that stand there.")]
Models = Annotated[
    list[str] | None,
    Option("--model", metavar="NAME=DIR", help="Where a model of the file is; repeat for several."),
]
NoModels = Annotated[
    bool, Option("--no-models", help="Compare bundles with claims, circuits and tasks, and not with models.")
]


@group.callback()
def claims() -> None:
    """Prove, check, tabulate or archive all claims of a file, each with the verdict expected of it."""


@group.command("prove")
@guarded
def prove_all(  # noqa: PLR0913, PLR0917  # what is proved, and how
    file: File,
    out: ProofsOut = None,
    models: Models = None,
    jobs: Jobs = 1,
    only: OnlyOption = None,
    is_anew: Anew = False,
    as_json: AsJson = False,
) -> None:
    """Prove every claim that is not proved yet; a verdict that is not as expected ends with exit code 1."""
    from circuitproof.claims.proving import prove_claims
    from circuitproof.errors import ExitCode

    stated, folder = _opened(file, out, only, models)
    with shown_claims(stated) as hear:
        found = prove_claims(stated, folder, hear, jobs=jobs, force=is_anew)
    show_result(found, _show_proved, as_json=as_json)
    raise Exit(ExitCode.REFUTED if any(one.changed for one in found) else ExitCode.GOOD)


@group.command("check")
def check_all(  # noqa: PLR0913, PLR0917  # what is checked, and how
    file: File,
    proofs: Proofs = None,
    models: Models = None,
    jobs: Jobs = 1,
    only: OnlyOption = None,
    no_models: NoModels = False,
    as_json: AsJson = False,
) -> None:
    """Let the independent checker judge every bundle against its model, task, circuit and properties."""
    from circuitproof.claims.showing import claims_said

    found = _checked(file, proofs, only, jobs, _compared_with(models, no_models))
    show_result(found, printing(claims_said), as_json=as_json)
    raise Exit(found.exit_code)


@group.command("table")
@guarded
def tabulate(  # noqa: PLR0913, PLR0917  # what is tabulated, and how
    file: File,
    proofs: Proofs = None,
    form: Annotated[Format, Option("--format", help="What the table is written in.")] = Format.MARKDOWN,
    page: Annotated[
        Path | None, Option("--page", help="Write one HTML page of all claims here too."), OneFile()
    ] = None,
    models: Models = None,
    jobs: Jobs = 1,
    only: OnlyOption = None,
    no_models: NoModels = False,
    as_json: AsJson = False,
) -> None:
    """Check every bundle, and print what was found as a table for a document."""
    from circuitproof.files.canonical import write_file

    found = _checked(file, proofs, only, jobs, _compared_with(models, no_models))
    if page is not None:
        write_file(page, found.page().encode())
    if as_json:
        show_json(found)
    else:
        echo(found.table(form), nl=False)
        for sentence in (*found.sentences(), *found.uncompared()):
            show_note(sentence)
    raise Exit(found.exit_code)


@group.command("archive")
@guarded
def archive(
    file: File,
    out: Annotated[Path, Option("--out", help="Where the archive is written, a .tar.gz."), OneFile()],
    proofs: Proofs = None,
    as_json: AsJson = False,
) -> None:
    """Write claims, circuits, tasks and bundles into one archive, the same bytes each time; no models."""
    from circuitproof.claims.archive import write_archive
    from circuitproof.files.canonical import digest_file

    stated, folder = _opened(file, proofs, None, None)
    files = write_archive(stated, folder, out)
    digest = digest_file(out)
    if as_json:
        show_json({"archive": out, "sha256": digest, "files": sorted(files)})
    else:
        show_line(f"{out} holds {len(files)} files of {len(stated.claims)} claims, SHA-256 {digest}")


def _opened(
    file: Path, proofs: Path | None, only: Collection[str] | None, models: Collection[str] | None
) -> "tuple[ClaimsFile, Path]":
    from circuitproof.claims.file import load_claims

    stated = load_claims(file, _placed(models or ())).only(only or ())
    return stated, proofs or stated.proofs


def _compared_with(models: list[str] | None, no_models: bool) -> Collection[str] | None:  # noqa: FBT001  # as it was given
    """Return the directories that are given for models, or nothing where none is to be compared."""
    refuse_idle(("--model",) if models and no_models else (), "--no-models compares no model")
    return None if no_models else models or ()


def _placed(models: Collection[str]) -> dict[str, Path]:
    """Return the directory that is given for each model; one is given once."""
    found: dict[str, Path] = {}
    for spelled in models:
        name, sign, path = spelled.partition("=")
        if not (name and sign and path) or name in found:
            raise BadParameter(f"--model {spelled} wants NAME=DIR, each name once")
        found[name] = Path(path)
    return found


def _checked(
    file: Path, proofs: Path | None, only: list[str] | None, jobs: int, models: Collection[str] | None
) -> "Claims":
    """Check the claims of a file; `models` is nothing where bundles are not compared with them."""
    from circuitproof.claims.checking import check_claims
    from circuitproof.claims.results import Claims

    stated, folder = _opened(file, proofs, only, models)
    with shown_claims(stated) as hear:
        found = check_claims(stated, folder, jobs=jobs, has_models=models is not None, hear=hear)
    return Claims(stated.name, found)


@contextmanager
def shown_claims(stated: "ClaimsFile") -> "Iterator[Callable[[str, int, int], None]]":
    """Show on a terminal how many claims are done."""
    with progress(stated.name, len(stated.claims)) as bar:
        yield lambda name, done, _: bar.update(bar.task_ids[0], completed=done, note=name)


def _show_proved(found: "tuple[SettledClaim, ...]") -> None:
    for one in found:
        verdicts = ", ".join(f"{kind} {verdict}" for kind, verdict in one.record.verdicts.items())
        when = f"in {one.record.seconds:.1f} s" if one.is_new else "before"
        show_line(f"{one.name}: {verdicts} ({when})")
    for one in found:
        if one.changed:
            show_note(f"claim {one.name!r}: {one.changed}")
