"""Commands that answer a claim."""

from pathlib import Path
from typing import Annotated

import typer

from circuitproof.cli.options import (
    AsJson,
    At,
    BundleOut,
    CircuitFile,
    Deadline,
    Epsilon,
    Limits,
    Listed,
    ModelOption,
    ModelPath,
    Parts,
    PatternText,
    Perturbed,
    Properties,
    Regions,
    TaskName,
)
from circuitproof.cli.solvers import Anchors, Branched, Engines, Seconds
from circuitproof.prove.effort import Method
from circuitproof.solvers.choices import Branching, Engine


def verify(  # noqa: PLR0913, PLR0917  # a claim has these parts
    model: ModelOption,
    task: TaskName,
    circuit: CircuitFile = None,
    properties: Properties = None,
    epsilon: Epsilon = None,
    at: At = "logits input",
    positions: Perturbed = "last",
    method: Annotated[
        Method, typer.Option("--method", help="How robustness is decided after a norm or inside the circuit.")
    ] = Method.COMPLETE,
    budget: Parts = 20_000,
    engine: Engines = Engine.EXACT,
    anchors: Anchors = None,
    seconds: Seconds = 60.0,
    deadline: Deadline = None,
    branches: Branched = Branching.KEPT,
    pattern: PatternText = None,
    limits: Limits = False,
    regions: Regions = 4096,
    listed: Listed = 1024,
    measure_floats: Annotated[
        bool, typer.Option("--measure-floats", help="Run the circuit in torch as well and compare.")
    ] = False,
    out: BundleOut = None,
    as_json: AsJson = False,
) -> None:
    """Prove or refute what a circuit does on a task, in exact arithmetic, with evidence for a stranger."""
    from circuitproof.cli.answering import show_answers_to
    from circuitproof.lab.runs.verification import Place, Request, parse_properties
    from circuitproof.prove.effort import Effort

    request = Request(
        model=model,
        circuit=circuit,
        task=task,
        properties=parse_properties(properties or [], epsilon),
        place=Place(at, positions),
        effort=Effort(method, budget, regions, listed),
        measures_floats=measure_floats,
        pattern=pattern,
        find_limits=limits,
    )
    if engine is not Engine.EXACT:
        from circuitproof.cli.solvers import show_cross_check
        from circuitproof.lab.runs.cross_check import Asking

        asking = Asking(engine=engine, branching=branches, anchors=anchors, seconds=seconds)
        show_cross_check(request, asking, out, deadline, as_json=as_json)
    show_answers_to(request, out, deadline, as_json=as_json)


def verify_pattern(  # noqa: PLR0913, PLR0917  # a claim has these parts
    model: ModelOption,
    task: Annotated[Path, typer.Option("--task-file", help="A task file.")],
    pattern: PatternText = None,
    circuit: CircuitFile = None,
    properties: Properties = None,
    epsilon: Epsilon = None,
    limits: Limits = False,
    regions: Regions = 4096,
    listed: Listed = 1024,
    deadline: Deadline = None,
    out: BundleOut = None,
    as_json: AsJson = False,
) -> None:
    """Prove or refute what a circuit does on every prompt of a pattern: the same as verify --task FILE."""
    verify(
        model,
        str(task),
        circuit,
        properties,
        epsilon,
        pattern=pattern,
        limits=limits,
        regions=regions,
        listed=listed,
        deadline=deadline,
        out=out,
        as_json=as_json,
    )


def minimal(  # noqa: PLR0913, PLR0917  # a search has these bounds
    model: ModelPath,
    task: TaskName,
    most: Annotated[int, typer.Option("--most", min=1, help="The most edges to try.")] = 4,
    budget: Annotated[int, typer.Option("--budget", min=1, help="The most circuits of a size.")] = 5000,
    deadline: Deadline = None,
    out: BundleOut = None,
    as_json: AsJson = False,
) -> None:
    """Find all circuits of the fewest edges that decide a task, with a proof that nothing smaller does."""
    from circuitproof.cli.keeping import kept
    from circuitproof.cli.pacing import paced
    from circuitproof.cli.show import show_told
    from circuitproof.lab.runs.minimality import find_minimum
    from circuitproof.prove.verdict import EXIT_CODES
    from circuitproof.text.locked import claimed

    with claimed(out), paced(deadline, as_json=as_json) as pace:
        searched = kept(lambda: find_minimum(model, task, most=most, budget=budget, out=out, pace=pace))
    searched.show(lambda found: show_told(found.told()), as_json=as_json)
    raise typer.Exit(EXIT_CODES[searched.found.verdict])
