"""The command that removes the norms of a model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from circuitproof.cli.options import AsJson, DeviceOption, RunFolderOption, run_folder
from circuitproof.cli.show import progress, show_line, show_result, show_table, steps_on
from circuitproof.files.devices import DeviceChoice

if TYPE_CHECKING:
    from circuitproof_lab.pipeline.stages.remove_norms import NormRemoval
    from circuitproof_lab.records.norms import NormFold
    from circuitproof_lab.train.measures import Evaluation


def remove_norm(
    recipe: Annotated[Path, Argument(metavar="RECIPE", help="A recipe of a removal.")],
    out: RunFolderOption = None,
    model: Annotated[
        Path | None,
        Option(
            "--model", help="A model directory with LayerNorm. [default: trained as the recipe's source says]"
        ),
    ] = None,
    device: DeviceOption = DeviceChoice.CPU,
    as_json: AsJson = False,
) -> None:
    """Fade the norms of a model out in training and fold them away; an interrupted run goes on."""
    from circuitproof.nn.devices import device_of
    from circuitproof_lab.pipeline.norm_recipe import load_norm_recipe
    from circuitproof_lab.pipeline.stages.remove_norms import Watchers, remove_norms
    from circuitproof_lab.train.loop import Watcher

    loaded, where = load_norm_recipe(recipe), device_of(device)
    before = 0 if model is not None else loaded.source.plan.steps
    with progress(f"removing norms for {loaded.name}", before + loaded.plan.steps) as bar:
        tokens = loaded.source.tokens_per_step
        source, removal = steps_on(bar, tokens, what="source, "), steps_on(bar, tokens, before, "removal, ")
        watchers = Watchers(Watcher(source), Watcher(removal))
        folder = run_folder(out, loaded.name)
        found = remove_norms(loaded, model, folder, watchers, device=where)
        bar.update(bar.task_ids[0], completed=before + loaded.plan.steps)
    show_result(found, _show, as_json=as_json)


def _show(found: "NormRemoval") -> None:
    norms, evaluations = found.attenuation.norms, found.attenuation.evaluations
    faded = [(norm.name, f"{norm.first}", f"{norm.last}", f"{norm.deviation:.6f}") for norm in norms]
    columns = ("norm", "fades from#", "gone at#", "deviation#")
    show_table("norms by depth, and the deviations at which they are fixed", columns, faded)
    between = [(f"{evaluation.step}", evaluation) for evaluation in evaluations]
    stages = [("with norms", found.fold.source), *between, ("folded", found.fold.folded)]
    names = tuple(evaluations[-1].measures)
    rows = [(step, *(_cell(found, measured, name) for name in names)) for step, measured in stages]
    show_table("the model meanwhile, measured in FP32", ("step", *(f"{name}#" for name in names)), rows)
    show_line(_fold_words(found.fold))
    show_line(f"{found.model} holds the model without norms")


def _cell(found: "NormRemoval", evaluation: "Evaluation", name: str) -> str:
    value, prompts = evaluation.measures.get(name), found.prompts.get(name)
    if value is None:
        return ""
    return f"{value:.4f}" if prompts is None else f"{round(value * prompts)}/{prompts}"


def _fold_words(fold: "NormFold") -> str:
    error = fold.error
    possible = (
        (fold.unties, "the output embedding is no longer tied"),
        (fold.adds_biases, "heads and MLPs have biases now"),
        (fold.adds_logit_bias, "the logits have a bias now"),
    )
    changes = [words for is_so, words in possible if is_so]
    cost = (
        f"folded in FP64, compared in FP32 at {error.positions} positions: "
        f"largest error of a logit {error.largest_error:.2e}, relative error {error.relative_error:.2e}, "
        f"top-1 agreement {error.agreement:.6f}, change of the loss {error.loss_change:.2e}"
    )
    return "; ".join((cost, *changes))
