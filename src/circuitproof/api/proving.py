"""Claims answered: what a circuit does, how robust its decisions are, and how few edges suffice."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from circuitproof.api.arguments import PathLike, Progress, choice, divided, listed, paced, place_of, typed
from circuitproof.api.declaring import AnyCircuit, AnyModel, AnyTask, circuit_at, model_at, task_at
from circuitproof.api.showing import show_as
from circuitproof.circuits.ablation_asked import AskedAblation
from circuitproof.circuits.graph import Granularity
from circuitproof.errors import InputError
from circuitproof.files.devices import Device, DeviceChoice
from circuitproof.files.locked import claimed
from circuitproof.forward.frozen import Frozen
from circuitproof.nn.devices import device_of
from circuitproof.proof.effort import Effort
from circuitproof.proof.properties.kinds import Kind
from circuitproof.proof.properties.property import Property
from circuitproof.reports.results import minimality_said, radii_said, verification_said
from circuitproof.tasks.candidates import AskedCandidates
from circuitproof.verbs.asked import asked_circuit
from circuitproof.verbs.minimality import Minimality, SearchSpace, find_minimum
from circuitproof.verbs.radii import Radii, find_radii
from circuitproof.verbs.verification import PerturbationSite, Request, Verification, parse_properties

show_as(Verification, verification_said)
show_as(Radii, radii_said)
show_as(Minimality, minimality_said)


def verify(  # noqa: PLR0913  # a claim has these parts
    model: AnyModel,
    task: AnyTask,
    circuit: AnyCircuit | None = None,
    *,
    properties: Sequence[str] = (),
    bounds: Sequence[str] = (),
    candidates: str | None = None,
    position: int | None = None,
    ablation: AskedAblation = None,
    agrees_with: AnyCircuit | None = None,
    epsilon: Fraction | str | int | None = None,
    at: str = "logits input",
    positions: str = "last",
    effort: Effort | None = None,
    limits: bool = False,
    jobs: int = 1,
    cluster: str | None = None,
    measure_floats: bool = False,
    device: str = DeviceChoice.CPU,
    deadline: float | None = None,
    progress: Progress | None = None,
    out: PathLike | None = None,
    detached: bool = False,
) -> Verification:
    """Prove or refute what a circuit does on a task, in exact or enclosed numbers, over the FP32 weights.

    `properties` are some of equivalence (every answer is right), invariance (decisions are alike within each
    class), necessity (without any edge some decision changes), robustness (no perturbation of at most
    `epsilon` changes one), faithfulness (to the whole model), agreement (with the circuit `agrees_with`),
    subset minimality (no smaller part is right), and accuracy, loss, logit difference and recovered
    difference, which are found and stated, or claimed as `bounds` say: ["accuracy >= 4046", "loss <= 0.13"].
    Without properties: those of the bounds, or else the first three, and those two that are given an
    `epsilon` or a circuit. Without a `circuit`, all edges are kept. `out` is a new folder for a bundle;
    `detached` leaves the weights out of it, and whoever checks it gives the model.

    `candidates="all"` lets every token be the answer, in place of the task's candidates;
    `position` decides elsewhere than the task says, from the start of a prompt, or if negative from its end.
    `ablation` is "zero", "mean", "mean-all", what `cp.mean` or `cp.counterfactual` returns, or a file;
    `epsilon` a Fraction, an int or such as "1/100"; `at` a place such as "mlp 0 output"; `positions` "last",
    "all" or such as "0,3". `effort` and `deadline` (seconds) bound the search; `limits` asks which part of a
    pattern is proved; `measure_floats` runs torch too, on a `device` as in `extract`. A list is divided among
    `jobs` processes, or a Ray `cluster` whose head has this address, "HOST:PORT"; what is found is the same.

    Refuted and undecided are answers. Errors are a `CircuitproofError`: `InputError`, `DeclarationError`,
    `NotExactError` (no exact value where one is wanted), `NumericError` (NaN weights) or `OutputError`.

        cp.verify(model, "quotes", circuit, epsilon="1/100").verdict is cp.Verdict.PROVED
    """
    if detached and out is None:
        raise InputError("detached does nothing without out, a place for the bundle; leave it out")
    opened, measured_on = model_at(model).frozen, _measured_on(device, measures=measure_floats)
    request = Request(
        model=opened,
        circuit=circuit_at(circuit),
        task=task_at(task),
        ablation=ablation,
        properties=_properties(properties, epsilon, agrees_with, opened, bounds),
        candidates=None if candidates is None else choice("candidates", candidates, AskedCandidates),
        position=None if position is None else typed("position", position, int, "a whole number"),
        place=_perturbed(at, positions),
        effort=divided(_effort(effort, Effort()), jobs, cluster),
        find_limits=limits,
        is_detached=detached,
        only_of_lists=_only_of_lists(
            measure_floats=measure_floats, jobs=jobs > 1, cluster=cluster is not None
        ),
    )
    return _answered(request.at(paced(deadline, progress)), place_of(out), measured_on)


def _measured_on(device: str, *, measures: bool) -> Device | None:
    """Return where floats are measured, if they are."""
    where = device_of(choice("device", device, DeviceChoice))
    if device != DeviceChoice.CPU and not measures:
        raise InputError("device does nothing without measure_floats; leave it out")
    return where if measures else None


def _only_of_lists(**asked: bool) -> tuple[str, ...]:
    """Return the options that are given and do nothing over a pattern."""
    return tuple(f"--{name.replace('_', '-')}" for name, is_given in asked.items() if is_given)


def _properties(
    asked: Sequence[str],
    epsilon: Fraction | str | int | None,
    agrees_with: AnyCircuit | None,
    model: Frozen,
    bounds: Sequence[str],
) -> tuple[Property, ...]:
    wanted = "a list of properties such as ['equivalence', 'necessity']"
    kinds = [choice("property", one, Kind) for one in listed("properties", asked, wanted)]
    size = str(epsilon) if isinstance(epsilon, Fraction) else epsilon
    second = circuit_at(agrees_with)
    other = None if second is None else asked_circuit(second, model.graph)
    said = listed("bounds", bounds, "a list of bounds such as ['accuracy >= 4046']")
    spelled = [typed("a bound", one, str, "such as 'accuracy >= 4046'") for one in said]
    return parse_properties(kinds, size, "the call", agrees_with=other, bounds=spelled)


def _answered(request: Request, out: Path | None, measured_on: Device | None) -> Verification:
    from circuitproof.nn.measuring import verify_in_floats

    with claimed(out):
        return verify_in_floats(request, out, measured_on)


def _perturbed(at: str, positions: str) -> PerturbationSite:
    where = typed("at", at, str, "a node's side such as 'mlp 0 output'")
    return PerturbationSite(where, typed("positions", positions, str, "'last', 'all' or such as '0,3'"))


def _effort(given: Effort | None, otherwise: Effort) -> Effort:
    return otherwise if given is None else typed("effort", given, Effort, "such as cp.Effort(budget=1000)")


def radius(  # noqa: PLR0913  # a radius has these parts
    model: AnyModel,
    task: AnyTask,
    circuit: AnyCircuit | None = None,
    *,
    at: str = "logits input",
    positions: str = "last",
    effort: Effort | None = None,
    deadline: float | None = 300.0,
    progress: Progress | None = None,
) -> Radii:
    """Find how large a perturbation must be to change each decision: exactly, or between proved bounds.

    `at` and `positions` say what is perturbed, as for `verify`. After the `deadline`, 300 seconds unless
    it is given, radii that are not known are bounded; None is no deadline. Returns `Radii`: `prompts`,
    `proved`, `distribution()`, `floats()` and, with pandas, `to_frame()`. Errors are those of `verify`.

        cp.radius(model, "quotes", circuit, at="mlp 0 output", deadline=60).floats()
    """
    tried = replace(_effort(effort, Effort(budget=5_000)), pace=paced(deadline, progress))
    opened, asked = model_at(model).frozen, task_at(task)
    return find_radii(opened, asked, circuit_at(circuit), _perturbed(at, positions), tried)


def minimal(  # noqa: PLR0913  # a search has these bounds
    model: AnyModel,
    task: AnyTask,
    circuit: AnyCircuit | None = None,
    *,
    granularity: str | None = None,
    ablation: AskedAblation = None,
    most: int | None = None,
    budget: int = 5_000,
    precision: int = 512,
    jobs: int = 1,
    cluster: str | None = None,
    deadline: float | None = None,
    progress: Progress | None = None,
    out: PathLike | None = None,
) -> Minimality:
    """Find all circuits of the fewest edges that decide a task, with a proof that nothing smaller does.

    Sizes are tried upwards as long as no size has more than `budget` circuits, up to `most` edges if that is
    given. With a `circuit` the search is among its edges alone. With `granularity` "port" the edges into a
    head's query, keys and values are three; `ablation` is what cut edges carry, as for `verify`; `precision`
    is the most bits that logits are enclosed with; `jobs` and `cluster` are as for `verify`. `out` is a new
    directory for the bundle.

    Returns `Minimality`: `verdict`, `search.minimum`, which are the circuits, `search.refuted_below`, the
    proved lower bound, and `search.ended_by`, what ended a search that found none.

        cp.minimal(model, "quotes", circuit, deadline=60).search.minimum
    """
    opened, asked, place = model_at(model).frozen, task_at(task), place_of(out)
    if circuit is not None and granularity is not None:
        raise InputError("granularity does nothing beside a circuit, which has its own; leave it out")
    told = choice("granularity", granularity or Granularity.HEAD, Granularity)
    space = SearchSpace(circuit_at(circuit), told, ablation)
    for name, bound in (("most", most), ("budget", budget)):
        if bound is not None and typed(name, bound, int, "a whole number") < 1:
            raise InputError(f"{name} is {bound}, want at least 1")
    with claimed(place):
        tried = divided(Effort(precision=precision, pace=paced(deadline, progress)), jobs, cluster)
        return find_minimum(opened, asked, most=most, budget=budget, out=place, space=space, effort=tried)
