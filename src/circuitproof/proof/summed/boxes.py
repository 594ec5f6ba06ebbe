"""Closing questions: by plain weights, and where heads add up, by weights that are searched for, box by box.

Whether weights close a box is decided by `leads`, never here; what is guessed here is only what to try.
"""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from circuitproof.proof.effort import Pace
from circuitproof.proof.evidence import BoxWeights, CutTree, RatioCut
from circuitproof.proof.summed.lattice import TokenMask
from circuitproof.proof.summed.leads import LeadQuestions, Leads
from circuitproof.proof.summed.tables import Bools, FloatArray
from circuitproof.tasks.domain import Prompt

_ROUNDS = 10
"""How often weights are corrected by the prompt that they overlook, before a box is cut."""
_LARGEST = 32
"""Weights are integers up to this."""
_CUT_UNIT = 2.0**16
_MOST_BOXES = 100
"""So many boxes of one question are looked at: of those that close, hardly any takes more than a dozen."""


@dataclass(frozen=True, slots=True, eq=False)
class BoxAnswers:
    """Questions about a region, which are open, and the trees of those that plain weights do not close."""

    questions: LeadQuestions
    open: Bools
    trees: dict[int, CutTree] = field(default_factory=dict[int, CutTree])
    weights: FloatArray | None = None
    """What was tried last in the first boxes."""
    broken: dict[int, Prompt] = field(default_factory=dict[int, Prompt])
    """Prompts on which open questions seem to have the wrong answer."""

    def open_queries(self) -> set[int]:
        return {int(query) for query in self.questions.queries[self.open]}

    def cut_queries(self) -> set[int]:
        """Return the last tokens, by place, of questions that plain weights do not close."""
        return {int(self.questions.queries[row]) for row in self.trees}

    def cuts(self, query: int) -> tuple[tuple[tuple[int, ...], CutTree], ...]:
        """Return the trees of a last token, each with its rivals."""
        found: dict[CutTree, list[int]] = {}
        for row, tree in self.trees.items():
            if self.questions.queries[row] == query:
                found.setdefault(tree, []).append(int(self.questions.rivals[row]))
        return tuple((tuple(rivals), tree) for tree, rivals in found.items())

    def worst(self, leads: Leads) -> Prompt:
        """Return a prompt on which an open question has, or is near to, the wrong answer."""
        if self.broken:
            return next(iter(self.broken.values()))
        left, weights = self._left(leads)
        return leads.worst(left, weights, int(np.argmin(leads.values(left, weights))))

    def bad_tokens(self, leads: Leads) -> list[TokenMask]:
        """Return for each position the tokens of prompts that weights overlook."""
        return leads.bad_tokens(*self._left(leads))

    def _left(self, leads: Leads) -> tuple[LeadQuestions, FloatArray]:
        weights = leads.plain_weights(self.questions) if self.weights is None else self.weights
        return self.questions[self.open], weights[self.open]


def shown(leads: Leads, pace: Pace) -> BoxAnswers:
    """Return which questions about a region are closed, and how."""
    questions = leads.all_questions()
    is_closed = leads.closed(questions, leads.plain_weights(questions))
    if is_closed.all() or leads.heads <= 1:
        return BoxAnswers(questions, ~is_closed)
    return _BoxSearch(leads, questions, is_closed, pace).run()


@dataclass(slots=True)
class _Box:
    """A part of a question's first box: closed by weights, or cut in two."""

    row: int
    weights: tuple[int, ...] | None = None
    head: int = 0
    at: int = 0
    parts: "tuple[_Box, _Box] | None" = None

    def tree(self, leads: Leads) -> CutTree:
        if self.parts is None:
            assert self.weights is not None  # noqa: S101  # boxes of closed questions are closed
            return BoxWeights(self.weights)
        below, above = (part.tree(leads) for part in self.parts)
        return RatioCut(leads.head(self.head), (self.at,), (below, above))


