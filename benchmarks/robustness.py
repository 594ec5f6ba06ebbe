"""Robustness after BandNorm, complete beside the traced branch; exact radii; inside GPT-2's width.

The public model is the one whose robustness the paper leaves unknown at these four radii; the other is
trained here. The same question goes to the complete method, to the method that follows the branches at no
perturbation, and to z3 and cvc5 with every branch kept. Every answer of the complete method is written as a
bundle and checked by the independent checker.
"""

import shutil
import tempfile
import time
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path

from cases import RADII, Case, public_cases, ruled, trained_cases
from circuitproof.bundle.files import write_bundle
from circuitproof.circuits.graph import Mlp
from circuitproof.forward.forward import Side
from circuitproof.forward.frozen import Frozen, open_model
from circuitproof.forward.interface import Interface, Span
from circuitproof.proof.battery import prove
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.regions.disturbed import Question, disturb
from circuitproof.proof.regions.radius import find_radius
from circuitproof.proof.regions.search import Effort, Method
from circuitproof.solvers.choices import Asking, Engine
from circuitproof.verbs.cross_check import compare
from circuitproof.verbs.radii import find_radii
from circuitproof.verbs.verification import PerturbationSite
from circuitproof_check.main import check
from gpt2_width import CIRCUIT, quote_task, write_model
from timing import print_table, shown, timed


def row(case: Case, epsilon: Fraction, bundle: Path) -> tuple[str, ...]:
    """Return a row of the first table: one radius, every method, and the checker."""
    claim = case.claim(Robustness(epsilon))
    complete, proving = timed(lambda: prove(claim))
    write_bundle(bundle, complete)
    (outcome, _), checking = timed(lambda: check(bundle))
    traced, tracing = timed(lambda: prove(claim, Effort(Method.BRANCH)))
    (one,) = compare(claim, complete, Asking(engine=Engine.ALL, seconds=120))
    methods = (complete.answers[0], proving), (traced.answers[0], tracing)
    return (
        case.name,
        f"{float(epsilon)}",
        *(f"{answer.verdict} {answer.met}/128 {seconds:.2f} s" for answer, seconds in methods),
        f"{outcome.name.lower()} {checking:.2f} s",
        *ruled(one),
    )


def radii(folder: Path) -> tuple[tuple[str, ...], ...]:
    """Return the rows of the second table: exact radii of the same circuit."""
    circuit = folder / "band_norm_matched" / "quotes.circuit.json"
    start = time.perf_counter()
    found = find_radii(
        folder / "band_norm_matched", "quotes", circuit, PerturbationSite(), Effort(budget=5000)
    )
    seconds = time.perf_counter() - start
    relative = found.distribution(is_relative=True)
    return tuple(
        (name, f"{float(size):.7f}", f"{float(relative[name]):.5f}", f"{seconds:.1f}")
        for name, size in found.distribution().items()
    )


def wide(frozen: Frozen) -> Iterator[tuple[str, ...]]:
    """Walk the rows of the third table: one prompt at GPT-2's width, perturbed inside."""
    task = quote_task()
    for side in (Side.OUTPUT, Side.INPUT):
        place = Interface(Mlp(0), side, Span.ALL)
        function = disturb(frozen, task.candidates, CIRCUIT, task.domain.prompts[0], place)
        winner = function.fold((Fraction(0),) * function.variables).winner
        question = Question(function, winner)
        found, seconds = timed(partial(find_radius, question, Effort(budget=1)))
        upper = "" if found.upper is None else f"{float(found.upper):.3g}"
        yield str(place), f"{float(found.lower):.3g}", upper, f"{seconds:.1f}"


def main() -> None:
    """Print the tables."""
    folder = Path(tempfile.mkdtemp())
    try:
        public = public_cases("band_norm_matched", folder)
        asked = product((*public, *trained_cases("toy-band", folder)), RADII)
        rows = shown(row(case, epsilon, folder / str(place)) for place, (case, epsilon) in enumerate(asked))
        columns = ("circuit", "epsilon", "complete", "traced branch", "checker", "z3", "cvc5")
        print_table("BandNorm, 128 prompts each", columns, rows)
        if public:
            print_table("exact radii", ("", "radius", "relative", "s for all"), radii(folder))
        write_model(folder / "gpt2", quote_task())
        found = list(wide(open_model(folder / "gpt2")))
        columns = ("perturbed", "proved below", "changed at", "s")
        print_table("radius of one prompt at GPT-2's width, one part looked at", columns, found)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
