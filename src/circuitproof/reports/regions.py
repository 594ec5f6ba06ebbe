"""The tree of regions with which a claim about a pattern is proved, and how many prompts each has."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from circuitproof.bundle.opening import OpenedBundle
from circuitproof.files.printing import plural
from circuitproof.files.reading import Fields, shown
from circuitproof.proof.properties.property import Property
from circuitproof.reports.words import answer_name, token_name
from circuitproof.tasks.automaton import State
from circuitproof.tasks.labelled import Labelled
from circuitproof.tasks.labelling import Label, LabelState
from circuitproof.tasks.patterns import TokenClass, read_tokens
from circuitproof.tasks.rules import AnswerTable, ClassTable, SameAnswer

_WORK = 200_000
"""The most steps of an automaton for the counts of one tree."""


@dataclass(frozen=True, slots=True)
class PromptSet:
    """A set of prompts of a pattern; what programs say of it cannot be counted."""

    label: Label | None = None
    length: int | None = None
    tokens: Mapping[int, TokenClass] = field(default_factory=dict[int, TokenClass])
    is_countable: bool = True


@dataclass(frozen=True, slots=True)
class RegionRow:
    """One node of a tree: how deep it stands, what it is, how many prompts it has, and what a leaf shows."""

    depth: int
    words: str
    prompts: int | None
    """Nothing where that is not counted."""
    shows: str
    """Nothing for a split."""


@dataclass(frozen=True, slots=True)
class RegionTree:
    """The regions of a proof about a pattern, parents before their children."""

    prop: Property
    regions: tuple[RegionRow, ...]


def labelled_prompts(bundle: OpenedBundle) -> Labelled | None:
    """Return the prompts of a claim about a pattern, with what its rules say of them."""
    answer, relation = bundle.task.answer, bundle.task.relation
    if bundle.pattern is None or isinstance(answer, AnswerTable) or isinstance(relation, ClassTable):
        return None
    return Labelled(bundle.pattern, bundle.frozen.architecture.vocabulary, answer, relation)


def region_trees(bundle: OpenedBundle) -> Iterator[RegionTree]:
    """Return the trees of a bundle about a pattern; a bundle about a list has none."""
    task = labelled_prompts(bundle)
    if task is None:
        return
    for answer in bundle.answers:
        tree = answer.evidence.fields("evidence") if answer.evidence.has("evidence") else answer.evidence
        is_tree = not (tree.has("replay") or tree.has("open"))
        if is_tree and not (tree.has("split") and tree.value("split") == "edge"):
            parts, rows = zip(*_walk(bundle, tree, 0, "all prompts", PromptSet()), strict=True)
            counted = zip(rows, _counts(task, parts), strict=True)
            yield RegionTree(answer.prop, tuple(replace(row, prompts=count) for row, count in counted))


def _walk(
    bundle: OpenedBundle, tree: Fields, depth: int, words: str, part: PromptSet
) -> Iterator[tuple[PromptSet, RegionRow]]:
    if not tree.has("split"):
        yield part, RegionRow(depth, words, None, _leaf(bundle, tree))
        return
    yield part, RegionRow(depth, words, None, "")
    for child in tree.items("children"):
        fields = Fields(child, tree.where)
        further, smaller = _child(bundle, tree, fields, part)
        yield from _walk(bundle, fields.fields("evidence"), depth + 1, further, smaller)


def _leaf(bundle: OpenedBundle, tree: Fields) -> str:
    if tree.has("decided"):
        cut = len(tree.items("cuts")) if tree.has("cuts") else 0
        decided = token_name(bundle.task, bundle.task.candidates[tree.integer("decided")])
        return f"decides {decided}" + (f", by {plural(cut, 'tree')} of cuts" if cut else "")
    if not tree.has("decision"):
        return f"{plural(len(tree.items('prompts')), 'prompt')} shown"
    decided = answer_name(bundle.task, bundle.task.candidates[tree.integer("decision")])
    margins = [Fraction(margin) for margin in tree.texts("margins")]
    return f"decides {decided}, margin at least {shown(min(margins))}"


def _child(bundle: OpenedBundle, tree: Fields, child: Fields, part: PromptSet) -> tuple[str, PromptSet]:
    """Return what a child of a split is, in words and as a set of prompts."""
    match tree.text("split"):
        case "label":
            label = Label(child.integer("answer"), child.integer("class"))
            names = [token_name(bundle.task, token) for token in (label.answer, label.group)]
            is_by_rule = isinstance(bundle.task.relation, SameAnswer)
            group = "" if is_by_rule else f", class {names[1]}"
            return f"answer {names[0]}{group}", replace(part, label=label)
        case "length":
            length = child.integer("length")
            return f"{length} tokens", replace(part, length=length)
        case "token":
            place, tokens = tree.integer("position"), read_tokens(child.fields("class"))
            # A position may be asked about twice; then both classes hold, which one class cannot say.
            is_countable = part.is_countable and place not in part.tokens
            smaller = replace(part, tokens={**part.tokens, place: tokens}, is_countable=is_countable)
            return f"token {place} is {_class(bundle, tokens)}", smaller
        case "sum":
            return f"weights sum to {child.text('sum')}", replace(part, is_countable=False)
        case _:
            words = f"head {tree.text('head')} reads {child.integer('first')} to {child.integer('last')}"
            return words, replace(part, is_countable=False)


def _class(bundle: OpenedBundle, tokens: TokenClass) -> str:
    most = 6
    names = [token_name(bundle.task, token) for token in tokens.listed[:most]]
    listed = " ".join(names + ["…"] * (len(tokens.listed) > most))
    return f"none of {listed}" if tokens.is_complement and listed else listed or "any"


def _counts(task: Labelled, parts: tuple[PromptSet, ...]) -> Iterator[int | None]:
    classes = tuple(dict.fromkeys(tokens for part in parts for tokens in part.tokens.values()))
    machine = task.machine_of(classes)
    work = len(parts) * task.pattern.longest * len(machine.atoms) * task.labels_by.size
    for part in parts:
        yield _count(task, classes, part) if part.is_countable and work <= _WORK else None


def _count(task: Labelled, classes: tuple[TokenClass, ...], part: PromptSet) -> int:
    """Count the prompts of a part: ways through the automaton that respect its label, length and tokens."""
    machine, labels = task.machine_of(classes), task.labels_by
    total, ways = 0, {(machine.start, seen): 1 for seen in labels.starts}
    for position in range(part.length or task.pattern.longest):
        further: dict[tuple[State, LabelState], int] = defaultdict(int)
        for (state, seen), count in ways.items():
            for atom, members in enumerate(machine.atoms):
                follows = machine.step(state, atom, position)
                sees = labels.see(seen, members[0])
                allowed = position not in part.tokens or members[0] in part.tokens[position]
                if follows is not None and sees is not None and allowed:
                    further[follows, sees] += count * len(members)
        ways = further
        if part.length in (None, position + 1) and position >= max(part.tokens, default=0):
            total += sum(
                count
                for (state, seen), count in ways.items()
                if machine.accepts(state)
                and labels.is_settled(seen)
                and (part.label is None or labels.label(seen) == part.label)
            )
    return total
