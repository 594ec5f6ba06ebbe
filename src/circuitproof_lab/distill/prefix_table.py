"""The prefixes on which programs are compared: every pair of a query and a causal key in some prompts.

What a program says at a query depends on the prompt up to the query alone, so queries with the same *prefix*
are one column. Rows of weights are arrays [key, prefix], padded with zeros below the prefix's length.
"""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from math import lcm

import numpy as np
import numpy.typing as npt

from circuitproof.errors import InputError
from circuitproof.programs.meaning import AttentionRow, row
from circuitproof.programs.syntax import Formula, Otherwise, Program, Rule
from circuitproof.tasks.domain import Prompt, by_length

ByteRows = npt.NDArray[np.uint8]

LARGEST = 255
"""Weights are counted in bytes."""


class PrefixTable:
    """The distinct prefixes of prompts, in order of appearance, and how many queries have each."""

    def __init__(self, prompts: tuple[Prompt, ...]) -> None:
        counted = Counter(seen for prompt in dict.fromkeys(prompts) for seen in _prefixes(prompt))
        self.prompts, self.prefixes = prompts, tuple(counted)
        self.queries: npt.NDArray[np.int64] = np.array(list(counted.values()))
        """How many queries of the prompts have each prefix."""
        self.longest = max(map(len, counted))

    def columns(self) -> dict[Prompt, int]:
        return {prefix: column for column, prefix in enumerate(self.prefixes)}

    def groups(self) -> Iterator[tuple[list[Prompt], npt.NDArray[np.int64]]]:
        """Yield the prompts of each length with the column of each of their queries, [prompt, query]."""
        columns = self.columns()
        for places in by_length(self.prompts).values():
            prompts = [self.prompts[place] for place in places]
            yield prompts, np.array([[columns[seen] for seen in _prefixes(prompt)] for prompt in prompts])

    def own(self) -> ByteRows:
        """Return the row of each query that attends to itself alone."""
        rows = self.nothing()
        rows[[len(prefix) - 1 for prefix in self.prefixes], np.arange(len(self.prefixes))] = 1
        return rows

    def nothing(self) -> ByteRows:
        """Return rows without weight."""
        return np.zeros((self.longest, len(self.prefixes)), dtype=np.uint8)

    def causal(self) -> ByteRows:
        """Return 1 at every causal key."""
        rows = self.nothing()
        for column, prefix in enumerate(self.prefixes):
            rows[: len(prefix), column] = 1
        return rows

    def mask(self, formula: Formula) -> ByteRows:
        """Return 1 where a formula holds and 0 elsewhere."""
        rule = Rule(Fraction(1), (formula,))
        return (self.rows(Program(Fraction(0), (rule,), Otherwise.NOWHERE)) > 0).astype(np.uint8)

    def rows(self, program: Program) -> ByteRows:
        """Return the exact rows of a program as the smallest whole numbers in the same proportion."""
        rows = self.nothing()
        for column, prefix in enumerate(self.prefixes):
            for key, number in whole_numbers(row(program, prefix, len(prefix) - 1)):
                if number > LARGEST:
                    raise InputError(f"a program's weights are as {number} to 1; want at most {LARGEST} to 1")
                rows[key, column] = number
        return rows


def _prefixes(prompt: Prompt) -> list[Prompt]:
    return [prompt[: place + 1] for place in range(len(prompt))]


def whole_numbers(weights: AttentionRow) -> list[tuple[int, int]]:
    """Return the smallest whole numbers in the proportion of some weights.

    >>> whole_numbers(((0, Fraction(1, 3)), (2, Fraction(2, 3))))
    [(0, 1), (2, 2)]
    """
    common = lcm(*(weight.denominator for _, weight in weights))
    return [(key, int(weight * common)) for key, weight in weights]