@dataclass(eq=False)
class _BoxSearch:
    """Looks at all open boxes of a region at once, layer after layer of cuts."""

    leads: Leads
    questions: LeadQuestions
    is_closed: Bools
    pace: Pace
    broken: dict[int, Prompt] = field(default_factory=dict[int, Prompt])
    given_up: set[int] = field(default_factory=set[int])
    seen: Counter[int] = field(default_factory=Counter[int])
    """How many boxes of each question were looked at."""

    def run(self) -> BoxAnswers:
        rows = np.flatnonzero(~self.is_closed)
        roots = [_Box(int(row)) for row in rows]
        boxes, questions = roots, self.questions[rows]
        weights = self.leads.plain_weights(questions)
        first = self.leads.plain_weights(self.questions)
        while boxes:
            weights = self._closed(boxes, questions, weights)
            if boxes is roots:
                first[rows] = weights
            boxes, questions, weights = self._cut(boxes, questions, weights)
        is_open = ~self.is_closed
        for root in roots:
            is_open[root.row] = root.row in self.given_up
        trees = {root.row: root.tree(self.leads) for root in roots if not is_open[root.row]}
        return BoxAnswers(self.questions, is_open, trees, first, self.broken)

    def _closed(self, boxes: list[_Box], questions: LeadQuestions, weights: FloatArray) -> FloatArray:
        """Try weights on boxes, and correct them by the prompts that they overlook; return the last ones."""
        left, current = np.arange(len(boxes)), weights.copy()
        for _ in range(_ROUNDS):
            tried = _whole(current[left])
            found = self.leads.closed(questions[left], tried)
            for place, numbers in zip(left[found], tried[found], strict=True):
                boxes[place].weights = tuple(int(number) for number in numbers)
            left, tried = left[~found], tried[~found]
            if not len(left):
                break
            prompts, sums, leads = self.leads.overlooked(questions[left], tried)
            for place in np.flatnonzero(leads <= 0).tolist():
                row = boxes[int(left[place])].row
                self.broken.setdefault(row, tuple(map(int, prompts[place])))
                self.given_up.add(row)
            largest = np.abs(sums).max(axis=1, keepdims=True)
            moved = tried / tried.max(axis=1, keepdims=True) + sums / np.where(largest > 0, largest, 1.0)
            current[left] = np.maximum(moved, 0.0)
            is_apart = (sums > 0).any(axis=1)  # else the prompt is in the box, and no weights will do
            tried_on: list[int] = left.tolist()
            going = np.array([boxes[place].row not in self.given_up for place in tried_on], dtype=bool)
            left = left[going & is_apart]
        return current

    def _cut(
        self, boxes: list[_Box], questions: LeadQuestions, weights: FloatArray
    ) -> tuple[list[_Box], LeadQuestions, FloatArray]:
        """Cut what is open where a head adds the most different numbers."""
        seen = Counter(box.row for box in boxes)
        self.seen.update(seen)
        self.given_up.update(row for row in seen if self.pace.is_over or self.seen[row] > _MOST_BOXES)
        left = [
            place for place, box in enumerate(boxes) if box.weights is None and box.row not in self.given_up
        ]
        upper = self.leads.limits(questions)
        new = list[_Box]()
        rows = np.repeat(np.array(left, dtype=np.int64), 2)
        low, high = questions.low[rows], questions.high[rows]
        for count, place in enumerate(left):
            box, spread = boxes[place], upper[place] - questions.low[place]
            box.head = int(np.argmax(spread))
            middle = (upper[place, box.head] + questions.low[place, box.head]) / 2
            box.at = round(middle * _CUT_UNIT)
            high[2 * count, box.head] = min(high[2 * count, box.head], box.at / _CUT_UNIT)
            low[2 * count + 1, box.head] = max(low[2 * count + 1, box.head], box.at / _CUT_UNIT)
            box.parts = (_Box(box.row), _Box(box.row))
            new += box.parts
        return new, LeadQuestions(questions.queries[rows], questions.rivals[rows], low, high), weights[rows]


def _whole(weights: FloatArray) -> FloatArray:
    """Return weights as integers, at least one of which is not zero."""
    largest = weights.max(axis=1, keepdims=True)
    scaled = np.rint(weights / np.where(largest > 0, largest, 1.0) * _LARGEST)
    common: npt.NDArray[np.int64] = np.gcd.reduce(scaled.astype(np.int64), axis=1)[:, None]
    return np.where(common > 0, scaled / np.maximum(common, 1), 1.0)
