"""The command that compares variants of a model."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from circuitproof.cli.options import AsJson, DeviceOption, RecipeFile, RunFolderOption, drawing_of, run_folder
from circuitproof.cli.show import progress, show_line, show_note, show_result, show_table, steps_on
from circuitproof.files.devices import DeviceChoice
from circuitproof.files.printing import printable
from circuitproof.files.replacing import OneFile

if TYPE_CHECKING:
    from circuitproof_lab.records.variants import SeedSpread, VariantComparison, VariantRow
    from circuitproof_lab.train.loop import Watcher


def variants(  # noqa: PLR0913, PLR0917  # a comparison has these parts
    recipe: RecipeFile,
    out: RunFolderOption = None,
    seed: Annotated[
        list[int] | None,
        Option("--seed", help="One of the recipe's seeds; repeat for several. Others can be added later."),
    ] = None,
    variant: Annotated[
        list[str] | None, Option("--variant", help="Only this variant, by its name; repeat for several.")
    ] = None,
    figure: Annotated[Path | None, drawing_of("changes"), OneFile()] = None,
    device: DeviceOption = DeviceChoice.CPU,
    as_json: AsJson = False,
) -> None:
    """Train variants of a model alike and compare them; an interrupted run goes on."""
    from circuitproof.nn.devices import device_of
    from circuitproof_lab.figures.changes import draw_changes
    from circuitproof_lab.figures.style import refuse_undrawable, write_drawing
    from circuitproof_lab.pipeline.variants import compare_variants
    from circuitproof_lab.pipeline.variants_recipe import load_variants_recipe
    from circuitproof_lab.train.loop import Watcher

    refuse_undrawable(figure)
    loaded, where = load_variants_recipe(recipe), device_of(device)
    folder = run_folder(out, loaded.name)
    with progress(loaded.name, 1) as bar:

        def watch(title: str, steps: int) -> "Watcher":
            bar.reset(bar.task_ids[0], total=steps, description=printable(title))
            return Watcher(steps_on(bar, loaded.base.tokens_per_step))

        found = compare_variants(loaded, folder, watch, seed or (), variant or (), where)
    if figure is not None:
        drawing = draw_changes(found)
        if isinstance(drawing, str):
            show_note(f"{figure} is not drawn: {drawing}")
        else:
            write_drawing(drawing, figure)
    show_result(found, _show, as_json=as_json)


def _show(found: "VariantComparison") -> None:
    for one in found.unfinished:
        show_line(f"seed {one.seed} is not compared yet: {', '.join(one.missing)} to be measured")
    if not found.rows:
        return
    seeds, kinds = len(found.rows[0].runs), tuple(found.rows[0].measures)
    mean = "one seed" if seeds == 1 else f"mean of {seeds} seeds"
    titles = [title for kind in kinds for title in _titles(kind, found)]
    show_table(
        f"measured in FP32; {mean}",
        ("variant", *titles, "parameters#"),
        [(row.name, *_cells(row, found), f"{row.runs[0].parameters}") for row in found.rows],
    )
    if (gate := found.gate) is not None:
        verdict = "passed" if gate.passes else "failed"
        beside = [one for one in (gate.source, gate.control) if one is not None]
        above = "; ".join(f"{_change(one.loss)} of loss against {one.name}" for one in beside)
        show_line(f"{gate.name}: {above}; gate {verdict}: {_change(gate.gate.loss)} against {gate.gate.name}")


def _has_paper(kind: str, found: "VariantComparison") -> bool:
    return any(kind in row.paper_changes for row in found.rows)


def _titles(kind: str, found: "VariantComparison") -> tuple[str, ...]:
    return (f"{kind}#", f"Δ {kind}#", "paper#") if _has_paper(kind, found) else (f"{kind}#",)


def _cells(row: "VariantRow", found: "VariantComparison") -> Iterator[str]:
    """Return the mean of each measure; beside the paper's, how far it is from the first variant's."""
    for kind, spread in row.measures.items():
        if _has_paper(kind, found):
            paper = row.paper_changes.get(kind)
            yield from (
                f"{spread.mean:.4f}",
                _change(row.changes[kind]),
                "" if paper is None else f"{paper:+.4f}",
            )
        else:
            yield _spread(spread, "")


def _change(found: "SeedSpread") -> str:
    return _spread(found, "+")


def _spread(found: "SeedSpread", sign: str) -> str:
    """Return a mean, and where seeds differ, the least and the most of them."""
    spread = f" ({found.least:{sign}.4f} to {found.most:{sign}.4f})" if found.least < found.most else ""
    return f"{found.mean:{sign}.4f}{spread}"
