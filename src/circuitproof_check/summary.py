"""What a verdict says, in one line and as data: the claim, what it was compared with, and what is assumed.

The line is short whatever a bundle holds. Strings of the bundle stand in quotes at its end, so that none can
be taken for the checker's own words; before the first quote there are only these.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from .ablation import Ablation
from .claim import Claim, Property
from .counted_words import counted_facts, counted_words
from .decimals import short
from .properties import Remarks, Verdict
from .reading import quoted_path, show
from .task import LAST

_SHOWN_DIGEST = 12
_SHOWN_PATH = 34
_POSITIONS = 4
_LONGEST_NAMES = 170
"""More than the names behind a line can have, with what stands around them."""
LONGEST_LINE = 1100
"""The most characters of the line: the outcome and the reason."""
Answers = Sequence[tuple[Verdict, Remarks]]


@dataclass(frozen=True, slots=True)
class Beside:
    """What a bundle is compared with, and how much work that may be."""

    against: Path | None = None
    base: Path | None = None
    task: Path | None = None
    operations: int | None = None
    only_foreseen: bool = False
    """Whether to end, incomplete, once it is known how much work it is."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim whose evidence holds, with the verdict on each property and what it was compared with."""

    claim: Claim
    answers: Answers
    beside: Beside
    has_alphabet: bool
    """Whether the names of tokens were compared with those of a model."""
    count: int
    """How many prompts the claim is about."""
    precision: int = 0
    """That of enclosed arithmetic."""

    @property
    def prompts(self) -> str:
        """Say what the claim is about."""
        is_list, count = self.claim.declared is None, short(self.count)
        return f"{count} prompts" if is_list else f"all {count} prompts of a pattern"

    @property
    def has_base(self) -> bool:
        return any(claimed.kind == "lesion identity" for claimed in self.claim.properties)


def sentence(judged: Judged) -> str:
    """Return the claim in words: first what was compared, last the names."""
    claim, candidates = judged.claim, len(judged.claim.task.candidates)
    scope = f"{_edges(claim)}, {_cut(claim.ablation)}, {judged.prompts}, {candidates} candidates"
    scope += _decided(claim)
    scope += f", enclosed arithmetic of {judged.precision} bits" if claim.is_enclosed else ""
    begun = f"{', '.join(_compared(judged))}; {scope}: "
    most = LONGEST_LINE - len("incomplete: ") - len(begun) - _LONGEST_NAMES
    return f"{begun}{_answered(judged, most)} ({', '.join(_names(judged))})"


def _answered(judged: Judged, most: int) -> str:
    """Return the properties with all remarks, or where that is too long with those about edges counted.

    Where that is too, all of them are counted, those on each property or together.
    """
    remarks = [remarks for _, remarks in judged.answers]
    counted = [(f"remarks: {len(one)}",) if one else () for one in remarks]
    for ways in (remarks, [_edges_counted(one) for one in remarks], counted):
        if len(said := _answers(judged, ways)) <= most:
            return said
    return f"{_answers(judged, [()] * len(remarks))} [remarks: {sum(map(len, remarks))}]"


def _answers(judged: Judged, shown: Sequence[Remarks]) -> str:
    words: dict[Verdict, list[str]] = {verdict: [] for verdict in Verdict}
    for claimed, (verdict, _), remarks in zip(judged.claim.properties, judged.answers, shown, strict=True):
        counted = counted_words(claimed, judged.count, is_proved=verdict is Verdict.PROVED)
        words[verdict].append(_property_words(claimed, (*counted, *remarks)))
    return "; ".join(f"{', '.join(found)} {verdict.value}" for verdict, found in words.items() if found)


def _decided(claim: Claim) -> str:
    """Say at which position is decided, where it is not the last."""
    return "" if claim.task.position == LAST else f" at position {claim.task.position}"


def _cut(ablation: Ablation) -> str:
    """Say what cut edges carry, and by which prompts."""
    if ablation.is_zero:
        return "zero ablation"
    over = {"": "", "position": " by position", "all": " over all positions"}[ablation.over]
    listed = _counted(ablation.count, "pair" if ablation.kind == "counterfactual" else "prompt")
    return f"{ablation.kind} ablation{over} of {listed} {ablation.digest[:_SHOWN_DIGEST]}"


def _prompts_at_cut_edges(ablation: Ablation) -> dict[str, str]:
    """Return over what means are taken, how many prompts or pairs are listed, and the digest of it all."""
    if ablation.is_zero:
        return {}
    over = {"over": ablation.over} if ablation.over else {}
    return over | {"count": str(ablation.count), "digest": ablation.digest}


def _edges_counted(remarks: Remarks) -> Remarks:
    """Return remarks of which those that are said of single edges are one, with their number."""
    about = [remark.partition(": ")[0] if " -> " in remark else remark for remark in remarks]
    said = {words: f"{words}: {_counted(count, 'edge')}" for words, count in Counter(about).items()}
    return tuple(
        dict.fromkeys(
            said[words] if words != remark else remark for words, remark in zip(about, remarks, strict=True)
        )
    )


