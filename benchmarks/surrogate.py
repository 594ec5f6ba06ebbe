"""Proving a program equal to a surrogate, by going through all words and by solvers; and searching a family.

The surrogate counts brackets and is fitted anew for each length. The second table refutes every program of
a template for a teacher that none of them computes: by the tree of partial programs, and one by one.
"""

import time
from collections.abc import Callable

import numpy as np
from safetensors.torch import load

from circuitproof.solvers.cvc5 import Cvc5
from circuitproof.solvers.results import Unsatisfiable
from circuitproof.solvers.z3 import Z3
from circuitproof.tasks.alphabet import Alphabet
from circuitproof_lab.surrogate.equivalence import enumerate_words
from circuitproof_lab.surrogate.fitting import Fitting, exact_network, fit_network
from circuitproof_lab.surrogate.machines import TEMPLATES, ladder
from circuitproof_lab.surrogate.queries import disagreement, symbols
from circuitproof_lab.surrogate.refutation import MOST_MEANINGS, list_meanings
from circuitproof_lab.surrogate.registers import Counter
from circuitproof_lab.surrogate.relation import Relation
from circuitproof_lab.surrogate.synthesis import Exhausted, synthesise
from circuitproof_lab.surrogate.template import FilledTemplate, Signature
from circuitproof_lab.surrogate.words import Word, Words
from surrogate_twin import count_programs, relation_of
from timing import print_table

TOKENS, ANSWERS = Alphabet(("[", "]", "x")), Alphabet(("x", "]", "]]"))
COUNT = {"on [": "up", "on ]": "down", "on x": "stay", "thresholds": "1 2"}
LEVELS = {"level 0": "x", "level 1": "]", "level 2": "]]"}
SECONDS = 120


def timed(work: Callable[[], object]) -> tuple[object, str]:
    """Return what `work` gives and how long it took."""
    start = time.perf_counter()
    found = work()
    return found, f"{time.perf_counter() - start:.3f}"


def equivalence_row(longest: int) -> tuple[str, ...]:
    """Prove the counter equal to its surrogate on words up to a length, in three ways."""
    words = Words(TOKENS, 1, longest)
    automaton = FilledTemplate(Counter(2), Signature(words, ANSWERS), {**COUNT, **LEVELS}).automaton
    relation = relation_of("brackets", words, ANSWERS, automaton.answer)
    fitted = fit_network(relation, Fitting(hidden=(32,), steps=4000, learning_rate=0.01, attempts=5, seed=7))
    network = exact_network(fitted.shape, load(fitted.weights))
    text = disagreement(automaton, network)
    row = [
        f"{longest}",
        f"{len(words)}",
        f"{len(text)}",
        timed(lambda: enumerate_words(automaton, network))[1],
    ]
    for solver in (Z3(), Cvc5()):
        found, seconds = timed(lambda solver=solver: solver.solve(text, symbols(words), SECONDS))
        row.append(seconds if found == Unsatisfiable() else "no answer")
    return tuple(row)


def palindromes() -> Relation:
    """Return a teacher that no small machine computes."""
    words = Words(TOKENS, 1, 5)
    return relation_of("palindromes", words, ANSWERS, lambda word: 2 * (word == word[::-1]))


def family_rows(relation: Relation) -> list[tuple[str, ...]]:
    """Refute each template by its tree and, where they are few enough, program by program."""
    words, signature = relation.words, relation.signature
    taught = np.array(relation.decided)

    def oracle(program: FilledTemplate) -> Word | None:
        wrong = np.flatnonzero(program.automaton.row(words) != taught)
        return words.word(int(wrong[0])) if wrong.size else None

    rows: list[tuple[str, ...]] = []
    for template in ladder(TEMPLATES, signature):
        found, seconds = timed(lambda template=template: synthesise(relation, oracle, [template]).exhausted)
        assert isinstance(found, tuple)  # noqa: S101  # what `synthesise` returns
        assert isinstance(found[0], Exhausted)  # noqa: S101  # the same
        programs, naive = count_programs(template, signature), ""
        if programs <= MOST_MEANINGS:
            naive = timed(lambda template=template: list_meanings(template, relation))[1]
        rows.append((template.name, f"{programs}", seconds, naive))
    return rows


def main() -> None:
    """Print both tables."""
    columns = ("longest", "words", "SMT-LIB bytes", "enumeration s", "z3 s", "cvc5 s")
    print_table(
        "counter = surrogate, proved", columns, [equivalence_row(longest) for longest in (3, 4, 5, 6)]
    )
    columns = ("template", "programs", "tree s", "one by one s")
    print_table("no program is the teacher", columns, family_rows(palindromes()))


if __name__ == "__main__":
    main()
