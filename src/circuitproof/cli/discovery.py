"""Commands that find and convert circuits."""

from functools import partial
from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

from circuitproof.cli.keeping import show_kept
from circuitproof.cli.options import (
    Ablated,
    AsJson,
    ClusterOption,
    Deadline,
    DeviceOption,
    JobsOption,
    ModelOption,
    ModelOut,
    Out,
    TaskName,
)
from circuitproof.cli.show import printing, show_json, show_line, show_note
from circuitproof.errors import ExitCode, asked_for
from circuitproof.files.devices import DeviceChoice
from circuitproof.files.replacing import OneFile
from circuitproof.find.choices import Objective, Order, RemovalUnit, Search, SelectionRule
from circuitproof.workers import workers_of

_Removed = Annotated[
    RemovalUnit,
    Option(
        "--granularity",
        help="Remove an edge between two nodes, all between two blocks, or an edge into a port.",
    ),
]
_Thresholds = Annotated[
    list[float] | None,
    Option(
        "--threshold",
        help="By how many nats the divergence may rise; repeat for several. "
        "[default: 0.0001, 0.001, 0.01, 0.1, 1]",
    ),
]


def extract(  # noqa: PLR0913, PLR0917  # a method has these parts, each recorded
    model: ModelOption,
    task: TaskName,
    out: Annotated[Out, OneFile(beside=(".report.json",))],
    objective: Annotated[
        Objective, Option("--objective", help="Keep the model's decisions, or the right answers.")
    ] = Objective.MODEL,
    granularity: _Removed = RemovalUnit.HEAD,
    ablation: Ablated = None,
    order: Annotated[
        Order, Option("--order", help="Try the least important first, or go from the logits backwards.")
    ] = Order.ATTRIBUTION,
    search: Annotated[
        Search, Option("--search", help="Try each part, or bisect along the order, once or in runs.")
    ] = Search.GREEDY,
    threshold: _Thresholds = None,
    rule: Annotated[
        SelectionRule, Option("--rule", help="Choose by fewest edges, or by the largest worst margin.")
    ] = SelectionRule.SPARSITY,
    device: DeviceOption = DeviceChoice.CPU,
    jobs: JobsOption = 1,
    cluster: ClusterOption = None,
    deadline: Deadline = None,
    as_json: AsJson = False,
) -> None:
    """Find a circuit that keeps what a model decides on a task, and report every candidate (in floats)."""
    from circuitproof.find.extracted import extraction_said
    from circuitproof.find.extraction import THRESHOLDS, ExtractionMethod, report_path
    from circuitproof.find.extraction import extract as extract_circuit
    from circuitproof.nn.devices import device_of

    chosen = tuple(threshold or THRESHOLDS)
    with asked_for():
        method = ExtractionMethod(
            objective=objective,
            granularity=granularity,
            order=order,
            search=search,
            rule=rule,
            thresholds=chosen,
        )
    where, workers = device_of(device), workers_of(jobs, cluster)
    work = partial(
        extract_circuit, model, task, method, out, ablation=ablation, device=where, workers=workers
    )
    found = show_kept(work, printing(extraction_said), out, deadline, as_json=as_json)
    if not as_json:
        show_line(f"{out} holds the circuit, {report_path(out)} the report")
    if not found.is_whole:
        show_note(f"the work was ended after {len(found.candidates)} of {len(chosen)} thresholds")
        raise Exit(ExitCode.UNDECIDED)


def circuit(
    file: Annotated[Path, Argument(metavar="FILE", help="A circuit in any spelling.")],
    live: Annotated[bool, Option("--live", help="Leave out edges that cannot reach the logits.")] = False,
    model: Annotated[
        Path | None,
        Option(
            "--model", help="Its model, for a drawing (.gv), which does not tell how many heads there are."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Read a circuit in our spelling, the release's, EAP-IG's or ACDC's (.gv), and print it in ours."""
    from circuitproof.circuits.spelling import load_circuit
    from circuitproof.models.declaration import read_declaration

    loaded = load_circuit(file, None if model is None else read_declaration(model).architecture.graph)
    kept = loaded.live() if live else loaded
    if as_json:
        show_json(kept)
        return
    for edge in kept:
        show_line(str(edge))
    show_line(f"{len(kept)} edges of {len(kept.graph.edges())}, {len(kept) - len(kept.live())} of them dead")


def import_release(
    source: Annotated[Path, Argument(metavar="SOURCE", help="A release directory.")],
    out: ModelOut,
    as_json: AsJson = False,
) -> None:
    """Turn a model of the paper's public release into a model directory, with its circuits beside."""
    from circuitproof.importers.release import import_release as convert

    release = convert(source, out)
    numbers = sum(tensor.size for tensor in release.tensors.values())
    if as_json:
        circuits = {task: len(kept) for task, kept in release.circuits.items()}
        show_json({"model": out, "circuits": circuits, "equal_numbers": numbers})
        return
    show_line(f"{out} holds the model of {source}")
    show_line(f"{numbers} numbers are those of the release, each an FP32 value: nothing was rounded")
    for task, kept in release.circuits.items():
        show_line(f"{out / f'{task}.circuit.json'} holds the {task} circuit of {len(kept)} edges")
