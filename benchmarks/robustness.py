"""Robustness after BandNorm, complete beside the traced branch; exact radii; inside GPT-2's width.

The public model is the one whose robustness the paper leaves unknown at these four radii. Every answer of the
complete method is written as a bundle and checked by the independent checker.
"""

import shutil
import tempfile
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from circuitproof.certificate.bundle import write_bundle
from circuitproof.circuits.graph import Mlp
from circuitproof.model.release import import_release
from circuitproof.pipeline.radii import find_radii
from circuitproof.pipeline.verification import Place
from circuitproof.semantics.forward import Side
from circuitproof.semantics.frozen import Frozen, open_model
from circuitproof.semantics.interface import Interface, Span
from circuitproof.tasks.quotes import toy_quotes
from circuitproof.verify.battery import prove
from circuitproof.verify.claim import Claim
from circuitproof.verify.disturbed import Question, disturb
from circuitproof.verify.properties import Robustness
from circuitproof.verify.search import Effort, Method, search_ball
from circuitproof_check.main import check
from gpt2_width import CIRCUIT, quote_task, write_model
from timing import print_table

REFERENCE = Path(__file__).parents[2] / "shared" / "reference" / "band_norm_matched"
EPSILONS = (Fraction(1, 1000), Fraction(1, 400), Fraction(1, 200), Fraction(1, 100))
SMALL = (Fraction(1, 10**5), Fraction(1, 10**4), Fraction(1, 100))


def rows(folder: Path) -> Iterator[tuple[str, ...]]:
    """Walk the rows of the first table: a radius, both methods, and the checker."""
    release = import_release(REFERENCE, folder / "model")
    frozen, circuit = open_model(folder / "model"), release.circuits["quotes"]
    for epsilon in EPSILONS:
        claim = Claim(frozen, circuit, toy_quotes(), (Robustness(epsilon),))
        start = time.perf_counter()
        complete = prove(claim)
        middle = time.perf_counter()
        traced = prove(claim, Effort(Method.BRANCH))
        write_bundle(folder / str(epsilon.denominator), complete)
        written = time.perf_counter()
        outcome, _ = check(folder / str(epsilon.denominator))
        end = time.perf_counter()
        yield (
            str(epsilon),
            f"{complete.answers[0].verdict} {complete.answers[0].met}/128",
            f"{middle - start:.2f}",
            f"{outcome.name.lower()}",
            f"{end - written:.2f}",
            f"{traced.answers[0].verdict} {traced.answers[0].met}/128",
        )


def radii(folder: Path) -> tuple[tuple[str, ...], ...]:
    """Return the rows of the second table: exact radii of the same circuit."""
    circuit = folder / "model" / "quotes.circuit.json"
    start = time.perf_counter()
    found = find_radii(folder / "model", "quotes", circuit, Place(), 5000)
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
        for epsilon in SMALL:
            start = time.perf_counter()
            found = search_ball(Question(function, winner), epsilon, Effort(budget=1))
            yield str(place), str(epsilon), type(found).__name__, f"{time.perf_counter() - start:.1f}"


def main() -> None:
    """Print the tables."""
    folder = Path(tempfile.mkdtemp())
    try:
        if REFERENCE.exists():
            columns = ("epsilon", "complete", "s", "checker", "s", "traced branch")
            print_table("public BandNorm model, 128 quote prompts", columns, list(rows(folder)))
            print_table("exact radii", ("", "radius", "relative", "s for all"), radii(folder))
        write_model(folder / "gpt2", quote_task())
        found = list(wide(open_model(folder / "gpt2")))
        print_table("GPT-2 width, one prompt, budget 1", ("place", "epsilon", "found", "s"), found)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
