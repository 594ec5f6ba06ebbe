"""Forgeries of claims about patterns for softmax heads, each of which only one rule stops."""

from collections.abc import Callable
from typing import Any

from bundle_maker import Bundle
from softmax_pattern_claims import Prompt, SoftmaxPattern, split

FORGED: dict[str, Callable[[], Bundle]] = {}
"""The rule that each forgery breaks."""
REFUTING = {"counts_contradict_what_is_said", "necessity_is_not_refuted_by_sums"}
STOPPING = {
    "parts_cover_a_range",
    "parts_of_sums_are_by_known_questions",
    "positions_of_parts_are_in_every_prompt",
    "logits_read_local_nodes_and_summed_heads",
    "divided_heads_are_summed",
}
"""Rules without which there is nothing to look up, or a division that is none."""
SHORT: dict[str, Any] = {
    "shape": {"repeat": {"all but": []}, "least": 1, "most": 2},
    "clauses": [{"of": {"tokens": [0, 2]}, "least": 1, "most": 1}],
    "longest": 2,
}
Evidence = dict[str, Any]
_SEEDS: dict[str, int] = {}
"""Of what was searched for."""


def forged(rule: str) -> Callable[[Callable[[], Bundle]], Callable[[], Bundle]]:
    """Enter a function that makes a bundle that breaks a rule."""

    def enter(make: Callable[[], Bundle]) -> Callable[[], Bundle]:
        FORGED[rule] = make
        return make

    return enter


def suiting(is_suitable: Callable[[SoftmaxPattern], bool], **options: Any) -> SoftmaxPattern:
    """Return the first random bundle about short prompts for which something holds."""
    name = repr((is_suitable.__qualname__, sorted(options.items())))
    if name not in _SEEDS:
        made = ((seed, SoftmaxPattern(seed, pattern=SHORT, **options)) for seed in range(500))
        _SEEDS[name] = next(seed for seed, one in made if is_suitable(one))
    return SoftmaxPattern(_SEEDS[name], pattern=SHORT, **options)


def is_uniform(made: SoftmaxPattern) -> bool:
    """Say whether the circuit decides by the opener, and leaves show it without cuts."""
    parts = [of(made, opener) for opener, _ in made.pairs]
    is_right = all(map(made.is_right, made.prompts)) and made.pairs[0][1] != made.pairs[1][1]
    return is_right and all(set(made.settled(part) or ()) == {"decided"} for part in parts)


def has_errors(made: SoftmaxPattern) -> bool:
    """Say whether some prompts are right, some are not, and all are known."""
    return 1 < made.right() < len(made.prompts) - 1 and None not in map(made.decision, made.prompts)


def of(made: SoftmaxPattern, opener: int) -> list[Prompt]:
    """Return the prompts with an opener."""
    return [prompt for prompt in made.prompts if opener in prompt]


def by_label(made: SoftmaxPattern, evidence: Callable[[list[Prompt]], Any]) -> Evidence:
    """Return a split by label, with evidence about the prompts of each."""
    children = [{"answer": a, "class": o, "evidence": evidence(of(made, o))} for o, a in made.pairs]
    return split("label", children)


def by_length(prompts: list[Prompt], evidence: Callable[[list[Prompt]], Any]) -> Evidence:
    """Return a split by length."""
    lengths = sorted({len(prompt) for prompt in prompts})
    parts = [[prompt for prompt in prompts if len(prompt) == n] for n in lengths]
    children = [{"length": n, "evidence": evidence(part)} for n, part in zip(lengths, parts, strict=True)]
    return split("length", children)


def by_first(prompts: list[Prompt], evidence: Callable[[list[Prompt]], Any]) -> Evidence:
    """Return a split by the first token."""
    tokens = sorted({prompt[0] for prompt in prompts})
    parts = [[prompt for prompt in prompts if prompt[0] == k] for k in tokens]
    pairs = zip(tokens, parts, strict=True)
    children = [{"class": {"tokens": [k]}, "evidence": evidence(part)} for k, part in pairs]
    return split("token", children) | {"position": 0}


