"""The parts of a study's page: does the model do it, programs, healing, what lies beyond the domain."""

from circuitproof.view.elements import Child, Element, el, table
from circuitproof.view.parts.section import facts, name, scrolled, section, share_bar, verdict_badge
from circuitproof.view.run import RunStory
from circuitproof.view.study import Beyond, Healing, Programs, SearchedHead, Stratum, Viability
from circuitproof.view.words import perplexity_text, plural, shown_text

_LONG = 400
"""How much is shown of a program, a pattern or a part of one."""


def viability(run: RunStory) -> Element | None:
    """Return for each task whether the model itself does it, and which prompts went by which rule."""
    if not run.study.viabilities:
        return None
    about = el(
        "p",
        "The model is asked for every prompt of the pool, in floats, before anything else is done. What "
        "becomes of prompts that it decides wrong was declared beforehand.",
        class_="note",
    )
    tasks = (child for one in run.study.viabilities for child in _viable(one))
    return section("viability", "Does the model do it?", about, *tasks)


def _viable(one: Viability) -> tuple[Element, ...]:
    ends = "enough, the task goes on" if one.is_viable else "too few, the task stops here"
    known = facts(
        ("pool", share_bar(one.right, one.prompts, "decided right")),
        ("rule", _rule(one)),
        ("strata", share_bar(len(one.kept), len(one.strata), "stay")),
        ("prompts left", f"{one.left:,} balanced, {one.wanted:,} are wanted: {ends}"),
    )
    rows = [(name(gone.name), share_bar(gone.right, gone.prompts), _why(gone)) for gone in one.dropped]
    if not rows:
        return el("h3", name(one.task)), known
    made = table(("stratum gone", "right", "because"), rows, class_="sortable stacked")
    return el("h3", name(one.task)), known, scrolled(made, tall=True)


def _rule(one: Viability) -> str:
    match one.narrowing:
        case None:
            rule = "not written down by this run"
        case "strata":
            rule = "where one decision is wrong, its whole stratum goes"
        case _:
            rule = "one wrong decision ends the task"
    if one.least is None:
        return rule
    return f"{rule}; a template with fewer than {one.least} prompts of one of its openers left goes too"


def _why(gone: Stratum) -> str:
    if gone.right < gone.prompts:
        return f"{plural(gone.prompts - gone.right, 'decision')} wrong"
    return "all right, but not enough is left beside it"


def programs(run: RunStory) -> Element | None:
    """Return the programs that were found, and what the searches tried."""
    if not run.study.programs:
        return None
    about = el(
        "p",
        "For each head that the circuit reads, programs are tried in floats, those first that overlap most "
        "with the head's own attention. What they decide together is computed exactly.",
        class_="note",
    )
    tasks = (child for one in run.study.programs for child in _programs(one))
    return section("searches", "Programs found", about, *tasks)


def _programs(one: Programs) -> tuple[Element, ...]:
    columns = ("head", "program", "in the end", "overlap#", "tried#", "seconds#")
    rows = [_search(one, search) for search in sorted(one.searches, key=lambda x: not one.is_read(x))]
    made = table(columns, rows, class_="stacked")
    return el("h3", name(one.task)), facts(*_ends(one)), scrolled(made, tall=True)


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
    text = "none in bounds" if search.program is None else "\n".join(search.program)
    return (
        name(search.head),
        el("code", _shown_lines(text), class_="lines"),
        "read" if one.is_read(search) else "not read",
        "–" if search.overlap is None else f"{search.overlap:.2f}",
        f"{search.tried:,}/{search.meanings:,}",
        f"{search.seconds:.1f}",
    )


def _shown_lines(text: str) -> str:
    """Return a stranger's lines, in each of which signs that do not print are spelled out."""
    return "\n".join(shown_text(line, most=_LONG) for line in text.split("\n"))


def healing(run: RunStory) -> Element | None:
    """Return what became of models that were trained as a whole to use their programs."""
    rows = [_healed(one, run) for one in run.study.healings]
    if not rows:
        return None
    columns = ("task", "steps#", "model", "circuit", "no programs", "perplexity", "programs")
    about = el(
        "p",
        "Every parameter is trained by the core-aware objective with the loss on text beside it. Prompts "
        "decided right, measured in floats, and whether the healed model needs its programs.",
        class_="note",
    )
    return section("healing", "The limit of healing", about, scrolled(table(columns, rows, class_="stacked")))


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
    if not run.study.beyonds:
        return None
    about = el(
        "p",
        "The properties that were proved on the declared domain, asked of every prompt of a pattern. What "
        "the checker says of their bundles stands above.",
        class_="note",
    )
    tasks = (child for one in run.study.beyonds for child in _beyond(one))
    return section("beyond", "Beyond the domain", about, *tasks)


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
    return el("h3", name(one.task)), facts(*known), scrolled(table(("property", "verdict"), verdicts))
