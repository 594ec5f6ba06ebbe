"""That a whole template is refuted: the tree checked leaf by leaf, and every meaning listed and refuted."""

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Annotated, assert_never, cast

import numpy as np

from circuitproof.errors import DeclarationError, InputError
from circuitproof.files.canonical import Digest, Json, digest_bytes, digest_json
from circuitproof.files.codec import Key, to_json
from circuitproof.files.reading import Fields, reading_part
from circuitproof_lab.surrogate.machines import find_template
from circuitproof_lab.surrogate.relation import Relation
from circuitproof_lab.surrogate.synthesis import Exhausted, HoleSplit, RefutationTree, RefutedLeaf
from circuitproof_lab.surrogate.template import Fill, OpenHoleError, ProgramTemplate, explore, run
from circuitproof_lab.surrogate.words import Word

MOST_MEANINGS = 30_000
"""The most programs of a template that are run one by one to list what they mean."""


@dataclass(frozen=True, slots=True)
class RefutedFunction:
    """A function on the domain that programs of a template compute, and the first input that refutes it."""

    digest: Annotated[Digest, Key("meaning")]
    """The digest of the answers to all words, a byte each, in the order of the domain."""
    word: Annotated[Word, Key("input")]


@dataclass(frozen=True, slots=True)
class Refutation:
    """The certificate that a template has no program equal to a relation."""

    template: ProgramTemplate
    programs: int
    tree: RefutationTree
    meanings: tuple[RefutedFunction, ...] | None
    """Every distinct meaning, in the order of their digests; none where the programs are too many to run."""

    @property
    def leaves(self) -> int:
        """Return how many inputs it takes, counted where they refute."""
        return _leaves(self.tree)

    def to_json(self) -> dict[str, Json]:
        listed = to_json(self.meanings)
        return {
            "template": self.template.name,
            "programs": self.programs,
            "leaves": self.leaves,
            "meanings": None if self.meanings is None else len(self.meanings),
            "meanings_digest": None if listed is None else str(digest_json(listed)),
            "refuted_meanings": listed,
            "tree": to_json(self.tree),
        }


def certify(exhausted: Exhausted, relation: Relation) -> Refutation:
    """Check the tree of an exhausted template against a relation and list what its programs mean."""
    template = exhausted.template
    programs = check_tree(template, exhausted.tree, relation)
    meanings = list_meanings(template, relation) if programs <= MOST_MEANINGS else None
    return Refutation(template, programs, exhausted.tree, meanings)


def check_tree(
    template: ProgramTemplate, tree: RefutationTree, relation: Relation, fill: Fill | None = None
) -> int:
    """Return how many programs a tree refutes; refuse a tree that does not refute all of the template's.

    A split has a child for each choice, so the leaves' programs add up to all. Each leaf's input is run
    again, and must be answered otherwise than the relation does without reading a hole that is not filled
    above it; `fill` holds the choices above.
    """
    above, holes = fill or Fill(), template.holes(relation.signature)
    match tree:
        case RefutedLeaf(word):
            _refuse_survivor(template, above, relation, word)
            return prod(len(choices) for hole, choices in holes.items() if hole not in above)
        case HoleSplit(hole, children):
            if hole in above or len(children) != len(holes.get(hole, ())):
                raise DeclarationError(f"{template.name}: the tree splits {hole!r} wrongly")
            fills = (Fill({**above, hole: choice}) for choice in holes[hole])
            pairs = zip(children, fills, strict=True)
            return sum(check_tree(template, child, relation, below) for child, below in pairs)
        case _:
            assert_never(tree)


def _refuse_survivor(template: ProgramTemplate, fill: Fill, relation: Relation, word: Word) -> None:
    name, text = template.name, relation.words.tokens.text(word)
    try:
        answer = run(template, fill, relation.signature, word)
    except OpenHoleError as error:
        raise DeclarationError(f"{name}: input '{text}' depends on {error.hole!r}, not filled") from error
    if answer == relation.answer(word):
        raise DeclarationError(f"{name}: input '{text}' does not refute the programs at its leaf")


def list_meanings(template: ProgramTemplate, relation: Relation) -> tuple[RefutedFunction, ...]:
    """Return each distinct function that programs of a template compute on the domain, with what refutes it.

    A meaning that nothing refutes is an error: then the template has a program that agrees.
    """
    taught = np.array(relation.decided, dtype=np.uint8)
    holes = template.holes(relation.signature)
    found: dict[bytes, RefutedFunction] = {}
    for choices in product(*holes.values()):
        fill = Fill(zip(holes, choices, strict=True))
        row = explore(template, fill, relation.signature).row(relation.words)
        if (content := row.tobytes()) not in found:
            wrong = np.flatnonzero(row != taught)
            if not wrong.size:
                raise DeclarationError(f"{template.name}: a program agrees everywhere, nothing refutes it")
            found[content] = RefutedFunction(digest_bytes(content), relation.words.word(int(wrong[0])))
    return tuple(sorted(found.values(), key=lambda meaning: meaning.digest))


def read_tree(fields: Fields) -> RefutationTree:
    """Read a tree; `check_tree` says whether it proves anything."""
    if not fields.has("hole"):
        return RefutedLeaf(fields.integers("input"))
    return HoleSplit(fields.text("hole"), fields.each("children", read_tree))


def read_refuted(fields: Fields, relation: Relation) -> str:
    """Read a certificate as `Refutation.to_json` writes it, check its tree again, and name its template."""
    template = find_template(fields.text("template"), fields.path("template"))
    with reading_part(fields, "tree") as part:
        tree = read_tree(part)
    try:
        programs = check_tree(template, tree, relation)
    except DeclarationError as error:
        raise InputError(f"{fields.where} is not a refutation: {error}") from error
    if programs != fields.integer("programs"):
        raise InputError(f"{fields.path('programs')} is wrong: the tree refutes {programs}")
    fields.value("leaves")
    _refuse_other_list(fields)
    return template.name


def _refuse_other_list(fields: Fields) -> None:
    count, digest = fields.value("meanings"), fields.value("meanings_digest")
    listed = fields.value("refuted_meanings")
    found = (None, None)
    if listed is not None:
        found = (len(fields.items("refuted_meanings")), str(digest_json(cast("Json", listed))))
    if found != (count, digest):
        raise InputError(
            f"{fields.path('refuted_meanings')} is not the list of the digest and number beside it"
        )


def _leaves(tree: RefutationTree) -> int:
    match tree:
        case RefutedLeaf():
            return 1
        case HoleSplit(_, children):
            return sum(map(_leaves, children))
        case _:
            assert_never(tree)
