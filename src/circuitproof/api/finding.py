"""Where models and circuits come from: extraction, and what others have released."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from circuitproof.api.arguments import (
    PathLike,
    Progress,
    choice,
    needing_extras,
    paced,
    path_of,
    place_of,
    workers_at,
)
from circuitproof.api.declaring import AnyModel, AnyTask, Model, load_model, model_at, task_at
from circuitproof.api.showing import show_as
from circuitproof.circuits.ablation_asked import AskedAblation
from circuitproof.files.devices import DeviceChoice
from circuitproof.files.locked import claimed
from circuitproof.find.choices import Objective, Order, RemovalUnit, Search, SelectionRule

if TYPE_CHECKING:
    from circuitproof.find.extraction import Extraction


@needing_extras("extract")
def extract(  # noqa: PLR0913  # a method has these parts, each recorded
    model: AnyModel,
    task: AnyTask,
    *,
    objective: str = Objective.MODEL,
    granularity: str = RemovalUnit.HEAD,
    order: str = Order.ATTRIBUTION,
    search: str = Search.GREEDY,
    rule: str = SelectionRule.SPARSITY,
    thresholds: Sequence[float] | None = None,
    ablation: AskedAblation = None,
    device: str = DeviceChoice.CPU,
    jobs: int = 1,
    cluster: str | None = None,
    deadline: float | None = None,
    progress: Progress | None = None,
    out: PathLike | None = None,
) -> "Extraction":
    """Find a circuit that keeps what a model decides on a task, in floats; `verify` then proves it.

    What is found has the chosen `circuit` and all candidates. `granularity` is what is removed at once: an
    edge between two nodes ("head"), all between two blocks, or one into a query, key or value ("port");
    `ablation` is what cut edges carry, as for `verify`. `device` is where torch computes: "cpu",
    "cuda", "mps" or "auto"; with `jobs` or a `cluster`, as for `verify`, each threshold is looked at by
    itself. `out` is a file for the circuit.
    """
    from circuitproof.find.extracted import extraction_said
    from circuitproof.find.extraction import THRESHOLDS, Extraction, ExtractionMethod
    from circuitproof.find.extraction import extract as find
    from circuitproof.nn.devices import device_of

    method = ExtractionMethod(
        objective=choice("objective", objective, Objective),
        granularity=choice("granularity", granularity, RemovalUnit),
        order=choice("order", order, Order),
        search=choice("search", search, Search),
        rule=choice("rule", rule, SelectionRule),
        thresholds=tuple(THRESHOLDS if thresholds is None else thresholds),
    )
    where = device_of(choice("device", device, DeviceChoice))
    workers = workers_at(jobs, cluster)
    path, place = model_at(model).path, place_of(out)
    show_as(Extraction, extraction_said)
    with claimed(place):
        pace = paced(deadline, progress)
        return find(
            path, task_at(task), method, place, pace, ablation=ablation, device=where, workers=workers
        )


@needing_extras("import_hf")
def import_hf(source: PathLike, out: PathLike) -> Model:
    """Turn a GPT-2 or GPT-NeoX of Hugging Face's, a directory on disk, into a model directory."""
    from circuitproof.importers.hugging_face import import_hf as convert

    convert(path_of("source", source), path_of("out", out))
    return load_model(out)


def import_tl(source: PathLike, out: PathLike, *, config: PathLike | None = None) -> Model:
    """Turn a model of TransformerLens, a directory or a safetensors file, into a model directory.

    Its configuration is `config.json` beside the tensors, or the file that `config` names.
    """
    from circuitproof.importers.transformer_lens import import_tl as convert

    given = None if config is None else path_of("config", config)
    convert(path_of("source", source), path_of("out", out), given)
    return load_model(out)


def from_transformer_lens(
    model: object, out: PathLike, *, config: Mapping[str, object] | None = None
) -> Model:
    """Write a model directory of a live model of TransformerLens, or of its state and its configuration.

        cp.from_transformer_lens(model, "model")
        cp.from_transformer_lens(model.state_dict(), "model", config=model.cfg.to_dict())

    What was folded or filled in is what `import-tl` tells of the same tensors in a file.
    """
    from circuitproof.importers.transformer_lens import from_live

    from_live(model, path_of("out", out), config)
    return load_model(out)


def import_mingpt(source: PathLike, out: PathLike, *, zero_biases: bool = False) -> Model:
    """Turn a model of minGPT or nanoGPT, a directory on disk, into a model directory.

    A bias that is missing where others are there is refused, unless `zero_biases` says that zeros are meant.
    """
    from circuitproof.importers.min_gpt import import_mingpt as convert

    convert(path_of("source", source), path_of("out", out), zero_biases=zero_biases)
    return load_model(out)


@needing_extras("import_release")
def import_release(source: PathLike, out: PathLike) -> Model:
    """Turn a model of the paper's public release into a model directory, with its circuits beside."""
    from circuitproof.importers.release import import_release as convert

    convert(path_of("source", source), path_of("out", out))
    return load_model(out)


@needing_extras("import_tracr")
def import_tracr(source: PathLike, out: PathLike) -> Model:
    """Turn a program of Tracr's library, or the file of a compiled one, into a model directory.

    Its task stands beside the model as `task.json`, and `import.json` has what was replaced and how far that
    moves the logits. Compiling wants the tracr extra; a compiled file does not.
    """
    from circuitproof.importers.tracr import import_tracr as convert

    convert(str(path_of("source", source, "a program of Tracr's library or its file")), path_of("out", out))
    return load_model(out)
