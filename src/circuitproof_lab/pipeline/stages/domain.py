"""The stage that declares a domain: all generations' prompts that the model itself decides right."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from circuitproof.files.canonical import digest_bytes, readable_json, write_file
from circuitproof.files.run import Run
from circuitproof.nn.transformer import Transformer
from circuitproof.tasks.generator import GeneratedPrompt, deal, in_turn
from circuitproof.tasks.rules import ClassTable, OnlyOpener
from circuitproof.tasks.task import Task
from circuitproof_lab.pipeline.splits import Rounds, Split
from circuitproof_lab.pipeline.stages.gate import GatedRun
from circuitproof_lab.pipeline.stages.viability import places_right
from circuitproof_lab.records.domain import DOMAIN, PROMPTS, DeclaredDomain


def spare_rows(rounds: Rounds) -> tuple[GeneratedPrompt, ...]:
    """Return the prompts of a pool that are in no gate, in the order of the pool."""
    gates = {row.prompt for gate in rounds.gates for row in gate.split.rows}
    return tuple(row for row in rounds.generator.order() if row.prompt not in gates)


def narrowed(rounds: Rounds, strata: Collection[str]) -> Rounds:
    """Return the same gates with development data of some strata only, dealt from what is in no gate."""
    kept = _in_turn([row for row in spare_rows(rounds) if row.stratum in strata])
    sizes = [len(split.rows) for split in rounds.fresh if split is not None]
    dealt = iter(deal(kept, sizes, len(rounds.generator.answers)))
    fresh = tuple(None if split is None else replace(split, rows=next(dealt)) for split in rounds.fresh)
    return replace(rounds, fresh=fresh)


def _in_turn(rows: Sequence[GeneratedPrompt]) -> list[GeneratedPrompt]:
    """Return rows in the order in which a pool deals: openers take turns, and each opener's templates do."""
    groups: dict[str, dict[str, list[GeneratedPrompt]]] = {}
    for row in rows:
        groups.setdefault(row.opener, {}).setdefault(row.template, []).append(row)
    return in_turn([in_turn([*templates.values()]) for templates in groups.values()])


def declare_prompts(
    run: Run, job: GatedRun, rounds: Rounds, model: Transformer, strata: Collection[str]
) -> tuple[DeclaredDomain, Task]:
    """Return the declared domain of a task; all that it is made of enters the ledger before it is asked for.

    It has as many prompts as the generations together, and as many of each opener. Where the model misses a
    prompt of a gate, the next of the pool that is in no gate stands in its place.
    """
    for gate in rounds.gates:
        job.ledger.retire(gate, job.protocol.digest)
    spare = [row for row in spare_rows(rounds) if row.stratum in strata]

    def declare() -> DeclaredDomain:
        gates = tuple(chain.from_iterable(gate.split.rows for gate in rounds.gates))
        right = set(places_right(model, rounds.generator.make_task(gates)))
        apart = tuple(place for place in range(len(gates)) if place not in right)
        return _declared(rounds, apart, spare)

    found = run.record(DOMAIN, DeclaredDomain, declare, f"{rounds.generator.task}: declaring the domain")
    split = _split(rounds, found.apart, spare)
    write_file(run.folder / PROMPTS, _manifest(split))
    return found, by_type(split.generator.make_task(split.rows))


def _declared(rounds: Rounds, apart: tuple[int, ...], spare: Sequence[GeneratedPrompt]) -> DeclaredDomain:
    split = _split(rounds, apart, spare)
    tokens = split.generator.make_task(split.rows)
    development = sum(len(one.rows) for one in rounds.fresh if one is not None)
    gates = sum(len(gate.split.rows) for gate in rounds.gates)
    return DeclaredDomain(
        task=split.generator.task,
        prompts=len(split.rows),
        development=development,
        gates=gates,
        apart=apart,
        filled=len(split.rows) - development - gates + len(apart),
        classes={"type": len(by_type(tokens).classes()), "token": len(tokens.classes())},
        manifest=digest_bytes(_manifest(split)),
    )


def _split(rounds: Rounds, apart: Collection[int], spare: Sequence[GeneratedPrompt]) -> Split:
    """Return all prompts of the domain, as many of each opener."""
    development = [row for one in rounds.fresh if one is not None for row in one.rows]
    gates = list(chain.from_iterable(gate.split.rows for gate in rounds.gates))
    left = [row for place, row in enumerate(gates) if place not in apart]
    wanted = Counter(row.opener for row in (*development, *gates))
    rows = _first([*development, *left, *spare], wanted)
    return Split(f"{rounds.generator.task} domain", rounds.generator, rows)


def _first(rows: Sequence[GeneratedPrompt], wanted: Mapping[str, int]) -> tuple[GeneratedPrompt, ...]:
    """Return the first rows of each opener, each prompt once, in the order in which they come."""
    left, chosen = Counter(wanted), dict[tuple[int, ...], GeneratedPrompt]()
    for row in rows:
        if row.prompt not in chosen and left[row.opener] > 0:
            left[row.opener] -= 1
            chosen[row.prompt] = row
    return tuple(chosen.values())


def _manifest(split: Split) -> bytes:
    return readable_json(split.to_json())


def by_type(task: Task) -> Task:
    """Return the task whose relation is the opener's type: prompts of one right answer are decided alike.

    Prompts with the same opener are among them, so that what holds of types holds of tokens. A task that was
    declared with tables keeps its own relation.
    """
    if not isinstance(task.answer, OnlyOpener):
        return task
    return replace(task, relation=ClassTable(task.decisions()))
