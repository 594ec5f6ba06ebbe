"""Random claims about patterns small enough to look at every prompt, and what is true of them."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from random import Random

from circuitproof.circuits.circuit import circuit_of
from circuitproof.circuits.graph import LOGITS, Head
from circuitproof.circuits.readers import reads_prompt
from circuitproof.models.architecture import inverse_root
from circuitproof.programs.text import parse
from circuitproof.proof.claim import Claim
from circuitproof.proof.fold import fold
from circuitproof.proof.properties.equivalence import Equivalence
from circuitproof.proof.properties.invariance import Invariance
from circuitproof.proof.properties.necessity import Necessity
from circuitproof.proof.properties.robustness import Robustness
from circuitproof.proof.regions.robustness import radii
from circuitproof.tasks.alphabet import Vocabulary
from circuitproof.tasks.pattern_text import parse_pattern
from circuitproof.tasks.rules import OnlyOpener, SameOpener
from circuitproof.tasks.task import Task
from hand_models import freeze
from models import random_model, tiny_architecture
from pattern_strategies import all_prompts

SIZES = replace(
    tiny_architecture(), vocabulary=6, width=3, head_width=2, mlp_width=4, attention_scale=inverse_root(2)
)
GRAPH = SIZES.graph
CONDITIONS = (
    "key_token in {0, 1}",
    "key_token == 2",
    "key_position == 1",
    "key_position >= 2",
    "relative_distance <= 1",
    "relative_distance == 1",
    "absolute_distance > 2",
    "query_position == 3",
    "query_token in {3, 4}",
    "token_match",
    "token_match == false",
    "first key_token in {0, 1, 2}",
    "nearest key_token in {0, 3}",
    "last not key_token == 0",
    "key_count {2, 3} up to 2 >= 1",
    "query_count {3} up to 1 == 0",
)
PATTERNS = (
    "any{1..4} with exactly 1 of [0, 1]",
    "any{3} with exactly 1 of [0, 1]",
    "2 any{1..3} with exactly 1 of [0, 1]",
    "[2, 3]* [0, 1] [3, 4]* up to 4 tokens",
    "(2 0 | 3 1) [2, 5]{0..2}",
    "any{2..4} with exactly 1 of [0, 1] and at most 1 of 3 and [0, 1] only at 0..1",
)
PROPERTIES = (Equivalence(), Invariance(), Necessity(), Robustness(Fraction(1, 8)))


def task_of(text, candidates=(0, 1), answers=((0, 0), (1, 1)), vocabulary=6):
    """Return a task on a pattern with two openers."""
    openers = tuple(opener for opener, _ in answers)
    rules = OnlyOpener(tuple(answers)), SameOpener(openers)
    return Task("t", Vocabulary(vocabulary), candidates, parse_pattern(text), *rules)


def random_program(draw):
    """Return a program of up to two rules; rows select, mix, differ by length, or are empty."""
    rules = [
        f"add {draw.choice(('1', '2', '1/2', '3'))} when "
        + " and ".join(draw.sample(CONDITIONS, draw.choice((1, 1, 2))))
        for _ in range(draw.choice((0, 1, 1, 2)))
    ]
    default = f"default {draw.choice(('0', '0', '0', '1', '1/3'))}"
    return parse("\n".join([default, *rules, f"otherwise {draw.choice(('self', 'nowhere'))}"]))


def random_claim(seed, properties=PROPERTIES, sizes=SIZES):
    """Return a claim whose right answers are what the circuit decides on some prompts."""
    return Claim(*_drawn(seed, sizes), properties)


@cache
def _drawn(seed, sizes):
    """Return the model, the circuit and the task of a random claim."""
    draw = Random(seed)  # noqa: S311  # circuits, not secrets
    graph = sizes.graph
    programs = {head: random_program(draw) for layer in range(2) for head in graph.heads_of(layer)}
    frozen = freeze(random_model(sizes, seed, programs))
    edges = list(graph.edges())
    if draw.random() < 0.6:  # most heads hand on to the logits only
        edges = [e for e in edges if e.target == LOGITS or not isinstance(e.source, Head)]
    circuits = (circuit_of(graph, draw.sample(edges, draw.randint(2, 6))).live() for _ in range(1000))
    circuit = next(one for one in circuits if reads_prompt(one, {} if seed % 4 else programs))
    text, candidates = draw.choice(PATTERNS), (0, 1, 2)[: draw.choice((2, 3))]
    first = {}
    for prompt in all_prompts(task_of(text).labelled.machine):
        first.setdefault(next(token for token in prompt if token in (0, 1)), prompt)
    decided = fold(frozen, candidates, [circuit], list(first.values())).of(circuit)
    answers = {opener: candidates[min(one.decision)] for opener, one in zip(first, decided, strict=True)}
    pairs = tuple((opener, answers.get(opener, 0)) for opener in (0, 1))
    return frozen, circuit, task_of(text, candidates, pairs)


def truth(claim, prop):
    """Say whether a property holds, by looking at every prompt."""
    return truths(claim, [prop])[0]


def truths(claim, properties):
    """Say which of some properties hold, by looking at every prompt once."""
    task, circuit = claim.task, claim.circuit
    prompts = all_prompts(task.labelled.machine)
    folded = fold(claim.frozen, task.candidates, [circuit, *circuit.lesions()], prompts)
    labels = [task.labelled.label_of(prompt) for prompt in prompts]
    pairs = list(zip(folded.of(circuit), labels, strict=True))
    return [_holds(claim, prop, pairs, folded) for prop in properties]


def _holds(claim, prop, pairs, folded):
    task, circuit = claim.task, claim.circuit
    match prop:
        case Equivalence():
            return all(one.decision == {task.candidates.index(label.answer)} for one, label in pairs)
        case Invariance():
            groups = {label.group: set() for _, label in pairs}
            for one, label in pairs:
                groups[label.group].add(one.decision)
            return all(len(found) == 1 and len(next(iter(found))) == 1 for found in groups.values())
        case Robustness(epsilon):
            rows = claim.directions()
            return all(one.is_clear and radii([one], rows)[0].exceeds(epsilon) for one, _ in pairs)
        case _:
            return all(
                any(
                    a.is_clear and a.decision != b.decision
                    for (a, _), b in zip(pairs, folded.of(one), strict=True)
                )
                for one in circuit.lesions()
            )
