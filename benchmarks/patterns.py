"""Every prompt of up to 1,024 tokens with just one opener, at GPT-2's width: engine and checker, timed."""

import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

import torch

from circuitproof.bundle.files import write_bundle
from circuitproof.circuits.circuit import circuit_of
from circuitproof.circuits.graph import EMBED, LOGITS, Edge
from circuitproof.files.reading import scientific
from circuitproof.forward.frozen import open_model
from circuitproof.nn.checkpoint import StoredModel, save_model
from circuitproof.nn.transformer import Transformer, initialise
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.tasks.alphabet import Vocabulary
from circuitproof.tasks.pattern_text import parse_pattern
from circuitproof.tasks.rules import OnlyOpener, SameOpener
from circuitproof.tasks.task import Task
from circuitproof_check.main import check
from gpt2_width import ARCHITECTURE, CIRCUIT, DOUBLE, HEAD, OPENERS, PROGRAM, SINGLE, VOCABULARY
from timing import print_table

LONGEST = 1024
Result = TypeVar("Result")
PROPERTIES = (Equivalence(), Invariance(), Necessity(), Robustness(Fraction(1, 10**6)))


def pattern_task(longest: int = LONGEST) -> Task:
    """Return quote closing on every prompt with exactly one opener and any other tokens."""
    return Task(
        name="GPT-2 quotes",
        alphabet=Vocabulary(VOCABULARY),
        candidates=(DOUBLE, SINGLE),
        domain=parse_pattern(f"any{{1..{longest}}} with exactly 1 of {sorted(OPENERS)}"),
        answer=OnlyOpener(tuple(sorted(OPENERS.items()))),
        relation=SameOpener(tuple(sorted(OPENERS))),
    )


@torch.no_grad()
def write_model(path: Path) -> None:
    """Write a seeded model whose program head tells the openers' types apart at every position."""
    model = Transformer(ARCHITECTURE, {HEAD: PROGRAM})
    initialise(model, seed=0, deviation=0.02)
    model.position.mul_(0.05)
    tokens, signs = list(OPENERS), [1.0 if answer == DOUBLE else -1.0 for answer in OPENERS.values()]
    embedded = (model.token[tokens][:, None] + model.position[None]).flatten(0, 1)
    layer = model.attentions[HEAD.layer]
    features = model.mlps[0](embedded[None, None, None])[0, 0, 0] @ layer.value[HEAD.index].T
    wanted = torch.tensor(signs).repeat_interleave(ARCHITECTURE.context)
    weights = torch.linalg.lstsq(features.double(), wanted.double()[:, None]).solution[:, 0].float()
    layer.output[HEAD.index] = torch.outer(model.token[DOUBLE] - model.token[SINGLE], weights)
    save_model(path, StoredModel(model, None))


def main(longest: int = LONGEST) -> None:
    """Print what was proved and how long it took."""
    rows: list[tuple[str, ...]] = []
    with tempfile.TemporaryDirectory() as folder:
        write_model(Path(folder) / "model")
        frozen = open_model(Path(folder) / "model")
        for name, extra in (("chain", []), ("chain and embed -> logits", [Edge(EMBED, LOGITS)])):
            circuit = circuit_of(CIRCUIT.graph, [*CIRCUIT.edges, *extra])
            bundle = Path(folder) / name
            battery, proving = timed(
                lambda circuit=circuit: prove(Claim(frozen, circuit, pattern_task(longest), PROPERTIES))
            )
            write_bundle(bundle, battery)
            (_, sentence), checking = timed(lambda bundle=bundle: check(bundle))
            verdicts = ", ".join(f"{answer.prop.kind} {answer.verdict}" for answer in battery.answers)
            rows.append((f"{name}: {verdicts}", f"{battery.cells}", proving, checking, sentence))
    columns = ("circuit", "cells", "proved in s (CPU)", "checked in s (CPU)", "checker says")
    size = scientific(pattern_task(longest).size)
    print_table(f"all {size} prompts of up to {longest} tokens with one of four openers", columns, rows)


def timed(work: Callable[[], Result]) -> tuple[Result, str]:
    """Return a result and its time, by the clock and of the processor."""
    start, begun = time.perf_counter(), time.process_time()
    result = work()
    return result, f"{time.perf_counter() - start:.1f} ({time.process_time() - begun:.1f})"


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
