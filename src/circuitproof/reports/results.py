"""What is said of each result of the verbs: tables, sentences and drawings, in order."""

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from circuitproof.arithmetic.rounding import nearest_double
from circuitproof.circuits.ablation import is_uniform
from circuitproof.circuits.circuit import Circuit
from circuitproof.circuits.readers import constant_edges
from circuitproof.files.printing import plural
from circuitproof.files.reading import shown
from circuitproof.models.declaration import ProgramHeads
from circuitproof.proof.enclosed import NotKnown
from circuitproof.proof.known import margin_words
from circuitproof.proof.verdict import Battery, Verdict
from circuitproof.reports.answers import answers_table, claim_title, domain_lines, drawn
from circuitproof.reports.counterexamples import counterexample_lines
from circuitproof.reports.said import Said, Table
from circuitproof.reports.words import exact
from circuitproof.tasks.names import named, prompt_line
from circuitproof.tasks.patterns import Pattern
from circuitproof.verbs.floats import FloatMeasures, FloatRun
from circuitproof.verbs.verification import Verification

if TYPE_CHECKING:  # who prints one result loads nothing of the others
    from circuitproof.proof.minimal import FewestEdges
    from circuitproof.reports.explain import Explanation
    from circuitproof.verbs.logits import Logits
    from circuitproof.verbs.minimality import Minimality
    from circuitproof.verbs.radii import PromptRadius, Radii

_DRAWN = 4
"""How many of the fewest edges' circuits are drawn in a notebook."""
_SHOWN = 10
"""Of how many tokens a table tells where none are asked for: those of the largest logits."""


def verification_said(found: Verification) -> Iterator[Said]:
    """Return the answers as a table, how much they say, and what refutes them."""
    battery, claim = found.battery, found.battery.claim
    yield answers_table(claim_title(claim, found.verdict), battery)
    yield from domain_lines(battery, found.seconds)
    if found.precision is not None:
        yield f"logits are enclosed at {found.precision} bits{_smallest_margin(battery)}"
    if isinstance(found.floats, FloatMeasures):
        yield (
            f"measured in floats: largest error of a logit {found.floats.error:.2e}; the circuit decides "
            f"as the model on {found.floats.agreement} of {claim.task.size} prompts"
        )
        columns = ("format", "largest error#", "decided otherwise#", "least margin#", "seconds#")
        yield Table("the circuit in floats, measured", columns, tuple(map(_float_row, found.floats.runs)))
    for one in found.counterexamples():
        yield from counterexample_lines(claim.task, one)
    if found.limits is not None:
        from circuitproof.reports.limits import limits_lines

        yield from limits_lines(found.limits, claim.task.alphabet.named())
    yield drawn(claim.circuit, claim.frozen.programs)


def _smallest_margin(battery: Battery) -> str:
    """Say how near two candidates come, where there was time for it."""
    circuit = battery.claim.circuit
    if not battery.folded.has([circuit]):
        return ""
    whose = "of the prompts that are shown, " if isinstance(battery.claim.task.domain, Pattern) else ""
    return f"; {whose}{margin_words(battery.folded.of(circuit))}"


def _float_row(run: FloatRun) -> tuple[str, ...]:
    margin = "not finite" if run.least_margin is None else f"{run.least_margin:.6g}"
    return str(run.format), f"{run.error:.2e}", f"{run.differing}", margin, f"{run.seconds:.3f}"


def minimality_said(found: "Minimality") -> Iterator[Said]:
    """Return the minimum circuits, or how far the search came and what ended it."""
    search, tried = found.search, len(found.search.trials)
    if found.among is not None:
        yield f"searched only among the {len(found.among)} edges of the circuit that is given"
    grain = f"at {found.every.graph.granularity} granularity"
    if not search.minimum or found.battery is None:
        yield f"{found.verdict}: {tried} circuits were tried {grain}, {_end(search)}"
        return
    size, count = len(search.minimum[0]), len(search.minimum)
    if found.verdict is Verdict.UNDECIDED:
        yield f"undecided: {size} edges are enough in {count} circuits; the work ended before the proof"
        return
    yield f"{found.verdict}: {size} edges {grain} are the fewest; of {tried} circuits tried, {count} will do"
    programs = found.battery.claim.frozen.programs
    for circuit in search.minimum:
        yield "  " + ", ".join(marked_edges(circuit, programs))
    for circuit in search.minimum[:_DRAWN]:
        yield drawn(circuit, programs)


