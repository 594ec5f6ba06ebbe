"""Synthesis of programs for the heads of the trained toy model, and the exhaustive twin on a small bound.

For each head of `recipes/toy-band.toml` all programs of two rules are searched on both tasks, 256 prompts;
with the accepted one the whole model decides every prompt right, exactly. The second table walks through
larger languages, and the last compares the certificate of an unrealisable language with brute force, which
installs every program and folds every prompt. All on one thread.
"""

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch

from circuitproof.circuits.graph import Head
from circuitproof.forward.frozen import Frozen
from circuitproof.nn.transformer import Transformer
from circuitproof.programs.candidates import Grammar, NamedOperand, words_of
from circuitproof.programs.features import Feature, WordKind
from circuitproof.programs.syntax import Pick
from circuitproof.programs.text import to_text
from circuitproof.tasks.brackets import toy_brackets
from circuitproof.tasks.quotes import toy_quotes
from circuitproof_lab.distill.choices import Growth
from circuitproof_lab.distill.decision_target import targets_of
from circuitproof_lab.distill.meanings import Meanings
from circuitproof_lab.distill.prefix_table import PrefixTable
from circuitproof_lab.distill.synthesis import Bounds, Synthesis
from circuitproof_lab.distill.synthesise import accepts, freeze, synthesise
from circuitproof_lab.distill.unrealisable import Unrealisable, recheck
from circuitproof_lab.pipeline.recipe import load_recipe
from circuitproof_lab.pipeline.stages.train import train_recipe
from circuitproof_lab.train.loop import Watcher
from program_strategies import all_programs
from timing import print_table

RECIPE = Path(__file__).parents[1] / "recipes" / "toy-band.toml"
TASKS = (toy_quotes(), toy_brackets())
PLACES = (Feature.KEY_TOKEN, Feature.KEY_POSITION, Feature.RELATIVE_DISTANCE, Feature.TOKEN_MATCH)
HEAD = Head(0, 0)
FILLERS = tuple(NamedOperand(WordKind.TOKEN, token) for token in (5, 6, 7, 8))


def trained(folder: Path) -> Transformer:
    """Return the toy model."""
    quiet = Watcher(on_step=lambda _step, _loss: None, on_evaluation=lambda _: None)
    return train_recipe(load_recipe(RECIPE), folder / "run", quiet).model


def timed(work: Callable[[], object]) -> tuple[object, float, float]:
    """Return a result with the seconds on the clock and those of the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    return work(), time.perf_counter() - clock, time.process_time() - processor


def head_row(model: Transformer, head: Head, bounds: Bounds) -> tuple[str, ...]:
    """Search a program for a head."""
    found, clock, processor = timed(lambda: synthesise(model, TASKS, head, {}, bounds))
    assert isinstance(found, Synthesis)  # noqa: S101  # what the work returns
    lines = "none" if found.program is None else "; ".join(to_text(found.program).splitlines()[1:-1])
    effort, seen = found.effort, found.record
    return (
        f"{head}, {bounds.growth}: {lines or 'no rules'}",
        "" if found.overlap is None else f"{found.overlap:.2f}",
        f"{seen.mean_support:.2f} / {seen.mean_softmax_support:.2f}",
        f"{effort.programs}",
        f"{effort.meanings}",
        f"{effort.tried}",
        f"{effort.decisions}",
        f"{clock:.1f}",
        f"{processor:.1f}",
    )


def walk_row(name: str, grammar: Grammar) -> tuple[str, ...]:
    """Walk through a language."""
    prefix_table = PrefixTable(tuple(prompt for task in TASKS for prompt in task.domain.prompts))
    meanings = Meanings(prefix_table, grammar, prefix_table.own())

    def walk() -> None:
        meanings.learn(words_of(prefix_table.prompts, grammar))
        meanings.grow()

    _, clock, processor = timed(walk)
    count = meanings.language.program_count()
    return (name, f"{count}", f"{len(meanings)}", f"{clock:.1f}", f"{processor:.1f}")


def certificate_rows(model: Transformer, rules: int, *, with_brute_force: bool) -> list[tuple[str, ...]]:
    """Certify that no program which knows the fillers alone will do; check it, and confirm it one by one."""
    bounds = Bounds(grammar=Grammar(rules=rules, features=(Feature.KEY_TOKEN,)), words=FILLERS)
    found, *search = timed(lambda: synthesise(model, TASKS, HEAD, {}, bounds))
    assert isinstance(found, Synthesis)  # noqa: S101  # what the work returns
    certificate = found.outcome
    if not isinstance(certificate, Unrealisable):
        raise SystemExit(f"{HEAD}: a program that knows the fillers alone will do")
    frozen = freeze(model)
    _, *check = timed(lambda: recheck(certificate, frozen, TASKS))
    ways = [("search", search), ("check of the certificate", check)]
    if with_brute_force:
        ways.append(("brute force", brute_force(frozen, certificate)))
    counts = (f"{found.effort.programs}", f"{found.effort.meanings}")
    return [(f"{rules} rules, {name}", *counts, *(f"{one:.1f}" for one in times)) for name, times in ways]


def brute_force(frozen: Frozen, certificate: Unrealisable) -> list[float]:
    """Install every program and fold every prompt; return the seconds it takes."""
    targets = targets_of(frozen, TASKS, certificate.circuits, certificate.objective)
    programs = all_programs(certificate.language)
    good, *times = timed(lambda: [one for one in programs if accepts(frozen, HEAD, one, targets)])
    if good:
        raise SystemExit("brute force accepts a program that the certificate refutes")
    return times


def main() -> None:
    """Print the tables."""
    torch.set_num_threads(1)
    folder = Path(tempfile.mkdtemp())
    try:
        model = trained(folder)
    finally:
        shutil.rmtree(folder)
    heads = [head for layer in range(2) for head in model.graph.heads_of(layer)]
    rows = [head_row(model, head, Bounds(growth=growth)) for head in heads for growth in Growth]
    columns = ("head", "IoU", "support", "programs", "meanings", "tried", "decisions", "clock s", "CPU s")
    print_table(
        "programs for every head, both tasks, two rules; support under sparsemax / softmax", columns, rows
    )
    walks = [
        walk_row("two rules of one condition", Grammar()),
        walk_row("the same with scans", Grammar(picks=tuple(Pick))),
        walk_row("two rules of two conditions on keys", Grammar(conditions=2, members=1, features=PLACES)),
    ]
    columns = ("language", "programs", "meanings", "clock s", "CPU s")
    print_table("walking through languages", columns, walks)
    rows = [row for rules in (1, 2) for row in certificate_rows(model, rules, with_brute_force=rules == 1)]
    print_table(f"{HEAD} cannot do with programs that know the fillers alone", columns, rows)


if __name__ == "__main__":
    main()