def honest() -> Bundle:
    """Return a proof that holds."""
    return equivalent(by_label)


def equivalent(make: Callable[[SoftmaxPattern, Callable[[list[Prompt]], Any]], Any]) -> Bundle:
    """Return a claim of equivalence with a tree whose leaves say what is decided."""
    made = suiting(is_uniform, loudness=8)
    made.answer({"kind": "equivalence"}, "proved", make(made, made.settled))
    return made.sealed()


def counted(make: Callable[[SoftmaxPattern], Any], **said: Any) -> Bundle:
    """Return a claim of accuracy of a circuit that is always right, with a tree."""
    made = suiting(is_uniform, loudness=8)
    return made.accuracy(evidence=make(made), **said or {"exactly": str(len(made.prompts))}).sealed()


def cut(cuts: Callable[[int, int], Any]) -> Bundle:
    """Return a claim of accuracy whose first leaf has cuts, by its winner and another candidate."""

    def make(made: SoftmaxPattern) -> Evidence:
        tree = by_label(made, made.settled)
        leaf = tree["children"][0]["evidence"]
        other = next(place for place in range(3) if place != leaf["decided"])
        leaf["cuts"] = cuts(leaf["decided"], other)
        return tree

    return counted(make)


def divided(at: list[int], parts: int, head: str = "0.0") -> Bundle:
    """Return the same with a cut that divides what a head adds."""
    tree = {"head": head, "at": at, "parts": [[1, 0]] * parts}
    return cut(lambda _, other: [{"over": [other], "tree": tree}])


def first(made: SoftmaxPattern, change: Callable[[Evidence], Any]) -> Evidence:
    """Return a split by label whose children are changed."""
    tree = by_label(made, made.settled)
    change(tree)
    return tree


forged("cuts_cut_something")(lambda: cut(lambda *_: []))
forged("cuts_are_about_candidates")(lambda: cut(lambda _, t: [{"over": [t, 3], "tree": [1, 0]}]))
forged("cuts_are_about_each_other_candidate_once")(
    lambda: cut(lambda y, t: [{"over": [t, y], "tree": [1, 0]}])
)
forged("weights_are_of_the_summed_heads")(lambda: cut(lambda _, t: [{"over": [t], "tree": [1, 0, 1]}]))
forged("parts_of_a_range_increase")(lambda: divided([0, 0], 3))
forged("parts_cover_a_range")(lambda: divided([0], 1))
forged("divided_heads_are_summed")(lambda: divided([0], 2, "0.7"))


@forged("cuts_nest_little")
def _nested() -> Bundle:
    tree: Any = [1, 0]
    for _ in range(65):
        tree = {"head": "0.0", "at": [0], "parts": [tree, [1, 0]]}
    return cut(lambda _, other: [{"over": [other], "tree": tree}])


@forged("parts_of_sums_are_by_known_questions")
def _by_key() -> Bundle:
    return counted(lambda made: by_label(made, made.settled) | {"split": "key"})


@forged("leaves_have_prompts")
def _of_nothing() -> Bundle:
    child = {"answer": 1, "class": 4, "evidence": {"decided": 0}}
    return counted(lambda made: first(made, lambda tree: tree["children"].append(child)))


@forged("labels_are_asked_once")
def _asked_again() -> Bundle:
    def change(tree: Evidence) -> None:
        child = tree["children"][0]
        child["evidence"] = split("label", [dict(child)])

    return counted(lambda made: first(made, change))


@forged("labels_of_parts_are_distinct")
def _label_twice() -> Bundle:
    return counted(lambda made: first(made, lambda tree: tree["children"].append(tree["children"][0])))


@forged("labels_of_parts_exhaust_the_area")
def _label_left_out() -> Bundle:
    def make(made: SoftmaxPattern, evidence: Callable[[list[Prompt]], Any]) -> Evidence:
        tree = by_label(made, evidence)
        tree["children"].pop()
        return tree

    return equivalent(make)


