"""Programs that Tracr compiled: their minimum circuits, proved and checked, and how extraction does on them.

`make tracr` compiles the programs and calls this with the folder of their imports. Of the first eight the
unique circuit of the fewest edges is known: each of our searches is scored on it, and so is every circuit
of another tool that lies beside an import as NAME.TOOL.json, in any spelling that is read here. Of the
others it is not: what is extracted is asked for subset minimality.
"""

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import circuitproof as cp
from circuitproof.files.reading import read_fields
from circuitproof.find.choices import Order, Search
from circuitproof.importers.tracr import REPORT, TASK
from timing import print_table, shown, timed

MINIMUM = (
    "length",
    "histogram",
    "frac-prevs",
    "sort-unique",
    "detect-pattern",
    "count-less-freq",
    "pair-balance",
    "sort",
)
OTHERS = ("reverse",)
METHODS = (
    (Search.GREEDY, Order.ATTRIBUTION),
    (Search.GREEDY, Order.TOPOLOGICAL),
    (Search.BISECTION, Order.ATTRIBUTION),
    (Search.RUNS, Order.ATTRIBUTION),
)
MOST_EDGES, MOST_CIRCUITS, OPERATIONS = 8, 300_000, 50_000_000_000


@dataclass(frozen=True)
class Score:
    """A circuit beside the true one."""

    found: int
    missing: int
    superfluous: int

    def row(self) -> tuple[str, str, str, str]:
        """Return how many edges it has, and how many of them are found, missing and superfluous."""
        return str(self.found + self.superfluous), str(self.found), str(self.missing), str(self.superfluous)


def score(circuit: cp.Circuit, truth: cp.Circuit) -> Score:
    """Count the edges of the true circuit that one has, those that it lacks, and its others."""
    kept, true = set(circuit), set(truth)
    return Score(len(kept & true), len(true - kept), len(kept - true))


def proved_minimum(model: Path, work: Path) -> tuple[cp.Circuit, tuple[str, ...]]:
    """Return the unique minimum circuit and the row that says how it was proved and checked."""
    task, bundle, full = model / TASK, work / f"{model.name}.minimum", work / f"{model.name}.model"
    (found, seconds) = timed(
        lambda: cp.minimal(model, task, most=MOST_EDGES, budget=MOST_CIRCUITS, out=bundle)
    )
    cp.verify(model, task, properties=["equivalence"], out=full)
    (checked, check_seconds) = timed(
        lambda: cp.check(bundle, against=model, task=task, operations=OPERATIONS)
    )
    for one in (checked, cp.check(full, against=model, task=task)):
        if one.outcome is not cp.Outcome.VALID:
            raise SystemExit(f"{model}: the checker says {one.outcome}")
    (truth,) = found.search.minimum
    size = sum(file.stat().st_size for file in bundle.iterdir())
    report = read_fields(model / REPORT)
    return truth, (
        model.name,
        str(report.integer("prompts")),
        f"{report.number('largest_difference', above=-1):.1e}",
        f"{len(truth)} of {len(truth.graph.edges())}",
        str(len(found.search.trials)),
        f"{seconds:.1f}",
        f"{check_seconds:.1f}",
        f"{size / 1000:.0f}",
    )


def scored(model: Path, truth: cp.Circuit) -> Iterator[tuple[str, ...]]:
    """Yield a row for each of our searches, and for each circuit of another tool."""
    for search, order in METHODS:
        circuit = cp.extract(model, model / TASK, search=search, order=order).circuit
        yield (model.name, f"extract, {search}, {order}", *score(circuit, truth).row())
    for file in sorted(model.parent.glob(f"{model.name}.*.json")):
        yield (model.name, file.name, *score(cp.load_circuit(file), truth).row())


def subset_minimal(model: Path) -> tuple[str, ...]:
    """Return what is proved of the circuit that is extracted where the minimum is not known."""
    circuit = cp.extract(model, model / TASK).circuit
    asked = ["equivalence", "subset minimality"]
    found, seconds = timed(lambda: cp.verify(model, model / TASK, circuit, properties=asked))
    verdicts = ", ".join(f"{answer.prop.kind} {answer.verdict}" for answer in found.battery.answers)
    prompts = str(read_fields(model / REPORT).integer("prompts"))
    return model.name, prompts, f"{len(circuit)} of {len(circuit.graph.edges())}", verdicts, f"{seconds:.1f}"


def main() -> None:
    """Print the tables."""
    folder = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as made:
        proofs = {name: proved_minimum(folder / name, Path(made)) for name in MINIMUM}
    print_table(
        "the unique circuit of the fewest edges, proved and checked on every input",
        ("program", "inputs", "softmax - sparsemax", "edges", "circuits tried", "prove s", "check s", "kB"),
        [row for _, row in proofs.values()],
    )
    print_table(
        "circuits beside it",
        ("program", "circuit", "edges", "found", "missing", "superfluous"),
        shown(row for name, (truth, _) in proofs.items() for row in scored(folder / name, truth)),
    )
    print_table(
        "programs whose minimum is not known: the extracted circuit",
        ("program", "inputs", "edges", "verdicts", "prove s"),
        shown(map(subset_minimal, [folder / name for name in OTHERS])),
    )


if __name__ == "__main__":
    main()
