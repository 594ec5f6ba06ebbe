"""Equivalence, invariance and accuracy on every prompt of a pattern, in enclosed arithmetic."""

from circuitproof_check import accuracy
from circuitproof_check.case import Case
from circuitproof_check.claim import Property
from circuitproof_check.reading import mapping, require
from circuitproof_check.work import NUMBER, OBJECT, paid, spend

from .settle import sums_of
from .tree import PatternLeaf, SettledLeaf, ShownLeaf, TreeReader


def leaves_of(case: Case, evidence: object, claimed: Property) -> list[PatternLeaf]:
    """Return the leaves of the evidence about a property, read once."""
    sums, kind = sums_of(case), claimed.kind
    if kind not in sums.leaves:
        sums.leaves[kind] = TreeReader(case, claimed).read(evidence, sums.area, kind)
    return sums.leaves[kind]


def check_numbers(case: Case, claimed: Property) -> None:
    """Demand that the pattern has as many prompts as are said to be right, and more than are listed."""
    counted, number = claimed.counted, sums_of(case).count
    is_known = max(counted.least, counted.exactly) <= number and len(counted.listed) < number
    require("numbers_of_prompts_are_of_the_pattern", is_known, claimed.kind, number)


def not_refuted(case: Case, evidence: object, claimed: Property) -> None:  # noqa: ARG001  # as other checks
    """Refuse to take necessity for refuted: no evidence shows that."""
    require("necessity_is_not_refuted_by_sums", False, claimed.kind)  # noqa: FBT003  # whatever it says


def proved(case: Case, evidence: object, claimed: Property) -> None:
    """Check that equivalence or invariance holds of every prompt of the pattern."""
    decided: dict[int, int] = {}
    for leaf in paid(leaves_of(case, evidence, claimed), OBJECT):
        if isinstance(leaf, SettledLeaf):
            sums_of(case).settle(leaf)
            found = [(label, leaf.winner) for label in paid(leaf.counts, NUMBER)]
        else:
            wanted = sum(paid(leaf.counts, NUMBER).values())
            require("every_prompt_is_shown", len(leaf.shown) == wanted, leaf.where, len(leaf.shown), wanted)
            task, shown = case.claim.task, _shown(case, leaf)
            found = [((task.answers[one], task.classes[one]), place) for one, place in paid(shown, NUMBER)]
        for (answer, group), place in paid(found, NUMBER):
            decision, first = case.claim.task.candidates[place], decided.setdefault(group, place)
            is_right = claimed.kind != "equivalence" or decision == answer
            require("parts_are_decided_right", is_right, leaf.where, decision, answer)
            is_alike = claimed.kind != "invariance" or place == first
            require("parts_of_a_class_are_decided_alike", is_alike, leaf.where, place, first)


def _shown(case: Case, leaf: ShownLeaf) -> list[tuple[int, int]]:
    """Return the prompts that a leaf shows, each with the place of the candidate that is decided."""
    prompts = [prompt for prompt, _ in paid(leaf.shown, NUMBER)]
    require("shown_prompts_are_distinct", len(set(paid(prompts, NUMBER))) == len(prompts), leaf.where)
    case.prepare(case.claim.edges, prompts=prompts)
    task, found = case.claim.task, list[tuple[int, int]]()
    for prompt, stated in paid(leaf.shown, OBJECT):
        where, label = f"{leaf.where}, prompt {prompt}", (task.answers[prompt], task.classes[prompt])
        is_here = leaf.area.holds(case.claim.prompts[prompt], label)
        require("shown_prompts_are_of_the_area", is_here, where)
        (decision,) = case.decision(stated, prompt, where)
        spend(NUMBER * len(task.candidates))
        found.append((prompt, task.candidates.index(decision)))
    return found


def _counted(case: Case, evidence: object, claimed: Property) -> tuple[int, int, list[int]]:
    """Return how many prompts are shown to be right and not to be, and which of the latter by themselves.

    Of wrong prompts that no leaf names, there is -1 among these.
    """
    right, wrong, listed = 0, 0, list[int]()
    for leaf in paid(leaves_of(case, evidence, claimed), OBJECT):
        if isinstance(leaf, SettledLeaf):
            sums_of(case).settle(leaf)
            decision = case.claim.task.candidates[leaf.winner]
            of_all = sum(paid(leaf.counts, NUMBER).values())
            of_right = sum(count for (answer, _), count in leaf.counts.items() if answer == decision)
            right, wrong = right + of_right, wrong + of_all - of_right
            listed += [-1] if of_right < of_all else []
        else:
            shown, task = _shown(case, leaf), case.claim.task
            missed = [p for p, place in paid(shown, NUMBER) if task.candidates[place] != task.answers[p]]
            right, wrong, listed = right + len(shown) - len(missed), wrong + len(missed), listed + missed
    return right, wrong, listed


def accuracy_proved(case: Case, evidence: object, claimed: Property) -> None:
    """Check that as many prompts are right as is said, or all but the listed ones."""
    where, counted, number = claimed.kind, claimed.counted, sums_of(case).count
    right, wrong, listed = _counted(case, evidence, claimed)
    if counted.least:
        require("enough_prompts_of_the_pattern_are_right", right >= counted.least, where, right)
        return
    require("every_prompt_of_the_pattern_is_counted", right + wrong == number, where, right, wrong, number)
    if counted.exactly:
        require("as_many_prompts_are_right_as_is_said", right == counted.exactly, where, right)
        return
    is_as_listed = tuple(sorted(paid(listed, NUMBER))) == counted.listed
    require("wrong_prompts_of_the_pattern_are_the_listed", is_as_listed, where, listed)


def accuracy_refuted(case: Case, evidence: object, claimed: Property) -> None:
    """Check that too many prompts are right or wrong, or a prompt that is listed and right, or neither."""
    where, counted = claimed.kind, claimed.counted
    least = counted.least or counted.exactly
    if not least:
        accuracy.refuted(case, evidence, claimed)
        return
    right, wrong, _ = _counted(case, evidence, claimed)
    is_over = wrong > sums_of(case).count - least or (counted.exactly and right > counted.exactly)
    require("counts_contradict_what_is_said", is_over, where, right, wrong)


def count_of_shown(case: Case, evidence: object, claimed: Property) -> int:
    """Return how many prompts evidence shows."""
    found = 0
    for leaf in paid(leaves_of(case, evidence, claimed), NUMBER):
        found += len(leaf.shown) if isinstance(leaf, ShownLeaf) else 0
    return found


def is_tree(evidence: object) -> bool:
    """Say whether evidence is a tree over regions, and no replay."""
    return not mapping(evidence, "evidence").keys() & {"replay", "open"}
