"""Every prompt of up to 1,024 tokens with just one opener, at GPT-2's width: engine and checker, timed."""

import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import torch

from circuitproof.certificate.symbolic import write_symbolic_bundle
from circuitproof.circuits.circuit import circuit_of
from circuitproof.circuits.graph import EMBED, LOGITS, Edge
from circuitproof.model.checkpoint import StoredModel, save_model
from circuitproof.model.transformer import Transformer, initialise
from circuitproof.semantics.frozen import open_model
from circuitproof.tasks.pattern_text import parse_pattern
from circuitproof.tasks.symbolic import SymbolicTask
from circuitproof.tasks.task import OnlyOpener, SameOpener
from circuitproof.verify.properties import Equivalence, Invariance, Necessity, Robustness
from circuitproof.verify.symbolic.battery import prove_pattern
from circuitproof.verify.symbolic.claim import SymbolicClaim
from circuitproof_check.main import check
from gpt2_width import ARCHITECTURE, CIRCUIT, DOUBLE, HEAD, OPENERS, PROGRAM, SINGLE, VOCABULARY

LONGEST = 1024
PROPERTIES = (Equivalence(), Invariance(), Necessity(), Robustness(Fraction(1, 10**6)))


def pattern_task(longest: int = LONGEST) -> SymbolicTask:
    """Return quote closing on every prompt with exactly one opener and any other tokens."""
    return SymbolicTask(
        name="GPT-2 quotes",
        vocabulary=VOCABULARY,
        candidates=(DOUBLE, SINGLE),
        pattern=parse_pattern(f"any{{1..{longest}}} with exactly 1 of {sorted(OPENERS)}"),
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
    with tempfile.TemporaryDirectory() as folder:
        write_model(Path(folder) / "model")
        frozen = open_model(Path(folder) / "model")
        for name, extra in (("chain", []), ("chain and embed -> logits", [Edge(EMBED, LOGITS)])):
            circuit = circuit_of(CIRCUIT.graph, [*CIRCUIT.edges, *extra])
            start = time.perf_counter()
            task = pattern_task(longest)
            battery = prove_pattern(SymbolicClaim(frozen, circuit, task, PROPERTIES))
            proved = time.perf_counter()
            write_symbolic_bundle(Path(folder) / name, battery)
            written = time.perf_counter()
            outcome, sentence = check(Path(folder) / name)
            checked = time.perf_counter()
            verdicts = ", ".join(f"{answer.prop.kind} {answer.verdict}" for answer in battery.answers)
            print(f"{name}: {verdicts}")
            print(
                f"  {battery.cells} cells; proved in {proved - start:.1f} s, "
                f"bundle in {written - proved:.1f} s, checked in {checked - written:.1f} s: "
                f"{outcome.name} {sentence}"
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