def _within(make: Callable[[list[Prompt], Callable[[list[Prompt]], Any]], Any]) -> Callable[..., Evidence]:
    """Return what makes a split by label with splits of one kind in it."""
    return lambda made, evidence: by_label(made, lambda part: make(part, evidence))


@forged("lengths_are_asked_once")
def _length_again() -> Bundle:
    return equivalent(_within(lambda part, leaf: by_length(part, lambda inner: by_length(inner, leaf))))


@forged("lengths_of_parts_are_distinct")
def _length_twice() -> Bundle:
    def make(part: list[Prompt], leaf: Callable[[list[Prompt]], Any]) -> Evidence:
        tree = by_length(part, leaf)
        return tree | {"children": [*tree["children"], tree["children"][0]]}

    return equivalent(_within(make))


@forged("lengths_of_parts_exhaust_the_area")
def _length_left_out() -> Bundle:
    def make(part: list[Prompt], leaf: Callable[[list[Prompt]], Any]) -> Evidence:
        tree = by_length(part, leaf)
        return tree | {"children": tree["children"][1:]}

    return equivalent(_within(make))


@forged("tokens_of_parts_exhaust_the_area")
def _token_left_out() -> Bundle:
    def make(part: list[Prompt], leaf: Callable[[list[Prompt]], Any]) -> Evidence:
        tree = by_first(part, leaf)
        return tree | {"children": tree["children"][1:]}

    return equivalent(_within(make))


@forged("tokens_have_one_part")
def _token_twice() -> Bundle:
    """Return a claim that counts some right prompts twice."""
    made = suiting(has_errors)

    def make(part: list[Prompt]) -> Evidence:
        tree = by_first(part, made.shown)
        return tree | {"children": [*tree["children"], tree["children"][0]]}

    evidence = by_label(made, make)
    twice = [p for o, _ in made.pairs for p in of(made, o) if p[0] == min(q[0] for q in of(made, o))]
    right = made.right() + sum(map(made.is_right, twice))
    return made.accuracy(evidence=evidence, least=str(min(right, len(made.prompts)))).sealed()


@forged("positions_of_parts_are_in_every_prompt")
def _later_position() -> Bundle:
    return equivalent(_within(lambda part, leaf: by_first(part, leaf) | {"position": 1}))


@forged("logits_read_local_nodes_and_summed_heads")
def _through_an_mlp() -> Bundle:
    edges = ["embed -> head 0.0", "embed -> logits", "head 0.0 -> mlp 0", "mlp 0 -> logits"]
    made = suiting(lambda made: made.right() > 0, edges=edges)
    return made.accuracy(evidence={"decided": 0}, least="1").sealed()


@forged("precision_is_enough_for_scores")
def _swallowed() -> Bundle:
    """Return a claim of a circuit that a bias decides, with queries that are far too long."""
    made = SoftmaxPattern(0, pattern=SHORT, p=16)
    shape, numbers = made.bundle.tensors["head.0.0.query.weight"]
    made.bundle.tensors["head.0.0.query.weight"] = shape, [one * 1e6 for one in numbers]
    shape, numbers = made.bundle.tensors["logits.bias"]
    made.bundle.tensors["logits.bias"] = shape, [1e6 if k == 1 else 0.0 for k in range(len(numbers))]
    made.pairs = [[opener, 1] for opener, _ in made.pairs]
    return made.accuracy(evidence={"decided": 0}, exactly=str(len(made.prompts))).sealed()


@forged("leads_are_shown_on_every_prompt")
def _flipped() -> Bundle:
    """Return a claim that takes prompts for right that are not."""
    made = suiting(has_errors)
    evidence = by_label(made, lambda part: {"decided": made.candidates.index(made.label(part[0])[0])})
    return made.accuracy(evidence=evidence, exactly=str(len(made.prompts))).sealed()


