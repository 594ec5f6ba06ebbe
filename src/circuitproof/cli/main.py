"""The commands of `circuitproof`. Heavy imports stand inside them, so that `--help` answers at once."""

import signal
import traceback
from pathlib import Path
from types import FrameType
from typing import Annotated, NoReturn

import typer

from circuitproof import __version__
from circuitproof.cli.options import AsJson, CircuitFiles, ModelPath, Out, TaskNames
from circuitproof.discover.choices import Granularity, Objective, Order, Rule, Search
from circuitproof.errors import CircuitproofError, ExitCode
from circuitproof.verify.properties import Kind

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Turn an explanation of a transformer circuit into a claim that can be proved or refuted.",
    epilog="Exit codes: 0 proved, valid or done; 1 refuted or invalid; 2 wrong usage; "
    "3 bad input or failure; 4 undecided or incomplete.",
)


def main() -> None:
    """Run the command line; what a user can mend is one sentence on standard error and exit code 3."""
    signal.signal(signal.SIGINT, _interrupt)
    try:
        app()
    except CircuitproofError as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}")
    except Exception:  # noqa: BLE001  # a crash is a failure, exit code 3, and must not look like a refutation
        traceback.print_exc()
        _fail("this is a mistake in circuitproof, not an answer; please report it with the lines above")


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    """Stop with our own exit code: typer has another one, which is not documented here."""
    _fail("interrupted; training goes on from the last checkpoint when the same command is run again")


def _fail(sentence: str) -> NoReturn:
    from circuitproof.cli.show import show_note

    show_note(f"circuitproof: {sentence}")
    raise SystemExit(ExitCode.FAILURE)


