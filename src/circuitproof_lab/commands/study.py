"""The command that runs a whole study of a language model, from text to report."""

from math import exp
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Exit, Option

from circuitproof.cli.options import AsJson, DeviceOption, RecipeFile, RunFolderOption, run_folder
from circuitproof.cli.show import progress, show_line, show_note, show_result, show_said, show_table, steps_on
from circuitproof.files.devices import DeviceChoice
from circuitproof.files.printing import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from circuitproof.tasks.names import TokenNames
    from circuitproof_lab.pipeline.construction import Artifact
    from circuitproof_lab.pipeline.stages.synthesise import Installed
    from circuitproof_lab.pipeline.study import StudyReport
    from circuitproof_lab.pipeline.study_work import TaskReport
    from circuitproof_lab.records.audit import MeasuredState
    from circuitproof_lab.records.healing import Healed
    from circuitproof_lab.records.limits import NoLimits, PatternLimits


def run(
    recipe: RecipeFile,
    out: RunFolderOption = None,
    base: Annotated[
        Path | None, Option("--base", help="A model directory to study. [default: made as the recipe says]")
    ] = None,
    device: DeviceOption = DeviceChoice.CPU,
    as_json: AsJson = False,
) -> None:
    """Study a language model from text to a proved artifact and a page; an interrupted run goes on."""
    from circuitproof.files.canonical import write_file
    from circuitproof.files.codec import record_to_json
    from circuitproof.nn.devices import device_of
    from circuitproof_check.main import Beside
    from circuitproof_lab.pages.reporting import look_at
    from circuitproof_lab.pipeline.stages.remove_norms import Watchers
    from circuitproof_lab.pipeline.study import run_study
    from circuitproof_lab.pipeline.study_recipe import load_study
    from circuitproof_lab.train.loop import Watcher

    study, where = load_study(recipe), device_of(device)
    folder = run_folder(out, study.name)
    before, tokens = study.source.plan.steps, study.source.tokens_per_step
    with progress(study.name, study.training_steps) as bar:

        def tell(stage: str) -> None:
            bar.update(bar.task_ids[0], description=printable(f"{study.name}: {stage}"), note="")
            show_note(f"{study.name}: {stage}")

        watchers = Watchers(Watcher(steps_on(bar, tokens)), Watcher(steps_on(bar, tokens, before)))
        found = run_study(study, folder, base, tell, watchers, where)
    page = folder / "report.html"
    write_file(page, look_at(folder, Beside(operations=found.operations)).page().encode())
    show_result({**record_to_json(found), "page": page}, lambda _: _show(found, page), as_json=as_json)
    raise Exit(found.exit_code)


def _show(found: "StudyReport", page: Path) -> None:
    from circuitproof.models.declaration import read_declaration

    quality = found.quality
    show_line(
        f"base {found.base}: perplexity {exp(quality.loss):.4f} on held-out text, "
        f"an artifact may have {exp(quality.budget):.4f}"
    )
    names = read_declaration(found.base).tokens.named()
    for report in found.tasks:
        _show_task(report, names)
    show_line(f"{page} is the page of the study")


def _show_task(report: "TaskReport", names: "TokenNames") -> None:
    show_line("")
    show_line(report.viability.sentence)
    if report.outcomes:
        _show_gates(report)
    for line in _domain_lines(report):
        show_line(line)
    if report.installed is not None:
        _show_programs(report, report.installed, names)
    if report.healed is not None:
        _show_healed(report.healed)
    if report.artifact is not None:
        _show_ladder(report.artifact)
        _show_proof(report.artifact)
    if report.checked is not None:
        show_line(f"the checker says {report.checked.outcome}: {report.checked.reason}")
    for line in _limits_lines(report.limits):
        show_line(line)
    if report.stopped is not None:
        show_line(f"{report.task} stopped: {report.stopped}")


def _show_proof(artifact: "Artifact") -> None:
    from circuitproof.reports.answers import answers_table

    show_said(answers_table(f"{artifact.task}: {artifact.proof.verdict}", artifact.proof.battery))
    for kind, why in artifact.measures.unclaimed.items():
        show_line(f"{kind} is not claimed: {why}")
    if (by_token := artifact.measures.by_token) is not None:
        show_line(f"by the opener's token, {by_token.alike} of {by_token.classes} classes are decided alike")


def _limits_lines(limits: "PatternLimits | NoLimits | None") -> "Iterator[str]":
    """Yield what is proved of a pattern, or why nothing was asked of one."""
    from circuitproof_lab.records.limits import PatternLimits

    if isinstance(limits, PatternLimits):
        told = ", ".join(f"{name} {verdict}" for name, verdict in limits.verdicts.items())
        yield f"limits: on {limits.prompts} prompts, {limits.pattern}: {told}"
    elif limits is not None:
        yield f"limits: not asked, {limits.why}"


