"""Commands that answer a claim, measure how robust decisions are, and find the fewest edges."""

from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

from typer import Context, Exit, Option

from circuitproof.circuits.graph import Granularity
from circuitproof.cli.helping import given, refuse_idle
from circuitproof.cli.keeping import show_kept
from circuitproof.cli.options import (
    Ablated,
    AgreesWith,
    AsJson,
    At,
    BoundTexts,
    BudgetOption,
    BundleOut,
    CandidatesOption,
    CircuitFile,
    ClusterOption,
    Deadline,
    DetachedOption,
    DeviceOption,
    Epsilon,
    ExpsOption,
    JobsOption,
    LimitsOption,
    ListedOption,
    MeasureFloats,
    MethodOption,
    ModelOption,
    PatternText,
    Perturbed,
    PositionOption,
    PrecisionOption,
    Properties,
    Regions,
    TaskName,
)
from circuitproof.cli.pacing import paced
from circuitproof.cli.show import printing, show_line, show_note, show_result
from circuitproof.cli.solvers import Anchors, Branched, Engines, Seconds, show_cross_check
from circuitproof.files.devices import DeviceChoice
from circuitproof.proof.effort import Effort, Method
from circuitproof.proof.properties.kinds import Kind
from circuitproof.solvers.choices import Asking, Branching, Engine
from circuitproof.workers import workers_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from circuitproof.proof.effort import Pace
    from circuitproof.proof.properties.property import Property
    from circuitproof.proof.verdict import Battery
    from circuitproof.verbs.minimality import Minimality
    from circuitproof.verbs.verification import PerturbationSite, Request, Verification


def verify(  # noqa: PLR0913, PLR0917  # a claim has these parts
    context: Context,
    model: ModelOption,
    task: TaskName,
    circuit: CircuitFile = None,
    properties: Properties = None,
    bounds: BoundTexts = None,
    candidates: CandidatesOption = None,
    position: PositionOption = None,
    agrees_with: AgreesWith = None,
    epsilon: Epsilon = None,
    at: At = "logits input",
    positions: Perturbed = "last",
    method: MethodOption = Method.COMPLETE,
    budget: BudgetOption = 20_000,
    engine: Engines = Engine.EXACT,
    anchors: Anchors = None,
    seconds: Seconds = 60.0,
    deadline: Deadline = None,
    branches: Branched = Branching.KEPT,
    pattern: PatternText = None,
    limits: LimitsOption = False,
    regions: Regions = 4096,
    listed: ListedOption = 1024,
    exps: ExpsOption = 1 << 24,
    precision: PrecisionOption = 512,
    ablation: Ablated = None,
    measure_floats: MeasureFloats = False,
    device: DeviceOption = DeviceChoice.CPU,
    jobs: JobsOption = 1,
    cluster: ClusterOption = None,
    out: BundleOut = None,
    detached: DetachedOption = False,
    as_json: AsJson = False,
) -> None:
    """Prove or refute what a circuit does on a task, in exact or enclosed numbers, with evidence to check."""
    from circuitproof.verbs.verification import PerturbationSite, Request

    place = PerturbationSite(at, positions)
    _refuse_idle(context, engine, method, model, place)
    if out is None:
        refuse_idle(given(context, "detached"), "there is no --out, and so no bundle")
    divided = workers_of(jobs, cluster)
    request = Request(
        model=model,
        circuit=circuit,
        task=task,
        ablation=ablation,
        properties=_properties(properties, epsilon, agrees_with, model, bounds or ()),
        place=place,
        effort=Effort(method, budget, regions, listed, precision, exps, workers=divided),
        candidates=candidates,
        position=position,
        pattern=pattern,
        find_limits=limits,
        is_detached=detached,
        only_of_patterns=given(context, "regions", "listed", "exps"),
        only_of_lists=given(context, "measure_floats", "method", "budget", "precision", "jobs", "cluster"),
    )
    if engine is not Engine.EXACT:
        asking = Asking(engine=engine, branching=branches, anchors=anchors, seconds=seconds)
        show_cross_check(request, asking, out, deadline, as_json=as_json)
    _show_answers(request, out, deadline, measured_on=device if measure_floats else None, as_json=as_json)


def _properties(
    kinds: list[Kind] | None,
    epsilon: str | None,
    agrees_with: Path | None,
    model: Path,
    bounds: "Sequence[str]",
) -> "tuple[Property, ...]":
    from circuitproof.verbs.asked import circuit_beside
    from circuitproof.verbs.verification import parse_properties

    other = circuit_beside(agrees_with, model)
    return parse_properties(kinds or [], epsilon, agrees_with=other, bounds=bounds)


def _refuse_idle(
    context: Context, engine: Engine, method: Method, model: Path, place: "PerturbationSite"
) -> None:
    """Refuse options that do nothing: without an epsilon, floats or a solver, beside one, or by a method."""
    if not given(context, "epsilon"):
        refuse_idle(given(context, "at", "positions", "method", "budget"), "there is no --epsilon")
    if method is Method.BRANCH:
        refuse_idle(given(context, "budget"), f"--method {method} does not divide the ball")
    if not given(context, "measure_floats"):
        refuse_idle(given(context, "device"), "torch computes nothing without --measure-floats")
    if engine is Engine.EXACT:
        refuse_idle(given(context, "anchors", "seconds", "branches"), "no solver is asked (--engine)")
    else:
        idle = given(context, "measure_floats", "limits", "jobs", "cluster")
        refuse_idle(idle, f"--engine {engine} only compares answers")
    if not engine.is_exact:
        refuse_idle(given(context, "method", "budget"), f"--engine {engine} leaves the exact engine out")
    _refuse_unsearched(given(context, "method", "budget"), model, place)