def _version(asked: bool) -> None:  # noqa: FBT001  # typer's callback signature
    if asked:
        typer.echo(f"circuitproof {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[  # the callback has done the work
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass


@app.command()
def train(
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE", help="A recipe file.", show_default=False)],
    out: Annotated[
        Path | None, typer.Option("--out", help="The run's folder. [default: build/NAME]", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Train the model of a recipe; an interrupted run goes on where it stopped."""
    from circuitproof.cli.show import progress, show_json, show_note
    from circuitproof.pipeline.recipe import load_recipe
    from circuitproof.pipeline.training import MODEL, train_recipe
    from circuitproof.train.loop import Evaluation, Watcher

    loaded = load_recipe(recipe)
    folder = out or Path("build") / loaded.name
    evaluations: list[Evaluation] = []
    with progress(f"training {loaded.name}", loaded.plan.steps) as bar:
        task = bar.task_ids[0]
        watcher = Watcher(
            on_step=lambda step, loss: bar.update(task, completed=step, note=f"loss {loss:.4f}"),
            on_evaluation=evaluations.append,
        )
        train_recipe(loaded, folder, watcher)
        bar.update(task, completed=loaded.plan.steps)
    if as_json:
        show_json(
            {
                "model": str(folder / MODEL),
                "evaluations": [evaluation.to_json() for evaluation in evaluations],
            }
        )
    else:
        show_note(f"{folder / MODEL} holds the trained model")


@app.command()
def evaluate(
    model: ModelPath, task: TaskNames = None, circuit: CircuitFiles = None, as_json: AsJson = False
) -> None:
    """Run a model and circuits of it on tasks: how many prompts are right, and by what margin (in floats)."""
    from circuitproof.cli.show import show_json, show_table
    from circuitproof.pipeline.evaluation import evaluate as evaluate_model

    rows = evaluate_model(model, task or [], circuit or [])
    if as_json:
        show_json([row.to_json() for row in rows])
        return
    lines = [
        (
            row.task,
            row.circuit,
            f"{row.edges}",
            f"{row.score.right}/{row.score.prompts}",
            f"{row.score.worst_margin:.4f}",
        )
        for row in rows
    ]
    show_table(f"{model}, measured in FP32", ("task", "circuit", "edges#", "right#", "worst margin#"), lines)


@app.command()
def verify(  # noqa: PLR0913, PLR0917  # a claim has these parts
    model: Annotated[Path, typer.Option("--model", help="A model directory.", show_default=False)],
    task: Annotated[str, typer.Option("--task", help="A task by name.", show_default=False)],
    circuit: Annotated[
        Path | None,
        typer.Option("--circuit", help="A circuit file. [default: all edges]"),
    ] = None,
    properties: Annotated[
        list[Kind] | None,
        typer.Option(
            "--property",
            help="What to claim; repeat for several. [default: equivalence, invariance, necessity, and with "
            "--epsilon robustness]",
            show_default=False,
        ),
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option("--epsilon", help="The size of perturbations, such as 1/100."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the bundle here.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Prove or refute what a circuit does on a task, in exact arithmetic, with evidence for a stranger."""
    from circuitproof.cli.show import show_json, show_verification
    from circuitproof.pipeline.verification import Request, parse_properties
    from circuitproof.pipeline.verification import verify as verify_claim
    from circuitproof.verify.verdict import EXIT_CODES

    claimed = parse_properties(properties or [], epsilon)
    found = verify_claim(Request(model=model, circuit=circuit, task=task, properties=claimed), out)
    if as_json:
        show_json(found.to_json())
    else:
        show_verification(found)
    raise typer.Exit(EXIT_CODES[found.verdict])


@app.command()
def minimal(  # noqa: PLR0913, PLR0917  # a search has these bounds
    model: ModelPath,
    task: Annotated[str, typer.Option("--task", help="A task by name.", show_default=False)],
    most: Annotated[int, typer.Option("--most", min=1, help="The most edges to try.")] = 4,
    budget: Annotated[int, typer.Option("--budget", min=1, help="The most circuits of a size.")] = 5000,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the bundle here.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find all circuits of the fewest edges that decide a task, with a proof that nothing smaller does."""
    from circuitproof.cli.show import show_json, show_minimality
    from circuitproof.pipeline.minimality import find_minimum
    from circuitproof.verify.verdict import EXIT_CODES

    found = find_minimum(model, task, most=most, budget=budget, out=out)
    if as_json:
        show_json(found.to_json())
    else:
        show_minimality(found)
    raise typer.Exit(EXIT_CODES[found.verdict])


@app.command()
def circuit(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A circuit in any spelling.", show_default=False)
    ],
    live: Annotated[
        bool, typer.Option("--live", help="Leave out edges that cannot reach the logits.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Read a circuit in our spelling, the release's or EAP-IG's, and print it in ours."""
    from circuitproof.circuits.spelling import load_circuit
    from circuitproof.cli.show import show_json, show_line

    loaded = load_circuit(file)
    kept = loaded.live() if live else loaded
    if as_json:
        show_json(kept.to_json())
        return
    for edge in kept:
        show_line(str(edge))
    show_line(f"{len(kept)} edges of {len(kept.graph.edges())}, {len(kept) - len(kept.live())} of them dead")


@app.command()
def import_release(
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE", help="A release directory.", show_default=False)
    ],
    out: Out,
    as_json: AsJson = False,
) -> None:
    """Turn a model of the paper's public release into a model directory, with its circuits beside."""
    from circuitproof.cli.show import show_json, show_line
    from circuitproof.model.release import import_release as convert

    release = convert(source, out)
    if as_json:
        show_json(
            {"model": str(out), "circuits": {task: len(kept) for task, kept in release.circuits.items()}}
        )
        return
    show_line(f"{out} holds the model of {source}")
    for task, kept in release.circuits.items():
        show_line(f"{out / f'{task}.circuit.json'} holds the {task} circuit of {len(kept)} edges")


@app.command()
def extract(  # noqa: PLR0913, PLR0917  # a method has these parts, each recorded
    model: Annotated[Path, typer.Option("--model", help="A model directory.", show_default=False)],
    task: Annotated[str, typer.Option("--task", help="A task by name.", show_default=False)],
    out: Out,
    objective: Annotated[
        Objective, typer.Option("--objective", help="Keep the model's decisions, or the right answers.")
    ] = Objective.MODEL,
    granularity: Annotated[
        Granularity, typer.Option("--granularity", help="Remove single edges, or all between two blocks.")
    ] = Granularity.HEAD,
    order: Annotated[
        Order, typer.Option("--order", help="Try the least important first, or go from the logits backwards.")
    ] = Order.ATTRIBUTION,
    search: Annotated[
        Search, typer.Option("--search", help="Try each part, or bisect along the order, once or in runs.")
    ] = Search.GREEDY,
    threshold: Annotated[
        list[float] | None,
        typer.Option(
            "--threshold",
            help="By how many nats the divergence may rise; repeat for several. "
            "[default: 0.0001, 0.001, 0.01, 0.1, 1]",
            show_default=False,
        ),
    ] = None,
    rule: Annotated[
        Rule, typer.Option("--rule", help="Choose by fewest edges, or by the largest worst margin.")
    ] = Rule.SPARSITY,
    as_json: AsJson = False,
) -> None:
    """Find a circuit that keeps what a model decides on a task, and report every candidate (in floats)."""
    from circuitproof.cli.show import progress, show_candidates, show_json, show_line
    from circuitproof.pipeline.extraction import THRESHOLDS, Method, report_path
    from circuitproof.pipeline.extraction import extract as extract_circuit

    method = Method(
        objective=objective,
        granularity=granularity,
        order=order,
        search=search,
        rule=rule,
        thresholds=tuple(threshold or THRESHOLDS),
    )
    with progress(f"extracting {task}", len(method.thresholds)) as bar:
        found = extract_circuit(model, task, method, out, lambda _: bar.advance(bar.task_ids[0]))
    if as_json:
        show_json(found.to_json())
        return
    show_candidates(f"{task}: faithful to the {objective}, measured in FP32; * is selected", found)
    show_line(f"{out} holds the circuit, {report_path(out)} the report")


if __name__ == "__main__":
    main()
