"""The stage that finds limits: the artifact's circuit on every prompt of a pattern with one opener."""

import time
from dataclasses import replace
from fractions import Fraction

from circuitproof.files.reading import write_rational
from circuitproof.files.run import Run
from circuitproof.proof.battery import prove
from circuitproof.proof.claim import Claim
from circuitproof.proof.effort import Effort, Pace
from circuitproof.proof.inexact import inexact_circuit
from circuitproof.proof.verdict import Verdict
from circuitproof.tasks.alphabet import Vocabulary
from circuitproof.tasks.pattern_text import parse_pattern
from circuitproof.tasks.rules import OnlyOpener, SameOpener
from circuitproof.tasks.task import Task
from circuitproof.verbs.limits import limits_of
from circuitproof_lab.pipeline.stages.prove import bundled
from circuitproof_lab.records.limits import LIMITS, NO_LIMITS, NoLimits, PatternLimits


def find_limits(run: Run, proved: Claim, longest: int, deadline: float) -> PatternLimits | NoLimits:
    """Ask the properties of a proved claim on a pattern, or write down why patterns are not for it."""
    task, why = _pattern_task(proved.task, longest), _why_not(proved)
    if task is None or why is not None:
        none = NoLimits(proved.task.name, why or "the task's answers are a table, no rule for other prompts")
        return run.record(NO_LIMITS, NoLimits, lambda: none)

    def ask() -> PatternLimits:
        begin = time.perf_counter()
        effort = Effort(pace=Pace(deadline=begin + deadline, clock=time.perf_counter))
        battery = prove(replace(proved, task=task), effort)
        found = limits_of(battery, effort) if battery.verdict is Verdict.REFUTED else None
        bundled(run, battery)
        return PatternLimits(
            task=task.name,
            pattern=f"any{{1..{longest}}} with exactly 1 opener",
            prompts=write_rational(Fraction(task.size)),
            verdicts={str(answer.prop.kind): str(answer.verdict) for answer in battery.answers},
            cells=battery.cells,
            failing=0 if found is None else len(found.failing),
            proved_parts=() if found is None else tuple(part.what for part in found.parts),
            seconds=time.perf_counter() - begin,
        )

    return run.record(LIMITS, PatternLimits, ask, f"{task.name}: limits of the proof")


def _why_not(proved: Claim) -> str | None:
    """Return why a circuit cannot be asked on a pattern, if it cannot."""
    neural = [str(head) for head in proved.circuit.heads() if head not in proved.frozen.programs]
    if (operator := inexact_circuit(proved.frozen, proved.circuit)) is not None:
        return f"a pattern is covered in exact numbers, and the circuit's {operator} has no exact value"
    return f"a pattern is covered for program heads, and {neural[0]} is none" if neural else None


def _pattern_task(task: Task, longest: int) -> Task | None:
    """Return a task of only openers on all prompts up to a length, related by the opener's token."""
    if not isinstance(task.answer, OnlyOpener):
        return None
    openers = tuple(opener for opener, _ in task.answer.answers)
    named = {*openers, *task.candidates}
    names = tuple((token, task.tokens.names[token]) for token in sorted(named))
    pattern = parse_pattern(f"any{{1..{longest}}} with exactly 1 of openers", {"openers": openers})
    alphabet = Vocabulary(len(task.tokens), names)
    return replace(task, alphabet=alphabet, domain=pattern, relation=SameOpener(openers))
