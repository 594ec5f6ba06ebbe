"""Claims answered: what a circuit does, how robust its decisions are, and how few edges suffice."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from circuitproof.api.arguments import PathLike, Progress, choice, paced, place_of
from circuitproof.api.declaring import AnyCircuit, AnyModel, AnyTask, circuit_at, model_at, task_at
from circuitproof.lab.runs.minimality import Minimality, find_minimum
from circuitproof.lab.runs.radii import Radii, find_radii
from circuitproof.lab.runs.verification import Place, Request, Verification, parse_properties
from circuitproof.lab.runs.verification import verify as answer
from circuitproof.prove.effort import Effort
from circuitproof.prove.properties import Kind
from circuitproof.text.locked import claimed


def verify(  # noqa: PLR0913  # a claim has these parts
    model: AnyModel,
    task: AnyTask,
    circuit: AnyCircuit | None = None,
    *,
    properties: Sequence[str] = (),
    epsilon: Fraction | str | int | None = None,
    at: str = "logits input",
    positions: str = "last",
    effort: Effort | None = None,
    limits: bool = False,
    measure_floats: bool = False,
    deadline: float | None = None,
    progress: Progress | None = None,
    out: PathLike | None = None,
) -> Verification:
    """Prove or refute what a circuit does on a task, and write the bundle to `out` if that is given.

    Without `properties` these are equivalence, invariance and necessity, and robustness if there is an
    `epsilon`. Without a `circuit` all edges are kept. What the `deadline` cuts off is undecided.
    """
    kinds = [choice("property", one, Kind) for one in properties]
    size = str(epsilon) if isinstance(epsilon, Fraction) else epsilon
    place = place_of(out)
    request = Request(
        model=model_at(model).frozen,
        circuit=circuit_at(circuit),
        task=task_at(task),
        properties=parse_properties(kinds, size, "the call"),
        place=Place(at, positions),
        effort=effort or Effort(),
        measures_floats=measure_floats,
        find_limits=limits,
    )
    with claimed(place):
        return answer(request.at(paced(deadline, progress)), place)


def radius(  # noqa: PLR0913  # a radius has these parts
    model: AnyModel,
    task: AnyTask,
    circuit: AnyCircuit | None = None,
    *,
    at: str = "logits input",
    positions: str = "last",
    effort: Effort | None = None,
    deadline: float | None = None,
    progress: Progress | None = None,
) -> Radii:
    """Find how large a perturbation must be to change each decision: exactly, or between proved bounds."""
    tried = replace(effort or Effort(budget=5_000), pace=paced(deadline, progress))
    opened, asked = model_at(model).frozen, task_at(task)
    return find_radii(opened, asked, circuit_at(circuit), Place(at, positions), tried)


def minimal(  # noqa: PLR0913  # a search has these bounds
    model: AnyModel,
    task: AnyTask,
    *,
    most: int = 4,
    budget: int = 5_000,
    deadline: float | None = None,
    progress: Progress | None = None,
    out: PathLike | None = None,
) -> Minimality:
    """Find all circuits of the fewest edges that decide a task, with a proof that nothing smaller does.

    Up to `most` edges are tried, and no more than `budget` circuits of a size.
    """
    opened, asked, place = model_at(model).frozen, task_at(task), place_of(out)
    with claimed(place):
        pace = paced(deadline, progress)
        return find_minimum(opened, asked, most=most, budget=budget, out=place, pace=pace)
