"""The parts of a study's page: does the model do it, programs, healing, limits."""

from collections.abc import Iterable, Iterator
from math import exp
from typing import assert_never

from circuitproof.files.printing import plural, shown_text
from circuitproof.files.reading import long_numbers, scientific
from circuitproof.reports.elements import Child, Element, el
from circuitproof.reports.parts.section import facts, name, note, scrolled, section, share_bar, verdict_badge
from circuitproof_lab.pages.folder import RunView
from circuitproof_lab.pages.study import Programs
from circuitproof_lab.records.blocks import BlockRegression
from circuitproof_lab.records.domain import DeclaredDomain
from circuitproof_lab.records.healing import Healed
from circuitproof_lab.records.limits import NoLimits, PatternLimits
from circuitproof_lab.records.programs import HeadSearch
from circuitproof_lab.records.viability import Narrowing, Stratum, Viability

_LONG = 400
"""How much is shown of a program, a pattern or a part of one."""
_MOST = 700
"""A loss beyond this is none that was measured; its exponential is still a float."""


def perplexity_text(loss: float | None) -> str:
    """Return four digits of the perplexity of a loss, which a file may claim to be anything, or a dash.

    >>> perplexity_text(2.5), perplexity_text(None)
    ('12.18', '–')
    """
    return "–" if loss is None else f"{exp(min(loss, _MOST)):#.4g}"


def viability(run: RunView) -> Element | None:
    """Return for each task whether the model itself does it, and which prompts went by which rule."""
    about = (
        "The model is asked for every prompt of the pool that is in no gate, in floats, before anything else "
        "is done. What becomes of prompts that it decides wrong was declared beforehand."
    )
    return _part("viability", "Does the model do it?", about, map(_viable, run.study.viabilities))


def _part(key: str, title: str, about: str, tasks: Iterable[Iterable[Element]]) -> Element | None:
    """Return what there is of each task, after what it is about; nothing if there is no task."""
    children = [child for task in tasks for child in task]
    return section(key, title, note(about), *children) if children else None


def _viable(one: Viability) -> Iterator[Element]:
    ends = "enough, the task goes on" if one.is_viable else "too few, the task stops here"
    yield el("h3", name(one.task))
    yield facts(
        ("pool", share_bar(one.right, one.prompts, "decided right")),
        ("rule", _rule(one)),
        ("strata", share_bar(len(one.kept), len(one.strata), "stay")),
        ("prompts left", f"{one.left:,} balanced, {one.wanted:,} are wanted: {ends}"),
    )
    rows = [
        (name(one.shown_stratum(gone.name)), share_bar(gone.right, gone.prompts), _why(gone))
        for gone in one.dropped
    ]
    if rows:
        yield scrolled(("stratum gone", "right", "because"), rows, class_="sortable stacked", tall=True)


def _rule(one: Viability) -> str:
    match one.narrowing:
        case Narrowing.STRATA:
            rule = "where one decision is wrong, its whole stratum goes"
        case Narrowing.NOTHING:
            rule = "one wrong decision ends the task"
        case _:
            assert_never(one.narrowing)
    return f"{rule}; a template with fewer than {one.least} prompts of one of its openers left goes too"


def _why(gone: Stratum) -> str:
    if gone.right < gone.prompts:
        return f"{plural(gone.prompts - gone.right, 'decision')} wrong"
    return "all right, but not enough is left beside it"


def domains(run: RunView) -> Element | None:
    """Return for each task on which prompts its artifact is built and proved."""
    about = (
        "The prompts of all generations, of gates that were not opened too. What the model itself decides "
        "wrong of the gates is left out, and prompts of the pool that are in no gate stand in their place."
    )
    return _part("domain", "The declared domain", about, map(_domain, run.study.domains))


def _domain(one: DeclaredDomain) -> tuple[Element, ...]:
    classes = ", ".join(f"{count:,} by {shown_text(relation)}" for relation, count in one.classes.items())
    known: list[tuple[str, Child]] = [
        ("prompts", f"{one.prompts:,}, of them {one.development:,} were development data from the beginning"),
        ("gates", share_bar(one.gates - len(one.apart), one.gates, "decided right by the model itself")),
        ("instead of the others", plural(one.filled, "prompt")),
        ("classes of what must not matter", classes),
        ("manifest", name(str(one.manifest), most=64)),
    ]
    return el("h3", name(one.task)), facts(*known)


def blocks(run: RunView) -> Element | None:
    """Return whether the heads of each circuit decide together as their attention blocks do."""
    rows = [_regression(one) for one in run.study.blocks]
    if not rows:
        return None
    sizes = ("heads#", "edges#", "right", "heads of the blocks#", "edges#", "right")
    columns = ("task", *sizes, "decided alike")
    about = note(
        "The circuit of heads beside the circuit of the attention blocks that they are heads of: all edges "
        "between two blocks of which it has one. Measured in floats."
    )
    return section("blocks", "Block regression", about, scrolled(columns, rows, class_="stacked"))


