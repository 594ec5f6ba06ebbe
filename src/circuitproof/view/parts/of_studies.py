"""The parts of a study's page: does the model do it, programs, healing, what lies beyond the domain."""

from collections.abc import Iterable, Iterator

from circuitproof.view.elements import Child, Element, el
from circuitproof.view.parts.section import facts, name, note, scrolled, section, share_bar, verdict_badge
from circuitproof.view.run import RunStory
from circuitproof.view.study import Beyond, Healing, Programs, SearchedHead, Stratum, Viability
from circuitproof.view.words import perplexity_text, plural, shown_text

_LONG = 400
"""How much is shown of a program, a pattern or a part of one."""


def viability(run: RunStory) -> Element | None:
    """Return for each task whether the model itself does it, and which prompts went by which rule."""
    about = (
        "The model is asked for every prompt of the pool, in floats, before anything else is done. What "
        "becomes of prompts that it decides wrong was declared beforehand."
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
    rule = "one wrong decision ends the task"
    if one.narrowing == "strata":
        rule = "where one decision is wrong, its whole stratum goes"
    return f"{rule}; a template with fewer than {one.least} prompts of one of its openers left goes too"


def _why(gone: Stratum) -> str:
    if gone.right < gone.prompts:
        return f"{plural(gone.prompts - gone.right, 'decision')} wrong"
    return "all right, but not enough is left beside it"


def programs(run: RunStory) -> Element | None:
    """Return the programs that were found, and what the searches tried."""
    about = (
        "For each head that the circuit reads, programs are tried in floats, those first that overlap most "
        "with the head's own attention. What they decide together is computed exactly."
    )
    return _part("searches", "Programs found", about, map(_programs, run.study.programs))


def _programs(one: Programs) -> tuple[Element, ...]:
    columns = ("head", "program", "in the end", "overlap#", "tried#", "seconds#")
    rows = [_search(one, search) for search in sorted(one.searches, key=lambda x: not one.is_read(x))]
    made = scrolled(columns, rows, class_="stacked", tall=True)
    return el("h3", name(one.task)), facts(*_ends(one)), made


def _ends(one: Programs) -> list[tuple[str, Child]]:
    found = sum(search.program is not None for search in one.searches)
    known: list[tuple[str, Child]] = [("heads", share_bar(found, len(one.searches), "have a program"))]
    if one.extracted is not None:
        known.insert(0, ("circuit", f"{plural(one.extracted, 'edge')} extracted on the whole domain"))
    if one.exact is not None and one.prompts is not None:
        known.append(("with them", share_bar(one.exact, one.prompts, "right, in exact arithmetic")))
    if one.again is not None:
        listed = shown_text(", ".join(one.again), most=_LONG)
        known.append(("in the end", f"{plural(len(one.again), 'edge')}, extracted again: {listed}"))
    return known


def _search(one: Programs, search: SearchedHead) -> tuple[Child, ...]:
    return (
        name(search.head),
        el("code", _shown_lines(search.told), class_="lines"),
        "read" if one.is_read(search) else "not read",
        "–" if search.overlap is None else f"{search.overlap:.2f}",
        f"{search.tried:,}/{search.meanings:,}",
        f"{search.seconds:.1f}",
    )


def _shown_lines(lines: Iterable[str]) -> str:
    """Return a stranger's lines, in each of which signs that do not print are spelled out."""
    return "\n".join(shown_text(part, most=_LONG) for line in lines for part in line.split("\n"))


def healing(run: RunStory) -> Element | None:
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


def _healed(one: Healing, run: RunStory) -> tuple[Child, ...]:
    counts = (one.audit.model, one.audit.circuit, one.audit.without_heads)
    quality = run.study.quality
    budget = "the budget" if quality is None else perplexity_text(quality.budget)
    return (
        name(one.task),
        f"{one.steps:,}",
        *(share_bar(count, one.audit.prompts) for count in counts),
        f"{perplexity_text(one.perplexity)}, {'within' if one.is_within_budget else 'over'} {budget}",
        "used" if one.uses_programs else "bypassed",
    )


def beyond(run: RunStory) -> Element | None:
    """Return what is proved of every prompt of a pattern, beyond the domain that programs were found on."""
    about = (
        "The properties that were proved on the declared domain, asked of every prompt of a pattern. What "
        "the checker says of their bundles stands above."
    )
    return _part("beyond", "Beyond the domain", about, map(_beyond, run.study.beyonds))


def _beyond(one: Beyond) -> tuple[Element, ...]:
    verdicts = [(name(kind), verdict_badge(shown_text(verdict))) for kind, verdict in one.verdicts.items()]
    known: list[tuple[str, Child]] = [
        ("pattern", name(one.pattern, most=_LONG)),
        ("prompts", one.prompts),
        ("work", f"{plural(one.cells, 'cell')} in {one.seconds:.1f} s"),
    ]
    if one.failing:
        known.append(("fails on", plural(one.failing, "cell")))
    known += [("holds on", name(part, most=_LONG)) for part in one.proved_parts]
    return el("h3", name(one.task)), facts(*known), scrolled(("property", "verdict"), verdicts)