def _end(search: "FewestEdges") -> str:
    """Say what is refuted, what ended the search, and how it goes on."""
    from circuitproof.proof.minimal import SearchLimit

    below = f"all of fewer than {search.refuted_below} edges are refuted"
    match search.ended_by:
        case SearchLimit.MOST:
            return f"{below}; --most ended the search: give a larger one, or leave it out"
        case SearchLimit.BUDGET:
            return (
                f"{below}; of {search.refuted_below} edges there are more than --budget allows: "
                "give a larger one, or a --circuit among whose edges to search"
            )
        case SearchLimit.OPEN:
            return (
                f"{below}; of some of {search.refuted_below} it is open whether they decide the task: "
                "give a larger --precision"
            )
        case SearchLimit.TIME:
            return (
                f"{below}; the work was ended before all of {search.refuted_below} were tried: give more time"
            )
        case _:
            return "which are all that there are: none decides the task, so look at what the model decides"


def marked_edges(circuit: Circuit, programs: ProgramHeads) -> Iterator[str]:
    """Return a circuit's edges, those that carry the same at every position of every prompt marked."""
    constant = constant_edges(circuit, programs) if is_uniform(circuit.ablation) else ()
    return (
        f"{edge} (a constant: its source reads nothing)" if edge in constant else f"{edge}"
        for edge in circuit
    )


def logits_said(found: "Logits") -> Iterator[Said]:
    """Return the logits of each prompt: those asked for, or the largest of all."""
    is_exact = found.precision is None
    for place, values in enumerate(found.values):
        order = sorted(range(len(values)), key=lambda y: -values[y])[:_SHOWN]
        chosen = order if found.are_all else range(len(values))
        rows = tuple(
            (
                *_logit(found, y, values[y]),
                exact(values[y]) if is_exact else f"± {shown(found.radii[place], 2)}",
            )
            for y in chosen
        )
        more = f", the largest {len(rows)} of {len(values)}" if len(rows) < len(values) else ""
        title = f"prompt {place}: {found.text(place)}{more}"
        yield Table(title, ("token#", "name", "nearest double#", "exactly" if is_exact else "radius#"), rows)
    if not is_exact:
        yield _enclosed_note(found)


def _enclosed_note(found: "Logits") -> str:
    """Say that logits are enclosed, and where the largest is not known."""
    unknown = sum(isinstance(one.decision, NotKnown) for one in found.folds)
    said = f"enclosed with {found.precision} bits: each logit is no further than the radius from its midpoint"
    if not unknown:
        return f"{said}, which is shown as the nearest double"
    return f"{said}; after {plural(unknown, 'prompt')} it is not known which is largest: raise --precision"


def _logit(found: "Logits", place: int, value: Fraction) -> tuple[str, ...]:
    token = found.candidates[place]
    return str(token), named(found.answer_names, token), repr(nearest_double(value))


def radii_said(found: "Radii") -> Iterator[Said]:
    """Return how large radii are, which prompts have the least, and what is proved of all."""
    absolute, relative = found.distribution(), found.distribution(is_relative=True)
    rows = tuple((name, shown(absolute[name]), shown(size)) for name, size in relative.items())
    exactly = "exactly" if found.precision is None else f"to within {shown(found.widest, 2)}"
    title = f"{len(found.known())} of {len(found.prompts)} radii known {exactly}, at {found.at}"
    yield Table(title, ("", "radius#", "relative to the largest coordinate#"), rows) if rows else title
    infinite = sum(one.is_infinite for one in found.brackets)
    unattained = sum(one.is_exact and not one.is_attained for one in found.brackets)
    yield f"{found.ties} ties, {infinite} infinite radii; {unattained} infima are not known to be attained"
    if bounded := found.bounded - found.unknown:
        yield f"{bounded} radii only bounded"
    if found.unknown:
        why = "there was no time for them"
        if found.precision is not None:
            why = f"the decision is not known at {found.precision} bits; raise --precision"
        yield f"{found.unknown} radii unknown: {why}"
    names = found.task.alphabet.named()
    for place in found.weakest:
        line = prompt_line(names, found.task.prompts[place])
        yield f"weakest: {radius_words(found.prompts[place])} at prompt {place}: {line}"
    if found.ties:
        yield f"{found.ties} of {len(found.prompts)} prompts tie: there is no decision to keep, and no radius"
    elif found.proved:
        yield f"proved: every decision is kept below {shown(found.proved)}"
    if known := [size for size, _ in found.known()]:
        from circuitproof.reports.drawings.charts import draw_histogram

        yield draw_histogram(known, "radii")


def radius_words(found: "PromptRadius") -> str:
    """Return a radius in words: a number, a tie, or the bounds that are known."""
    if found.bracket is None:
        return "a tie"
    low, high = found.bracket.lower, found.bracket.upper
    if found.bracket.is_exact or found.bracket.is_enclosed:
        return shown(low)
    return f"at least {shown(low)}" if high is None else f"between {shown(low)} and {shown(high)}"


def explanation_said(found: "Explanation") -> Iterator[Said]:
    """Return the explanation of a prompt as the page has it."""
    from circuitproof.reports.parts.explanation import explained

    yield explained("The prompt", found)