def _regression(one: BlockRegression) -> tuple[Child, ...]:
    return (
        name(one.task),
        f"{one.heads:,}",
        f"{one.head_edges:,}",
        share_bar(one.right, one.prompts),
        f"{one.block_heads:,}",
        f"{one.block_edges:,}",
        share_bar(one.block_right, one.prompts),
        share_bar(one.agreed, one.prompts),
    )


def programs(run: RunView) -> Element | None:
    """Return the programs that were found, and what the searches tried."""
    about = (
        "For each head that the circuit reads, programs are tried in floats, those first that overlap most "
        "with the head's own attention. What they decide together is computed exactly, or enclosed where it "
        "has no exact value."
    )
    return _part("searches", "Programs found", about, map(_programs, run.study.programs))


def _programs(one: Programs) -> tuple[Element, ...]:
    columns = ("head", "program", "in the end", "overlap#", "tried#", "seconds#")
    told = zip(one.searches, one.lines, strict=True)
    rows = [_search(one, *pair) for pair in sorted(told, key=lambda pair: not one.is_read(pair[0]))]
    made = scrolled(columns, rows, class_="stacked", tall=True)
    return el("h3", name(one.task)), facts(*_ends(one)), made


def _ends(one: Programs) -> list[tuple[str, Child]]:
    found = sum(search.program is not None for search in one.searches)
    known: list[tuple[str, Child]] = [("heads", share_bar(found, len(one.searches), "have a program"))]
    if one.extracted is not None:
        known.insert(0, ("circuit", f"{plural(one.extracted, 'edge')} extracted"))
    if (right := one.accepted) is not None:
        how = "in exact arithmetic" if right.bits is None else f"enclosed with {right.bits} bits"
        known.append(("with them", share_bar(right.exact, right.prompts, f"right, {how}")))
    if one.again is not None:
        listed = shown_text(", ".join(one.again), most=_LONG)
        known.append(("in the end", f"{plural(len(one.again), 'edge')}, extracted again: {listed}"))
    return known


def _search(one: Programs, search: HeadSearch, lines: tuple[str, ...]) -> tuple[Child, ...]:
    return (
        name(str(search.head)),
        el("code", _shown_lines(lines), class_="lines"),
        "read" if one.is_read(search) else "not read",
        "–" if search.overlap is None else f"{search.overlap:.2f}",
        f"{search.tried:,}/{search.meanings:,}",
        f"{search.seconds:.1f}",
    )


def _shown_lines(lines: Iterable[str]) -> str:
    """Return lines that somebody wrote, in each of which signs that do not print are spelled out."""
    return "\n".join(shown_text(part, most=_LONG) for line in lines for part in line.split("\n"))


def healing(run: RunView) -> Element | None:
    """Return what became of models that were trained as a whole to use their programs."""
    rows = [_healed(one, run) for one in run.study.healings]
    if not rows:
        return None
    columns = ("task", "steps#", "model", "circuit", "no programs", "perplexity", "programs")
    about = note(
        "Every parameter is trained by the core-aware objective with the loss on text beside it. Prompts "
        "decided right, measured in floats, and whether the healed model needs its programs."
    )
    return section("healing", "The limit of healing", about, scrolled(columns, rows, class_="stacked"))


def _healed(one: Healed, run: RunView) -> tuple[Child, ...]:
    counts = (one.audit.model, one.audit.circuit, one.audit.without_heads)
    quality = run.study.quality
    budget = "the budget" if quality is None else perplexity_text(quality.budget)
    return (
        name(one.task),
        f"{one.steps:,}",
        *(share_bar(count, one.audit.prompts) for count in counts),
        f"{perplexity_text(one.loss)}, {'within' if one.within_budget else 'over'} {budget}",
        "used" if one.uses_programs else "bypassed",
    )


def limits(run: RunView) -> Element | None:
    """Return what is proved of every prompt of a pattern, not only of the declared ones."""
    about = (
        "The properties that were proved on the declared domain, asked of every prompt of a pattern. What "
        "the checker says of their bundles stands above."
    )
    told = (*map(_limits, run.study.limits), *map(_unasked, run.study.unasked))
    return _part("limits", "Limits of the proof", about, told)


def _unasked(one: NoLimits) -> tuple[Element, ...]:
    return el("h3", name(one.task)), note(f"Nothing was asked: {shown_text(one.why, most=_LONG)}.")


def _limits(one: PatternLimits) -> tuple[Element, ...]:
    verdicts = [(name(kind), verdict_badge(shown_text(verdict))) for kind, verdict in one.verdicts.items()]
    known: list[tuple[str, Child]] = [
        ("pattern", name(one.pattern, most=_LONG)),
        ("prompts", _prompts(one)),
        ("work", f"{plural(one.cells, 'cell')} in {one.seconds:.1f} s"),
    ]
    if one.failing:
        known.append(("fails on", plural(one.failing, "cell")))
    known += [("holds on", name(part, most=_LONG)) for part in one.proved_parts]
    return el("h3", name(one.task)), facts(*known), scrolled(("property", "verdict"), verdicts)


def _prompts(one: PatternLimits) -> str:
    with long_numbers():
        return scientific(int(one.prompts))
