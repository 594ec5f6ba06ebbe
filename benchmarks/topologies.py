"""Which circuits of few edges are right in several models, with every edge needed, and are proved in each.

Costs of encodings may be compared on these alone: the same edges, and no search for a witness that is not
there. Model directories are arguments; every set of edges without dead ends is tried on all prompts.
"""

import sys
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from pathlib import Path

from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.graph import EMBED, LOGITS, Graph
from circuitproof.forward.frozen import open_model
from circuitproof.nn.checkpoint import load_model
from circuitproof.nn.decisions import score_circuits
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.properties.catalogue import four_properties
from circuitproof.tasks.catalogue import find_task
from timing import print_table, shown

TASK = find_task("quotes")
MOST = 6
EPSILON = Fraction(1, 1000)
AT_ONCE = 500


def topologies(graph: Graph) -> list[Circuit]:
    """Return the circuits of few edges in which every node but the ends reads something and is read."""
    sets = (frozenset(edges) for size in range(2, MOST + 1) for edges in combinations(graph.edges(), size))
    return [
        Circuit(graph, edges)
        for edges in sets
        if {edge.source for edge in edges} - {EMBED} == {edge.target for edge in edges} - {LOGITS}
    ]


def right(path: Path, circuits: list[Circuit]) -> set[Circuit]:
    """Return the circuits that decide every prompt right in a model, in floats."""
    model = load_model(path).model
    found: set[Circuit] = set()
    for start in range(0, len(circuits), AT_ONCE):
        part = circuits[start : start + AT_ONCE]
        scores = zip(part, score_circuits(model, TASK, part), strict=True)
        found |= {circuit for circuit, score in scores if score.right == score.prompts}
    return found


def needed(path: Path, circuits: set[Circuit]) -> set[Circuit]:
    """Return those of which no edge can be left out in a model."""
    lesions = {lesion for circuit in circuits for lesion in circuit.lesions()}
    spare = right(path, list(lesions))
    return {circuit for circuit in circuits if not spare.intersection(circuit.lesions())}


def rows(paths: list[Path]) -> Iterator[tuple[str, ...]]:
    """Return a row for each topology that two or more of the models share."""
    circuits = topologies(open_model(paths[0]).graph)
    good = {path: right(path, circuits) for path in paths}
    for count in range(2, len(paths) + 1):
        for group in combinations(paths, count):
            both = set[Circuit].intersection(*(good[path] for path in group))
            kept = set[Circuit].intersection(*(needed(path, both) for path in group))
            names = " and ".join(path.name for path in group)
            yield names, f"{len(kept)} of {len(circuits)}", ""
            for circuit in sorted(kept, key=lambda one: (len(one), str(one.to_json()))):
                yield "", "; ".join(map(str, circuit)), ", ".join(_verdict(path, circuit) for path in group)


def _verdict(path: Path, circuit: Circuit) -> str:
    return str(prove(Claim(open_model(path), circuit, TASK, four_properties(EPSILON))).verdict)


def main() -> None:
    """Print the table."""
    found = shown(rows([Path(name) for name in sys.argv[1:]]))
    print_table(
        f"quotes: shared circuits of up to {MOST} edges, claims at {EPSILON}",
        ("models", "edges", "claims"),
        found,
    )


if __name__ == "__main__":
    main()
