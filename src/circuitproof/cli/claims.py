"""Commands about a claims file: prove, check, tabulate and archive all of its claims."""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Context, Exit, Option, Typer, echo

from circuitproof.claims.forms import Format
from circuitproof.cli.claims_anew import (
    AskedAnew,
    Checkpoints,
    FurtherModels,
    InsteadOf,
    ModelPlaces,
    OtherModelOption,
    ProofsAnew,
    check_anew,
    checkpoints_asked,
    placed,
    shown_claims,
)
from circuitproof.cli.helping import given, refuse_idle
from circuitproof.cli.options import AsJson, ClusterOption
from circuitproof.cli.show import printing, show_json, show_line, show_note, show_result
from circuitproof.cli.writing import guarded
from circuitproof.files.replacing import Continued, OneFile
from circuitproof.workers import Division, workers_of

if TYPE_CHECKING:
    from circuitproof.claims.file import ClaimsFile, OtherModel
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
    where: ModelPlaces = None,
    model: OtherModelOption = None,
    instead_of: InsteadOf = None,
    jobs: Jobs = 1,
    cluster: ClusterOption = None,
    only: OnlyOption = None,
    is_anew: Anew = False,
    as_json: AsJson = False,
) -> None:
    """Prove every claim that is not proved yet; a verdict that is not as expected ends with exit code 1."""
    from circuitproof.claims.proving import prove_claims
    from circuitproof.errors import ExitCode
    from circuitproof.nn.measuring import measured_after

    workers = workers_of(jobs, cluster)
    stated, folder = _opened(file, out, only, where, _other(model, instead_of))
    with shown_claims(stated.name, len(stated.claims)) as hear:
        found = prove_claims(stated, folder, hear, workers=workers, force=is_anew, measure=measured_after)
    show_result(found, _show_proved, as_json=as_json)
    raise Exit(ExitCode.REFUTED if any(one.changed for one in found) else ExitCode.GOOD)


@group.command("check")
@guarded
def check_all(  # noqa: PLR0913, PLR0917  # what is checked, and how
    context: Context,
    file: File,
    further: FurtherModels = None,
    proofs: Proofs = None,
    where: ModelPlaces = None,
    model: OtherModelOption = None,
    models: Checkpoints = None,
    instead_of: InsteadOf = None,
    out: ProofsAnew = None,
    jobs: Jobs = 1,
    cluster: ClusterOption = None,
    only: OnlyOption = None,
    no_models: NoModels = False,
    as_json: AsJson = False,
) -> None:
    """Let the independent checker judge every bundle against its model, task, circuit and properties.

    With --model, or --models for the checkpoints of a training, claims are proved anew and what changed is
    said: by name and count on one model, and of several from which step on each claim holds.
    """
    from circuitproof.claims.showing import claims_said

    several = checkpoints_asked(models, further)
    if model is None and not several:
        refuse_idle(given(context, "instead_of", "out", "cluster"), "neither --model nor --models is given")
        found = _checked(file, proofs, only, workers_of(jobs), _compared_with(where, no_models))
    else:
        refuse_idle(given(context, "proofs", "no_models"), "on other models claims are proved anew")
        refuse_idle(("--model",) if model and several else (), "--models names all of them")
        asked = AskedAnew(file, placed(where), only or (), instead_of, workers_of(jobs, cluster))
        found = check_anew(asked, [model] if model else several, out, is_one=model is not None)
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
    where: ModelPlaces = None,
    jobs: Jobs = 1,
    only: OnlyOption = None,
    no_models: NoModels = False,
    as_json: AsJson = False,
) -> None:
    """Check every bundle, and print what was found as a table for a document."""
    from circuitproof.files.canonical import write_file

    found = _checked(file, proofs, only, workers_of(jobs), _compared_with(where, no_models))
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
    file: Path,
    proofs: Path | None,
    only: Collection[str] | None,
    where: Collection[str] | None,
    other: "OtherModel | None" = None,
) -> "tuple[ClaimsFile, Path]":
    from circuitproof.claims.file import load_claims

    stated = load_claims(file, placed(where), other).only(only or ())
    return stated, proofs or stated.proofs


def _other(model: Path | None, instead_of: str | None) -> "OtherModel | None":
    from circuitproof.claims.file import OtherModel

    refuse_idle(("--instead-of",) if instead_of and model is None else (), "--model is not given")
    return None if model is None else OtherModel(model, instead_of)


def _compared_with(where: list[str] | None, no_models: bool) -> Collection[str] | None:  # noqa: FBT001  # as it was given
    """Return the directories that are given for models, or nothing where none is to be compared."""
    refuse_idle(("--where",) if where and no_models else (), "--no-models compares no model")
    return None if no_models else where or ()


def _checked(
    file: Path, proofs: Path | None, only: list[str] | None, workers: Division, where: Collection[str] | None
) -> "Claims":
    """Check the claims of a file; `where` is nothing where bundles are not compared with models."""
    from circuitproof.claims.checking import check_claims
    from circuitproof.claims.results import Claims

    stated, folder = _opened(file, proofs, only, where)
    with shown_claims(stated.name, len(stated.claims)) as hear:
        found = check_claims(stated, folder, workers=workers, has_models=where is not None, hear=hear)
    return Claims(stated.name, found)


def _show_proved(found: "tuple[SettledClaim, ...]") -> None:
    for one in found:
        verdicts = ", ".join(f"{kind} {verdict}" for kind, verdict in one.record.verdicts.items())
        when = f"in {one.record.seconds:.1f} s" if one.is_new else "before"
        show_line(f"{one.name}: {verdicts} ({when})")
    for one in found:
        if one.changed:
            show_note(f"claim {one.name!r}: {one.changed}")