def _show_gates(report: "TaskReport") -> None:
    rows = [
        (
            outcome.generation,
            f"{len(outcome.trial.circuit)}",
            f"{len(outcome.trial.circuit.nodes())}",
            f"{len(outcome.trial.circuit.heads())}",
            f"{outcome.trial.development.agreed}/{outcome.trial.development.prompts}",
            f"{outcome.trial.gate.agreed}/{outcome.trial.gate.prompts}",
            f"{len(outcome.apart)}",
            "" if outcome.programs is None else f"{outcome.programs.right}",
            ", ".join(f"{name}: {count}" for name, count in outcome.trial.missed.items()),
        )
        for outcome in report.outcomes
    ]
    measured = ("development#", "gate#", "apart#", "programs#", "missed")
    columns = ("generation", "edges#", "nodes#", "heads#", *measured)
    show_table(f"{report.task}: the selected circuits at their gates, in FP32", columns, rows)
    show_line("apart: the base itself is wrong there; programs: right with those selected before the gate")


def _domain_lines(report: "TaskReport") -> "Iterator[str]":
    """Yield what the domain is made of, and how its circuit of heads compares with that of their blocks."""
    if (domain := report.domain) is not None:
        classes = ", ".join(f"{count} classes by {relation}" for relation, count in domain.classes.items())
        yield (
            f"the declared domain has {domain.prompts} prompts, {domain.development} of development and of "
            f"{domain.gates} of gates all but {len(domain.apart)} that the base misses, for which the pool "
            f"has {domain.filled} others; {classes}"
        )
    if (blocks := report.blocks) is not None:
        yield (
            f"block regression: {blocks.heads} heads decide {blocks.agreed} of {blocks.prompts} prompts as "
            f"the {blocks.block_heads} of their attention blocks do"
        )


def _show_programs(report: "TaskReport", installed: "Installed", names: "TokenNames") -> None:
    from circuitproof.reports.words import program_line

    programs = {head: program_line(names, program) for head, program in installed.programs.items()}
    rows = [
        (
            str(one.head),
            programs.get(one.head, "none in bounds"),
            "" if one.overlap is None else f"{one.overlap:.2f}",
            f"{one.tried}/{one.meanings}",
            f"{one.seconds:.1f}",
        )
        for one in installed.searches
    ]
    edges = 0 if report.circuit is None else len(report.circuit)
    title = f"{report.task}: programs for the heads of {edges} edges extracted on the whole domain"
    show_table(title, ("head", "program", "overlap#", "tried#", "seconds#"), rows)
    exact, prompts = installed.exact, 0 if report.domain is None else report.domain.prompts
    show_line(f"with these programs the circuit is known to decide {exact} of {prompts} prompts right")
    if report.again is not None:
        show_line(f"extracted again among them, {len(report.again)} edges are left")


def _show_healed(healed: "Healed") -> None:
    audit = healed.audit
    show_line(
        f"healed as a whole for {healed.steps} steps: {audit.model}/{audit.prompts} right, circuit "
        f"{audit.circuit}, without programs {audit.without_heads}, perplexity {exp(healed.loss):.4f} "
        f"({'within' if healed.within_budget else 'over'} budget); the programs are "
        f"{'used' if healed.uses_programs else 'bypassed'}"
    )


def _show_ladder(artifact: "Artifact") -> None:
    aim = artifact.states[0].aim
    columns = ("state", "model#", "circuit#", "no heads#", "no circuit#", "ppl#", f"{aim}#", "passes")
    rows = [
        (
            f"{state.name}{' *' if state.name == artifact.record else ''}",
            f"{state.audit.model}",
            f"{state.audit.circuit}",
            f"{state.audit.without_heads}{_perplexity(state, 'without_heads')}",
            f"{state.audit.without_circuit}{_perplexity(state, 'without_circuit')}",
            "" if state.losses is None else f"{exp(state.losses.model):.4f}",
            f"{state.radius:.4f}",
            "yes" if state.passes else "no",
        )
        for state in artifact.states
    ]
    prompts = artifact.states[0].audit.prompts
    show_table(f"{artifact.task}: right of {prompts}, in FP32; * is of record", columns, rows)
    show_line(artifact.why)
    errors = artifact.states[1].audit.errors
    place = "all" if errors.both == errors.wrong else "not all"
    show_line(
        f"{errors.wrong} errors of the installed model, {place} among the {errors.uncovered} "
        "prompts that the base does not decide right without these heads"
    )


def _perplexity(state: "MeasuredState", lesion: str) -> str:
    return "" if state.losses is None else f" ({exp(getattr(state.losses, lesion)):.2f})"
