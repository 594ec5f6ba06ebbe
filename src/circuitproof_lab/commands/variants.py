"""The command that compares variants of a language model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from circuitproof.cli.options import AsJson, DeviceOption, RecipeFile, RunFolderOption, drawing_of
from circuitproof.cli.show import progress, show_line, show_result, show_table, steps_on
from circuitproof.files.devices import DeviceChoice
from circuitproof.files.printing import printable
from circuitproof.files.replacing import OneFile

if TYPE_CHECKING:
    from circuitproof_lab.pipeline.variants import SeedSpread, VariantComparison, VariantRow
    from circuitproof_lab.train.loop import Watcher


def variants(  # noqa: PLR0913, PLR0917  # a run has these parts
    recipe: RecipeFile,
    out: RunFolderOption = None,
    seeds: Annotated[
        int | None,
        Option("--seeds", min=1, help="Only so many of the recipe's seeds; others can be added later."),
    ] = None,
    figure: Annotated[Path | None, drawing_of("changes"), OneFile()] = None,
    device: DeviceOption = DeviceChoice.CPU,
    as_json: AsJson = False,
) -> None:
    """Train variants of a language model alike and compare them; an interrupted run goes on."""
    from circuitproof.nn.devices import device_of
    from circuitproof_lab.figures.changes import COMPARISON, draw_changes, read_changes
    from circuitproof_lab.figures.style import refuse_undrawable, write_drawing
    from circuitproof_lab.pipeline.variants import compare_variants
    from circuitproof_lab.pipeline.variants_recipe import load_variants_recipe
    from circuitproof_lab.train.loop import Watcher

    refuse_undrawable(figure)
    loaded, where = load_variants_recipe(recipe), device_of(device)
    folder = out or Path("build") / loaded.name
    with progress(loaded.name, 1) as bar:

        def watch(title: str, steps: int) -> "Watcher":
            bar.reset(bar.task_ids[0], total=steps, description=printable(title))
            return Watcher(steps_on(bar, loaded.base.tokens_per_step))

        found = compare_variants(loaded, folder, watch, seeds, where)
    if figure is not None:
        write_drawing(draw_changes(read_changes(folder / COMPARISON)), figure)
    show_result(found, _show, as_json=as_json)


def _show(found: "VariantComparison") -> None:
    seeds = len(found.rows[0].runs)
    mean = "one seed" if seeds == 1 else f"mean of {seeds} seeds"
    measures = ("loss#", "Δ loss#", "paper#", "perplexity#", "Δ perplexity#", "paper#")
    show_table(
        f"loss on held-out text, perplexity on the second corpus, in FP32; {mean}",
        ("variant", *measures, "parameters#"),
        [_cells(row) for row in found.rows],
    )
    if (gate := found.gate) is not None:
        verdict = "passed" if gate.passes else "failed"
        show_line(
            f"{gate.name}: {_change(gate.above_source)} of loss against its source {gate.source}; "
            f"gate {verdict}: {_change(gate.above_gate)} against {gate.against}"
        )


def _cells(row: "VariantRow") -> tuple[str, ...]:
    paper_loss, paper_perplexity = row.paper_change or (None, None)
    return (
        row.name,
        f"{row.loss.mean:.4f}",
        _change(row.loss_change),
        "" if paper_loss is None else f"{paper_loss:+.4f}",
        f"{row.perplexity.mean:.4f}",
        _change(row.perplexity_change),
        "" if paper_perplexity is None else f"{paper_perplexity:+.4f}",
        f"{row.runs[0].parameters}",
    )


def _change(found: "SeedSpread") -> str:
    """Return a mean, and where seeds differ, the least and the most of them."""
    spread = f" ({found.least:+.4f} to {found.most:+.4f})" if found.least < found.most else ""
    return f"{found.mean:+.4f}{spread}"
