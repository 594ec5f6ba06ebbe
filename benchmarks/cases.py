"""Models, tasks and circuits that several benchmarks ask about: public ones where they are, and our own."""

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import Head
from circuitproof.circuits.spelling import load_circuit
from circuitproof.find.choices import Granularity, Objective, Order, Search, SelectionRule
from circuitproof.find.extraction import THRESHOLDS, ExtractionMethod, extract
from circuitproof.forward.frozen import open_model
from circuitproof.importers.release import import_release
from circuitproof.proof.claim import Claim
from circuitproof.proof.properties.property import Property
from circuitproof.proof.trim import trim
from circuitproof.tasks.catalogue import find_task
from circuitproof.verbs.cross_check import ComparedProperty
from circuitproof_lab.pipeline.recipe import load_recipe
from circuitproof_lab.pipeline.stages.train import MODEL, train_recipe
from circuitproof_lab.train.loop import Watcher

REFERENCE = Path(__file__).parents[2] / "shared" / "reference"
RECIPES = Path(__file__).parents[1] / "recipes"
RADII = tuple(Fraction(number) for number in ("0.001", "0.0025", "0.005", "0.01"))
TASKS = ("quotes", "brackets")
METHOD = ExtractionMethod(
    objective=Objective.PROGRAM,
    granularity=Granularity.HEAD,
    order=Order.ATTRIBUTION,
    search=Search.GREEDY,
    rule=SelectionRule.SPARSITY,
    thresholds=THRESHOLDS,
)


@dataclass(frozen=True, slots=True)
class Case:
    """A model directory, a task and a circuit of it."""

    model: Path
    task: str
    circuit: Circuit

    @property
    def name(self) -> str:
        """Return what a table calls the case."""
        return f"{self.model.name}, {self.task}, {len(self.circuit)} edges"

    def trimmed(self) -> "Case":
        """Return the case without the edges that no prompt needs."""
        circuit = trim(open_model(self.model), find_task(self.task), self.circuit)
        return replace(self, circuit=circuit)

    def claim(self, prop: Property) -> Claim:
        """Return a claim of one property."""
        return Claim(open_model(self.model), self.circuit, find_task(self.task), (prop,))

    @property
    def is_neural(self) -> bool:
        """Say whether a kept head computes queries and keys."""
        programs = open_model(self.model).programs
        return any(isinstance(node, Head) and node not in programs for node in self.circuit.live().nodes())


def public_cases(name: str, folder: Path) -> tuple[Case, ...]:
    """Return a model of the paper's release with its quote circuit, and a bracket circuit that we find."""
    if not (REFERENCE / name).exists():
        return ()
    release = import_release(REFERENCE / name, folder / name)
    quotes = Case(folder / name, "quotes", release.circuits["quotes"])
    return quotes, found(folder / name, "brackets", folder)


def trained_cases(recipe: str, folder: Path) -> tuple[Case, ...]:
    """Train a model by one of our recipes, and return a circuit that we find for each task."""
    run = folder / recipe
    train_recipe(load_recipe(RECIPES / f"{recipe}.toml"), run, Watcher())
    (run / MODEL).rename(folder / f"own {recipe}")
    return tuple(found(folder / f"own {recipe}", task, folder) for task in TASKS)


def found(model: Path, task: str, folder: Path) -> Case:
    """Return a circuit that our own extraction finds."""
    out = folder / f"{model.name}-{task}.json"
    extract(model, task, METHOD, out)
    return Case(model, task, load_circuit(out))


def ruled(one: ComparedProperty) -> tuple[str, ...]:
    """Return what each solver says, and of how much."""
    return tuple(
        f"{ruling.verdict} {ruling.met}/{ruling.obligations} {ruling.seconds:.1f} s"
        for ruling in one.solver_answers.rulings
    )