def _edges(claim: Claim) -> str:
    return _counted(len(claim.edges), "edge") + (" into ports" if claim.shape.is_split else "")


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _compared(judged: Judged) -> list[str]:
    """Say what was compared and what was not."""
    beside, digest = judged.beside, judged.claim.task.declaration
    words = ["model not checked" if beside.against is None else "model compared"]
    names = _said_of_names(judged)
    if beside.against is not None and names in ("not compared", "as declared"):
        words.append(f"names {names}")
    if judged.has_base:
        words.append("base not checked" if beside.base is None else "base compared")
    is_compared = "as declared" if beside.task is not None else "not compared"
    words.append(f"task {digest[:_SHOWN_DIGEST]} {is_compared}" if digest else "task without a declaration")
    return words


def _names(judged: Judged) -> list[str]:
    """Return what others have named, in quotes; the task's name stands last."""
    paths = {"model": judged.beside.against, "base": judged.beside.base}
    named = [f"{kind} {quoted_path(path, _SHOWN_PATH)}" for kind, path in paths.items() if path is not None]
    return [*named, f"task {show(judged.claim.task.name)}"]


def _property_words(claimed: Property, further: tuple[str, ...]) -> str:
    size = ""
    if claimed.kind == "robustness":
        size = f" at {_epsilon(claimed.epsilon)}"
        further = (f"{claimed.at}, {_positions(claimed.positions)}", *further)
    if claimed.kind == "agreement":
        count = len(claimed.circuits[0])
        further = (f"{count} edge{'s' * (count != 1)}", *further)
    return f"{claimed.kind}{size}" + (f" [{'; '.join(further)}]" if further else "")


def _epsilon(value: Fraction) -> str:
    """Show a size; of a long one also between which powers of two it lies, which its length does not tell."""
    shown, power = show(value), value.numerator.bit_length() - value.denominator.bit_length()
    return f"{shown} (about 2^{power})" if shown.startswith("a number of") else shown


def _positions(places: str | tuple[int, ...]) -> str:
    if isinstance(places, str):
        return places
    left = len(places) - _POSITIONS
    more = f" and {left} more" if left > 0 else ""
    return f"positions {' '.join(map(str, places[:_POSITIONS]))}{more}"


def facts(judged: Judged) -> dict[str, object]:
    """Return the whole of what the line says, as data."""
    claim, beside = judged.claim, judged.beside
    properties: list[object] = []
    for claimed, (verdict, remarks) in zip(claim.properties, judged.answers, strict=True):
        entry: dict[str, object] = {"kind": claimed.kind, "verdict": verdict.value, "remarks": list(remarks)}
        if claimed.kind == "robustness":
            entry |= {"epsilon": str(claimed.epsilon), "at": claimed.at, "positions": claimed.positions}
        if claimed.kind == "agreement":
            entry |= {"edges": list(claimed.circuits[0])}
        properties.append(entry | counted_facts(claimed, is_pattern=claim.declared is not None))
    return {
        "task": claim.task.name,
        "declaration": claim.task.declaration,
        "properties": properties,
        "edges": len(claim.edges),
        "granularity": "port" if claim.shape.is_split else "head",
        "ablation": claim.ablation.kind,
        **({} if claim.ablation.is_zero else {"cut": _prompts_at_cut_edges(claim.ablation)}),
        "prompts": judged.prompts,
        **({"detached": True} if claim.is_detached else {}),
        **({"arithmetic": "enclosed", "precision": judged.precision} if claim.is_enclosed else {}),
        "compared": {
            "model": None if beside.against is None else str(beside.against),
            "base": None if beside.base is None else str(beside.base),
            "task": None if beside.task is None else str(beside.task),
        },
    }


def assumptions(judged: Judged) -> tuple[dict[str, str], ...]:
    """Return what the verdict rests on beside the evidence: what was compared, and what the words mean."""
    claim, beside = judged.claim, judged.beside
    candidates, size = len(claim.task.candidates), claim.architecture
    base = ({"about": "base", "is": _said(beside.base)},) if judged.has_base else ()
    return (
        {"about": "model", "is": _said(beside.against)},
        *base,
        {"about": "task", "is": _said(beside.task) if claim.task.declaration else "without a declaration"},
        {"about": "names", "is": _said_of_names(judged)},
        {"about": "arithmetic", "is": "enclosed", "precision": str(judged.precision)}
        if claim.is_enclosed
        else {"about": "arithmetic", "is": "exact"},
        {"about": "ablation", "is": claim.ablation.kind} | _prompts_at_cut_edges(claim.ablation),
        {
            "about": "decision",
            "is": "among candidates" if candidates < size.predicted else f"among all {_answers_of(claim)}",
            "count": str(candidates),
            "tokens": str(size.vocabulary),
            **({"outputs": str(size.outputs)} if size.outputs else {}),
            **({} if claim.task.position == LAST else {"position": str(claim.task.position)}),
        },
        {
            "about": "domain",
            "is": "list" if claim.declared is None else "pattern",
            "count": short(judged.count),
        },
    )


def _answers_of(claim: Claim) -> str:
    return "outputs" if claim.architecture.outputs or claim.task.outputs else "tokens"


def _said(path: Path | None) -> str:
    return "not compared" if path is None else "compared"


def _said_of_names(judged: Judged) -> str:
    if not judged.claim.task.names:
        return "none"
    if judged.has_alphabet:
        return "compared"
    return "not compared" if judged.beside.task is None else "as declared"
