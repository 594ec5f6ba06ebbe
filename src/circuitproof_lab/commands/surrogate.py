"""The command that tests explanations from outside."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from typer import Exit

from circuitproof.cli.options import AsJson, DeviceOption, RecipeFile, RunFolderOption, run_folder
from circuitproof.cli.show import show_line, show_note, show_result, show_table
from circuitproof.files.devices import DeviceChoice
from circuitproof.files.printing import plural

if TYPE_CHECKING:
    from circuitproof_lab.records.surrogate import SurrogateReport, TestedProgram


def surrogate(
    recipe: RecipeFile,
    out: RunFolderOption = None,
    device: DeviceOption = DeviceChoice.CPU,
    as_json: AsJson = False,
) -> None:
    """Test explanations of teachers through surrogates: fit, prove or refute, and repair what is refuted.

    Exit code 0 if every teacher ends with a proved program; 1 if the family has none for some teacher.
    """
    from circuitproof.nn.devices import device_of
    from circuitproof.proof.verdict import EXIT_CODES, worst
    from circuitproof_lab.pipeline.surrogate import run_surrogate
    from circuitproof_lab.pipeline.surrogate_recipe import load_surrogate_recipe

    loaded = load_surrogate_recipe(recipe)
    folder = run_folder(out, loaded.name)
    reports = run_surrogate(loaded, folder, show_note, device_of(device))
    show_result(reports, _show, as_json=as_json)
    raise Exit(EXIT_CODES[worst([report.verdict for report in reports])])


def _show(reports: Sequence["SurrogateReport"]) -> None:
    """Print a row per teacher, and below what was found about each."""
    columns = ("teacher", "data agreement#", "surrogate-teacher agreement#", "program equivalence", "outcome")
    show_table("explanations tested through surrogates", columns, [_row(report) for report in reports])
    for report in reports:
        for line in ("", *_account_lines(report)):
            show_line(line)


def _row(report: "SurrogateReport") -> tuple[str, ...]:
    tested = report.explanation
    fitted = "none" if tested is None else f"{tested.agreed}/{report.data}"
    verdict = "no program" if tested is None else f"{tested.verdict} for {tested.template}"
    surrogate_agreed = f"{report.surrogate_agreed}/{report.words}"
    return (report.name, fitted, surrogate_agreed, verdict, report.outcome)


def _account_lines(report: "SurrogateReport") -> list[str]:
    lines = [f"{report.name}: {report.words} words, the teacher's answers are {report.basis}"]
    if report.explanation is not None:
        lines += _program_lines("explanation", report.explanation)
    if report.repair is not None:
        lines += _program_lines("repair", report.repair)
    for closed in report.closed:
        meanings = "" if closed.meanings is None else f" ({closed.meanings} meanings)"
        lines.append(
            f"  {closed.template}: all {closed.programs} programs{meanings} refuted at {closed.leaves} leaves"
        )
    if report.given_up:
        lines.append(f"  {plural(len(report.given_up), 'program')} given up on the way, each for a word")
    if report.open_template is not None:
        lines.append(f"  {report.open_template}: open, the search reached its budget")
    return lines


def _program_lines(role: str, tested: "TestedProgram") -> list[str]:
    lines = [f"  {role}, template {tested.template} of {len(tested.choices)} choices: {tested.verdict}"]
    lines += [f"    {line}" for line in tested.lines]
    lines += [f"    {name}: {said}" for name, said in tested.replies.items()]
    if (found := tested.disproof) is not None:
        surrogate_said = " and ".join(found.surrogate)
        lines.append(
            f"    counterexample {list(found.tokens)}, that is: {found.text} | program {found.program}, "
            f"surrogate {surrogate_said}, teacher {found.teacher}"
        )
    return lines
