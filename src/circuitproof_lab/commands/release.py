"""The command that makes a release of a finished study."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from circuitproof.cli.options import AsJson
from circuitproof.cli.show import show_line, show_result
from circuitproof.files.replacing import Continued


def release(
    run: Annotated[Path, Argument(metavar="RUN", help="The folder of a finished circuitproof run.")],
    out: Annotated[Path, Option("--out", help="The new folder of the release."), Continued()],
    base: Annotated[Path | None, Option("--base", help="The base, where the run was given one.")] = None,
    megabytes: Annotated[int, Option("--megabytes", min=1, help="The most that its models may have.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Put claims, proofs, models, tasks and records of a finished study where anyone can check them."""
    from circuitproof_lab.pipeline.release import release_study

    made = release_study(run, out, base, megabytes)
    rungs = ", ".join(f"{task} {rung}" for task, rung in made.rungs.items())

    def show(_: object) -> None:
        made_by = f"circuitproof {made.environment.circuitproof}, {made.environment}"
        corpus = "" if made.corpus_python is None else f"; the corpus is of Python {made.corpus_python}"
        show_line(f"{out} holds {len(made.files)} files; models of record: {rungs}")
        show_line(f"the run began with {made_by}{corpus}")
        show_line(f"check them by circuitproof claims check {out / 'claims.toml'}")

    show_result(made, show, as_json=as_json)