def _refuse_unsearched(flags: tuple[str, ...], model: Path, place: "PerturbationSite") -> None:
    """Refuse options of a search where a formula gives the radius."""
    from circuitproof.verbs.verification import is_searched

    if flags and not is_searched(model, place):
        refuse_idle(flags, "without a norm, a formula gives the radius at the final residual")


def _show_answers(
    request: "Request",
    out: Path | None,
    deadline: float | None,
    *,
    measured_on: DeviceChoice | None,
    as_json: bool,
) -> NoReturn:
    from circuitproof.nn.devices import device_of
    from circuitproof.nn.measuring import verify_in_floats
    from circuitproof.proof.verdict import EXIT_CODES
    from circuitproof.reports.results import verification_said
    from circuitproof.verbs.floats import Unmeasured

    device = None if measured_on is None else device_of(measured_on)

    def work(pace: "Pace") -> "Verification":
        return verify_in_floats(request.at(pace), out, device)

    found = show_kept(work, printing(verification_said), out, deadline, as_json=as_json)
    if isinstance(found.floats, Unmeasured):
        show_note(f"no floats measured, which changes nothing of the answers: {found.floats.reason}")
    if not as_json and isinstance(request.model, Path):
        _show_bound(found.bundle, request.model, found.battery)
    raise Exit(EXIT_CODES[found.verdict])


def _show_bound(bundle: Path | None, model: Path, battery: "Battery") -> None:
    """Say how the checker is told to do more than it usually does, where that is needed."""
    if bundle is None:
        return
    from circuitproof.reports.checking_work import bound_needed

    if (command := bound_needed(bundle, model, battery)) is not None:
        show_note(f"checking this bundle is more work than the checker does unless told: {command}")


def radius(  # noqa: PLR0913, PLR0917  # a radius has these parts
    context: Context,
    model: ModelOption,
    task: TaskName,
    circuit: CircuitFile = None,
    at: At = "logits input",
    positions: Perturbed = "last",
    budget: BudgetOption = 5_000,
    deadline: Deadline = 300.0,
    precision: PrecisionOption = 512,
    as_json: AsJson = False,
) -> None:
    """Find how large a perturbation must be to change each decision: exactly, or between proved bounds.

    The search ends after 300 seconds unless another deadline is given.
    """
    from circuitproof.reports.results import radii_said
    from circuitproof.verbs.radii import find_radii
    from circuitproof.verbs.verification import PerturbationSite

    place = PerturbationSite(at, positions)
    _refuse_unsearched(given(context, "budget"), model, place)
    with paced(deadline, as_json=as_json) as pace:
        effort = Effort(budget=budget, precision=precision, pace=pace)
        found = find_radii(model, task, circuit, place, effort)
    show_result(found, printing(radii_said), as_json=as_json)
    if found.bounded and found.precision is None and pace.clock() < inf:  # no interrupt ended it
        show_note(
            f"a prompt's search ended after --budget {budget} parts, or after its share of --deadline "
            f"{deadline:g} seconds; raise them to learn more"
        )
    raise Exit(found.exit_code)


def _written(found: "Minimality", out: Path) -> str:
    """Say what a search has written, or why nothing."""
    if found.bundle is None or found.battery is None:
        return f"nothing is written to {out}: no circuit was found to claim anything of"
    claimed = " and ".join(str(prop.kind) for prop in found.battery.claim.properties)
    return f"{out} holds the bundle: {claimed}"


def minimal(  # noqa: PLR0913, PLR0917  # a search has these bounds
    context: Context,
    model: ModelOption,
    task: TaskName,
    circuit: Annotated[
        Path | None,
        Option("--circuit", help="Search only among the edges of this circuit. [default: the whole model]"),
    ] = None,
    granularity: Annotated[
        Granularity,
        Option(
            "--granularity", help="Count an edge into a head as one, or query, key and value edges apart."
        ),
    ] = Granularity.HEAD,
    ablation: Ablated = None,
    most: Annotated[
        int | None,
        Option("--most", min=1, help="The most edges to try. [default: as many as the budget allows]"),
    ] = None,
    budget: Annotated[int, Option("--budget", min=1, help="The most circuits of a size.")] = 5000,
    deadline: Deadline = None,
    precision: PrecisionOption = 512,
    jobs: JobsOption = 1,
    cluster: ClusterOption = None,
    out: BundleOut = None,
    as_json: AsJson = False,
) -> None:
    """Find all circuits of the fewest edges that decide a task, with a proof that nothing smaller does."""
    from circuitproof.proof.verdict import EXIT_CODES
    from circuitproof.reports.results import minimality_said
    from circuitproof.verbs.minimality import SearchSpace, find_minimum

    if circuit is not None:
        refuse_idle(given(context, "granularity"), "the circuit file says it")
    space, workers = SearchSpace(circuit, granularity, ablation), workers_of(jobs, cluster)

    def search(pace: "Pace") -> "Minimality":
        effort = Effort(precision=precision, pace=pace, workers=workers)
        return find_minimum(model, task, space=space, most=most, budget=budget, out=out, effort=effort)

    found = show_kept(search, printing(minimality_said), out, deadline, as_json=as_json)
    if out is not None and not as_json:
        show_line(_written(found, out))
        if found.battery is not None:
            _show_bound(found.bundle, model, found.battery)
    raise Exit(EXIT_CODES[found.verdict])
