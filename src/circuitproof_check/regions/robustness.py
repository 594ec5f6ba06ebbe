"""Robustness: a closed formula where nothing bends after the perturbation, otherwise a tree of regions."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from circuitproof_check.architecture import node_of
from circuitproof_check.case import Case, Fold, check_clear
from circuitproof_check.claim import Property
from circuitproof_check.exact import Vector, from_fractions, mix, reckon, vector
from circuitproof_check.forward import Added, CircuitRun
from circuitproof_check.gates import Leaf
from circuitproof_check.reading import fields, integer, items, mapping, rational, rationals, require
from circuitproof_check.work import NUMBER, STEP, key, spend

from .affine import AffineVector, Columns, SampledRegion, constant, joined, spread
from .forms import BOUNDS, Form, Region, form_of, lowest, union


def proved(case: Case, evidence: object, claimed: Property) -> None:
    """Check that no perturbation of at most ε changes any decision."""
    checked: set[tuple[bytes, int]] = set()
    trees: list[object] = []
    for prompt, where, leaf, (index, spelled) in case.by_prompt(evidence, claimed, claimed.kind):
        fold = case.fold(index, prompt, where)
        check_clear(case.decide(fold), where)
        trees.append({})
        if leaf is Leaf.RADIUS:
            _check_radius(case, fold, spelled, claimed.epsilon, where)
            continue
        setting = _Setting(case, claimed, prompt, fold)
        trees[-1] = _tree_of(spelled, trees, where)
        name = (setting.decisive(), id(trees[-1]))
        if name not in checked:
            _check_tree(setting, trees[-1], Region(claimed.epsilon), where)
        checked.add(name)


def refuted(case: Case, evidence: object, claimed: Property) -> None:
    """Check a perturbation of at most ε after which a decision is another, or none."""
    where = claimed.kind
    prompt, (index, spelled) = case.replay(evidence, claimed, where)
    fold = case.fold(index, prompt, where)
    setting = _Setting(case, claimed, prompt, fold)
    eta = read_eta(spelled, claimed, setting.coordinates, where)
    reckon(eta)
    decision, moved = case.decide(fold), case.decide(setting.logits(eta))
    require("eta_breaks_the_decision", len(decision) > 1 or moved != decision, where, decision)
    require("a_tie_needs_no_eta", len(decision) == 1 or not any(eta), where, decision)


def read_eta(value: object, claimed: Property, count: int, where: str) -> tuple[Fraction, ...]:
    """Read a perturbation of so many coordinates that is within ε."""
    eta = rationals(value, where)
    reckon(eta)
    require("eta_has_an_entry_per_coordinate", len(eta) == count, where, len(eta))
    require("eta_is_within_epsilon", max(map(abs, eta)) <= claimed.epsilon, where, eta, claimed.epsilon)
    return eta


def _check_radius(case: Case, fold: Fold, spelled: object, epsilon: Fraction, where: str) -> None:
    stated, radius = None if spelled == "infinite" else rational(spelled, where), _radius(case, fold)
    require("radius_is_the_radius", stated == radius, where, stated, radius)
    require("radius_exceeds_epsilon", stated is None or stated > epsilon, where, stated, epsilon)


def _radius(case: Case, fold: Fold) -> Fraction | None:
    """Return the least margin over distance of a clear decision, or None where it is infinite."""
    reckon(fold, fold)
    best = fold.index(max(fold))
    leads = [fold[best] - logit for place, logit in enumerate(fold) if place != best]
    apart = distances(case, best)
    return min((lead / far for lead, far in zip(leads, apart, strict=True) if far), default=None)


def distances(case: Case, winner: int) -> list[Fraction]:
    """Return how fast a perturbation of the final residual closes the lead over each other candidate.

    It depends on the winner alone, so it is computed once for each.
    """
    spend(NUMBER)
    if winner not in case.apart:
        case.apart[winner] = _distances(case, winner)
    return case.apart[winner]


def _distances(case: Case, winner: int) -> list[Fraction]:
    rows = [case.forward.output_row(token) for token in case.claim.task.candidates]
    found: list[Fraction] = []
    for other, row in enumerate(rows):
        if other != winner:
            apart = mix([1, -1], [rows[winner], row], case.claim.architecture.width)
            found.append(Fraction(sum(map(abs, apart.numbers)), apart.denominator))
    return found


@dataclass(frozen=True, slots=True)
class _Setting:
    """A prompt and the place where it is perturbed; η has a coordinate per position there and per width."""

    case: Case
    claimed: Property
    prompt: int
    fold: Fold

    @property
    def positions(self) -> tuple[int, ...]:
        claim, chosen = self.case.claim, self.claimed.positions
        if isinstance(chosen, tuple):
            return chosen
        prompt = claim.prompts[self.prompt]
        decided = claim.task.decided(prompt)
        return tuple(range(claim.architecture.reads(decided, prompt))) if chosen == "all" else (decided,)

    @property
    def coordinates(self) -> int:
        """Return how many numbers η has."""
        return len(self.positions) * self.case.claim.architecture.width

    def decisive(self) -> bytes:
        """Return the key of what the logits depend on beside η: the final residual, or the prompt."""
        claim = self.case.claim
        prompt = claim.prompts[self.prompt]
        if self.claimed.at != "logits input" or self.claimed.positions != "last":
            return key(prompt)
        forward = self.case.forward
        terms = CircuitRun(forward, forward.circuit(claim.edges), prompt).residual()
        return joined(terms, claim.architecture.width).constant.key

    def logits(self, eta: Sequence[Fraction]) -> Fold:
        """Return the logits under one perturbation."""
        width = self.case.claim.architecture.width
        added = {
            position: constant(from_fractions(eta[k * width : (k + 1) * width]))
            for k, position in enumerate(self.positions)
        }
        return self._run(added, SampledRegion(Region(Fraction(0)), ())).constant.fractions()

    def margins(self, region: Region, point: tuple[Fraction, ...]) -> list[Form]:
        """Return the winner's logit less each other's, as forms that are right in the region."""
        width = self.case.claim.architecture.width
        spend(2 * NUMBER * self.coordinates)
        nothing, units = vector([0] * width), [_unit(place, width) for place in range(width)]
        added = {
            position: AffineVector(nothing, {k * width + place: units[place] for place in range(width)})
            for k, position in enumerate(self.positions)
        }
        logits = self._run(added, SampledRegion(region, point))
        reckon(self.fold)
        columns, best = Columns(logits), self.fold.index(max(self.fold))
        lead, *others = columns.entries[best], *columns.entries[:best], *columns.entries[best + 1 :]
        margins = ([a - b for a, b in zip(lead, other, strict=True)] for other in others)
        return [lowest(spread(margin, columns.slopes, self.coordinates)) for margin in margins]

    def _run(self, added: dict[int, AffineVector], sampled: SampledRegion) -> AffineVector:
        claim = self.case.claim
        name, _, side = self.claimed.at.rpartition(" ")
        node = node_of(name, claim.architecture)
        assert node is not None  # noqa: S101  # a claim's places are sides of nodes
        place = Added(node, side == "output", added, sampled)
        prompt = claim.prompts[self.prompt]
        forward = self.case.forward
        return CircuitRun(forward, forward.circuit(claim.edges), prompt, place).logits()


def _unit(place: int, width: int) -> Vector:
    spend(STEP * width)
    return vector([int(place == other) for other in range(width)])


def _tree_of(spelled: object, earlier: Sequence[object], where: str) -> object:
    """Return a tree of regions, or that of an earlier prompt which is named instead."""
    if "as prompt" not in mapping(spelled, where):
        return spelled
    (number,) = fields(spelled, where, "as prompt")
    return earlier[integer(number, f"{where}: as prompt", 0, len(earlier) - 2)]


def _check_tree(setting: _Setting, tree: object, region: Region, where: str) -> None:
    """Check that the decision is kept in a region: in every part of it, or in it as a whole."""
    spend(NUMBER * setting.coordinates)
    content = mapping(tree, where)
    if "sign" in content:
        entries, children = fields(tree, where, "sign", "children")
        numbers = rationals(entries, where)
        wanted = setting.coordinates + 1
        require("signs_are_of_forms_in_eta", len(numbers) == wanted, where, len(numbers), wanted)
        form, parts = form_of(numbers), mapping(children, where)
        require("bounds_are_known", parts.keys() <= BOUNDS.keys(), where, list(parts))
        is_covered = region.signs(form) <= union(BOUNDS[name] for name in parts)
        require("children_leave_no_sign_out", is_covered, where, list(parts))
        for name, child in parts.items():
            _check_tree(setting, child, region.within(form, BOUNDS[name]), f"{where}, {name}")
    elif "void" in content:
        (weights,) = fields(tree, where, "void")
        nothing = (0,) * (setting.coordinates + 1)
        is_void = region.shows_positive(nothing, _read_weights(weights, region, where))
        require("void_regions_are_empty", is_void, where)
    else:
        _check_kept(setting, tree, region, where)


def _check_kept(setting: _Setting, tree: object, region: Region, where: str) -> None:
    spelled, rows = fields(tree, where, "point", "weights")
    point, weights = rationals(spelled, where), items(rows, where)
    require("points_have_an_entry_per_coordinate", len(point) == setting.coordinates, where, len(point))
    margins = setting.margins(region, point)
    require("competitors_have_weights", len(weights) == len(margins), where, len(weights), len(margins))
    for margin, row in zip(margins, weights, strict=False):
        is_kept = region.shows_positive(margin, _read_weights(row, region, where))
        require("margins_stay_positive", is_kept, where)


def _read_weights(value: object, region: Region, where: str) -> tuple[Fraction, ...]:
    weights, equalities = rationals(value, where), region.may_be_negative()
    require("bounds_have_weights", len(weights) == len(equalities), where, len(weights), len(equalities))
    spend(NUMBER * len(weights))
    pairs = zip(weights, equalities, strict=False)
    is_allowed = all(weight >= 0 or is_equality for weight, is_equality in pairs)
    require("weights_of_inequalities_are_not_negative", is_allowed, where, weights)
    return weights
