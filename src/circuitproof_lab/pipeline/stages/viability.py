"""The gate before a localisation: does the model itself decide every prompt right that is declared?"""

from collections import Counter
from collections.abc import Sequence

import torch

from circuitproof.circuits.circuit import Circuit, whole
from circuitproof.nn.decisions import answer_margins, score_of, task_logits
from circuitproof.nn.transformer import Transformer
from circuitproof.tasks.generator import GeneratedPrompt
from circuitproof.tasks.task import Task
from circuitproof_lab.pipeline.splits import Split
from circuitproof_lab.records.viability import Narrowing, Stratum, Viability


def places_right(model: Transformer, task: Task, circuit: Circuit | None = None) -> tuple[int, ...]:
    """Return the places of the prompts that a model, or a circuit of it, decides right in floats."""
    asked = [whole(model.graph) if circuit is None else circuit]
    margins = answer_margins(task, task_logits(model, task, asked))[0]
    score_of(margins, task.name)
    return tuple(torch.nonzero(margins > 0).flatten().tolist())


def viability_of(model: Transformer, pool: Split, narrowing: Narrowing, least: int, wanted: int) -> Viability:
    """Ask the model for every decision of a pool, and say what is left of it.

    A template with fewer than `least` prompts of each of its openers left goes as a whole.
    """
    rows, source = pool.rows, pool.generator
    right_places = set(places_right(model, source.make_task(rows)))
    strata = _strata(rows, [place in right_places for place in range(len(rows))])
    is_kept = narrowing is Narrowing.STRATA or all(one.is_right for one in strata)
    right = {one.name for one in strata if one.is_right and is_kept}
    left = _without_thin([row for row in rows if row.stratum in right], least)
    openers = Counter(row.opener for row in left)
    return Viability(
        task=source.task,
        strata=strata,
        kept=tuple(dict.fromkeys(row.stratum for row in left)),
        left=len(source.answers) * min((openers[opener] for opener, _ in source.answers), default=0),
        wanted=wanted,
        narrowing=narrowing,
        least=least,
    )


def _without_thin(rows: Sequence[GeneratedPrompt], least: int) -> list[GeneratedPrompt]:
    """Return the prompts of templates that have enough of them with each of their openers."""
    counts = Counter((row.template, row.opener) for row in rows)
    thin = {template for (template, _), count in counts.items() if count < least}
    return [row for row in rows if row.template not in thin]


def _strata(rows: Sequence[GeneratedPrompt], are_right: Sequence[bool]) -> tuple[Stratum, ...]:
    prompts = Counter(row.stratum for row in rows)
    right = Counter(row.stratum for row, is_right in zip(rows, are_right, strict=True) if is_right)
    return tuple(Stratum(name, prompts[name], right[name]) for name in prompts)
