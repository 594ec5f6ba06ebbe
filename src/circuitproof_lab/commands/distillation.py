"""The command that distils neural heads into programs."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

from typer import Exit, Option

from circuitproof.cli.options import AsJson, DeviceOption, RecipeFile, RunFolderOption, run_folder
from circuitproof.cli.show import show_line, show_note, show_result, show_table
from circuitproof.errors import ExitCode
from circuitproof.files.devices import DeviceChoice
from circuitproof.proof.properties.kinds import Kind

if TYPE_CHECKING:
    from circuitproof.circuits.graph import Head
    from circuitproof_lab.distill.migrate import Migration
    from circuitproof_lab.pipeline.distillation_report import Round, SeedReport

_RIGHT = ("model#", "circuit#", "without programs#")
_HEADS = ("idle in model", "in circuit", "arrived")
_ROUNDS = ("seed#", "round", "task", *_RIGHT, "KL of that#", "weakest alone#", *_HEADS, "fate")
_PROVED = (Kind.EQUIVALENCE, Kind.INVARIANCE, Kind.NECESSITY, Kind.ROBUSTNESS)
_PROOFS = ("seed#", "task", "edges#", "neural heads", *_PROVED, "checker", "QK parameters#")


def distill(  # noqa: PLR0913, PLR0917  # a run has these parts
    recipe: RecipeFile,
    out: RunFolderOption = None,
    seed: Annotated[
        list[int] | None, Option("--seed", help="A seed; repeat for several. [default: the recipe's]")
    ] = None,
    jobs: Annotated[int, Option("--jobs", min=1, help="How many seeds run at a time.")] = 1,
    device: DeviceOption = DeviceChoice.CPU,
    as_json: AsJson = False,
) -> None:
    """Replace neural heads by programs, heal under three objectives, and prove what is left."""
    from circuitproof.nn.devices import device_of
    from circuitproof_lab.pipeline.distillation import distill as distill_recipe
    from circuitproof_lab.pipeline.distillation_recipe import load_distillation_recipe

    loaded = load_distillation_recipe(recipe)
    loaded = loaded.with_seeds(seed) if seed else loaded
    folder = run_folder(out, loaded.name)
    reports = distill_recipe(loaded, folder, jobs, show_stage, device_of(device))
    show_result(reports, _show, as_json=as_json)
    raise Exit(ExitCode.GOOD if all(report.is_held for report in reports) else ExitCode.REFUTED)


def show_stage(seed: int, stage: str) -> None:
    """Say on standard error which stage of which seed begins."""
    show_note(f"seed {seed}: {stage}")


def _show(found: "Sequence[SeedReport]") -> None:
    if rounds := [row for report in found for row in _round_rows(report)]:
        show_table("what became of each behaviour, measured in FP32", _ROUNDS, rounds)
    if programs := [row for report in found for row in _program_rows(report)]:
        show_table("the programs of the final models", ("seed#", "head", "program"), programs)
    if proofs := [row for report in found for row in _proof_rows(report)]:
        show_table("the final circuits, in exact arithmetic", _PROOFS, proofs)
    for report in found:
        if report.stopped is not None:
            show_line(f"seed {report.seed} ended early: {report.stopped}")
    held = sum(report.is_held for report in found)
    show_line(f"{held} of {len(found)} seeds end in programs that hold and circuits that are proved")


def _round_rows(report: "SeedReport") -> "Iterator[tuple[str, ...]]":
    for done in report.rounds:
        for migration in done.migrations:
            yield (f"{report.seed}", done.name, migration.behaviour.task.name, *_measured(done, migration))


def _measured(done: "Round", migration: "Migration") -> tuple[str, ...]:
    from circuitproof_lab.distill.lesion import Where

    joint = migration.effect(Where.MODEL, tuple(done.programs))
    core = migration.behaviour.core(done.programs)
    alone = [migration.effect(Where.MODEL, (head,)).change.kl for head in core]
    right = [migration.effect(where).answers for where in (Where.MODEL, Where.CIRCUIT)]
    return (
        *(f"{one.agreed}/{one.prompts}" for one in right),
        f"{joint.answers.agreed}/{joint.answers.prompts}",
        f"{joint.change.kl:.1e}",
        f"{min(alone):.1e}" if alone else "",
        *(_names(migration.idle(where)) for where in (Where.MODEL, Where.CIRCUIT)),
        _names(migration.arrived),
        str(migration.fate),
    )


def _program_rows(report: "SeedReport") -> "Iterator[tuple[str, ...]]":
    from circuitproof.reports.words import program_line
    from circuitproof.tasks.names import TokenNames

    for done in report.rounds[-1:]:
        tasks = [migration.behaviour.task for migration in done.migrations]
        names = tasks[0].alphabet.named() if tasks else TokenNames({})
        for head, program in done.programs.items():
            yield (f"{report.seed}", _names([head]), program_line(names, program))


def _proof_rows(report: "SeedReport") -> "Iterator[tuple[str, ...]]":
    for proof in report.proofs:
        scoring = report.rounds[-1].scoring
        yield (
            f"{report.seed}",
            proof.task,
            f"{len(proof.circuit)}",
            _names(proof.neural) or "none",
            *(str(proof.verdicts[kind]) for kind in _PROVED),
            proof.checker.name.lower(),
            f"{scoring.without_programs} -> {scoring.with_programs}",
        )


def _names(heads: "Iterable[Head]") -> str:
    return ", ".join(f"{head.layer}.{head.index}" for head in heads)