@forged("necessity_is_not_refuted_by_sums")
def _idle_edge() -> Bundle:
    made = suiting(is_uniform, loudness=8)
    evidence = {"edge": 0, "evidence": by_label(made, made.settled)}
    made.answer({"kind": "necessity"}, "refuted", evidence)
    return made.sealed()


@forged("every_prompt_is_shown")
def _prompt_left_out() -> Bundle:
    made = suiting(is_uniform, loudness=8)
    made.answer({"kind": "equivalence"}, "proved", by_label(made, lambda part: made.shown(part[1:])))
    return made.sealed()


@forged("parts_are_decided_right")
def _other_answers() -> Bundle:
    made = suiting(is_uniform, loudness=8)
    (one, a), (other, b) = made.pairs
    made.pairs = [[one, b], [other, a]]
    made.answer({"kind": "equivalence"}, "proved", by_label(made, made.settled))
    return made.sealed()


@forged("parts_of_a_class_are_decided_alike")
def _two_decisions() -> Bundle:
    made = suiting(has_errors)
    made.answer({"kind": "invariance"}, "proved", by_label(made, made.shown))
    return made.sealed()


@forged("shown_prompts_are_distinct")
def _shown_twice() -> Bundle:
    made = suiting(has_errors)
    evidence = by_label(made, made.shown)
    entries = evidence["children"][0]["evidence"]["prompts"]
    right = next(one for one in entries if made.is_right(tuple(made.bundle.domain["prompts"][one["prompt"]])))
    entries.append(right)
    return made.accuracy(evidence=evidence, least=str(made.right() + 1)).sealed()


@forged("shown_prompts_are_of_the_area")
def _shown_elsewhere() -> Bundle:
    made = suiting(has_errors)
    evidence = by_label(made, made.shown)
    right = [prompt for prompt in of(made, made.pairs[1][0]) if made.is_right(prompt)]
    evidence["children"][0]["evidence"]["prompts"] += made.shown(right[:1])["prompts"]
    return made.accuracy(evidence=evidence, least=str(made.right() + 1)).sealed()


def _said(**said: Callable[[SoftmaxPattern], Any]) -> Bundle:
    """Return a claim of accuracy with evidence of each prompt, and what is said by what is true."""
    made = suiting(has_errors)
    evidence = by_label(made, made.shown)
    return made.accuracy(evidence=evidence, **{name: say(made) for name, say in said.items()}).sealed()


def errors(made: SoftmaxPattern) -> list[int]:
    """Return the numbers of the prompts that are not right."""
    return sorted(made.show(prompt) for prompt in made.prompts if not made.is_right(prompt))


forged("numbers_of_prompts_are_decimal")(lambda: _said(least=lambda made: f"0{made.right()}"))
forged("enough_prompts_of_the_pattern_are_right")(lambda: _said(least=lambda made: str(made.right() + 1)))
forged("as_many_prompts_are_right_as_is_said")(lambda: _said(exactly=lambda made: str(made.right() - 1)))
forged("wrong_prompts_of_the_pattern_are_the_listed")(lambda: _said(wrong=lambda made: errors(made)[1:]))


@forged("every_prompt_of_the_pattern_is_counted")
def _uncounted() -> Bundle:
    """Return a claim that counts only the right prompts."""
    made = suiting(has_errors)

    def right(part: list[Prompt]) -> Evidence:
        return made.shown([prompt for prompt in part if made.is_right(prompt)])

    return made.accuracy(evidence=by_label(made, right), exactly=str(made.right())).sealed()


@forged("counts_contradict_what_is_said")
def _true_after_all() -> Bundle:
    made = suiting(has_errors)
    evidence = by_label(made, made.shown)
    return made.accuracy("refuted", evidence=evidence, exactly=str(made.right())).sealed()


@forged("numbers_of_prompts_are_of_the_pattern")
def _more_than_there_are() -> Bundle:
    made = suiting(has_errors)
    said = str(len(made.prompts) + 1)
    return made.accuracy("undecided", evidence={"open": "no time"}, least=said).sealed()
