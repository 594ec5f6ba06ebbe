"""The oracle's reading of claims of enclosed arithmetic: real numbers of eighty digits, node by node.

Models here are tiny, so that rounding reaches none of the first sixty digits. A lead below 10^-30 is called
unclear, and where a verdict depends on one the oracle says nothing.
"""

import random
from fractions import Fraction
from itertools import accumulate

import mpmath

from bundle_maker import every_edge
from bundle_twin import ZERO, Carried, Run, Statement, check_listed, dot, is_true, keys_of
from condition_twin import ForbiddenError, demand

DIGITS = 80
LEAST = mpmath.mpf(10) ** -30
MEASURES = ("loss", "logit difference", "recovered difference")
A, C = Fraction("0.044715"), Fraction("0.7978845608028654")


class UnclearError(Exception):
    """A decision is too near to another for eighty digits."""


def real(number):
    """Return a number of mpmath."""
    return mpmath.mpmathify(number)


class RealCarried(Carried):
    """What cut edges carry, of a whole model of real numbers."""

    def __init__(self, model, ablation):
        super().__init__(model, ablation)
        if self.whole is not None:
            self.whole = RealRun(model, every_edge(model.size))


class RealRun(Run):
    """A circuit whose operators have real values."""

    def __init__(self, model, edges, nudges=None, carried=None):
        super().__init__(model, edges, nudges, carried or RealCarried(model, "zero"))

    def logits(self, candidates, prompt):
        """Return the candidates' logits, all as numbers of one kind."""
        return [real(one) for one in super().logits(candidates, prompt)]

    def computed(self, node, prefix):
        """Return what a node computes; with rotary positions `embed` knows none."""
        if node == "embed" and "rotary" in self.model.size:
            return self.model.row("embed.token", prefix[-1])
        return super().computed(node, prefix)

    def normed(self, name, total):
        """Return a layer norm, or what there is none of."""
        norm = self.model.size["norm"]
        if norm["kind"] == "none":
            return total
        demand(norm["kind"] == "layer", "a band norm is enclosed")
        middle = [real(one) - real(sum(total, ZERO)) / len(total) for one in total]
        variance = sum(one**2 for one in middle) / len(middle)
        deviation = mpmath.sqrt(variance + real(Fraction(norm["epsilon"])))
        scale, shift = self.model.matrix(f"{name}.scale"), self.model.matrix(f"{name}.shift")
        return [a / deviation * b + c for a, b, c in zip(middle, scale, shift, strict=True)]

    def bent(self, hidden):
        """Return the activation."""
        activation = self.model.size["activation"]
        if activation["kind"] != "gelu":
            return super().bent(hidden)
        if activation["form"] == "exact":
            return [real(x) * (1 + mpmath.erf(real(x) / mpmath.sqrt(2))) / 2 for x in hidden]
        bends = [real(C) * (real(x) + real(A) * real(x) ** 3) for x in hidden]
        return [real(x) * (1 + mpmath.tanh(bend)) / 2 for x, bend in zip(hidden, bends, strict=True)]

    def sparsemax(self, node, name, norm, prefix):
        """Return the weights of a neural head, by softmax where the model has it."""
        keys = [
            self.turned(
                self.affine(f"{name}.key", self.read(self.port(node, "key"), norm, prefix[: end + 1])), end
            )
            for end in range(keys_of(prefix))
        ]
        read = self.read(self.port(node, "query"), norm, prefix)
        query = self.turned(self.affine(f"{name}.query", read), len(prefix) - 1)
        scale = Fraction(self.model.size["attention_scale"])
        scores = [real(scale * dot(query, one)) for one in keys]
        if self.model.size["attention"] == "softmax":
            raised = [mpmath.exp(one - max(scores)) for one in scores]
            return [one / mpmath.fsum(raised) for one in raised]
        totals = accumulate(sorted(scores, reverse=True))
        cut = max((total - 1) / rank for rank, total in enumerate(totals, start=1))
        return [max(one - cut, mpmath.mpf(0)) for one in scores]

    def turned(self, vector, position):
        """Return a query or a key as its position rotates it."""
        half = self.model.size.get("rotary", 0) // 2
        if not half:
            return vector
        cosines, sines = self.model.row("rotary.cos", position), self.model.row("rotary.sin", position)
        found = list(vector)
        for place, pair in enumerate(zip(cosines, sines, strict=True)):
            a, b = real(vector[place]), real(vector[place + half])
            c, s = map(real, pair)
            found[place], found[place + half] = a * c - b * s, b * c + a * s
        return found


class RealStatement(Statement):
    """What a bundle of enclosed arithmetic states; a decision that is unclear is None."""

    def __init__(self, claim, domain, model):
        super().__init__(claim, domain, model)
        demand(self.pattern is None, "a pattern is enclosed")
        self.carried = RealCarried(model, self.ablation)

    def logits(self, prompt, edges=None):
        """Return the logits of a prompt in a circuit."""
        kept = self.edges if edges is None else edges
        if kept not in self.runs:
            self.runs[kept] = self.run_of(kept)
        return self.runs[kept].logits(self.candidates, prompt)

    def run_of(self, edges, nudges=None):
        """Return a circuit of real numbers."""
        return RealRun(self.model, edges, nudges, self.carried)

    def decision(self, prompt, edges=None):
        """Return the decision about a prompt in a circuit, or nothing where it is unclear."""
        return self.clearly(self.logits(prompt, edges))

    def clearly(self, logits):
        """Return the candidate that leads clearly, or nothing."""
        best = max(range(len(logits)), key=lambda place: logits[place])
        lead = min(real(logits[best] - one) for place, one in enumerate(logits) if place != best)
        return frozenset({self.candidates[best]}) if lead > LEAST else None

    def solves(self, edges):
        """Say whether a circuit decides every answer."""
        return all_so(
            None if (found := self.decision(prompt, edges)) is None else found == {self.answers[prompt]}
            for prompt in self.prompts
        )

    def truth(self, prop):
        """Say whether a property holds; measures are of enclosed arithmetic alone."""
        measures = {
            "loss": lambda: within(mean_of(map(self.loss, self.prompts)), prop["mean"]),
            "logit difference": lambda: self.leads(prop),
            "recovered difference": lambda: self.recovered(prop),
        }
        return measures[prop["kind"]]() if prop["kind"] in measures else super().truth(prop)

    def accuracy(self, prop):
        """Say whether just the listed prompts are wrong, or enough right; nothing where that is unclear."""
        count, found = len(self.prompts), [(self.decision(p), {self.answers[p]}) for p in self.prompts]
        right = [None if own is None else own == answer for own, answer in found]
        if "least" in prop:
            demand(1 <= prop["least"] <= count, "no prompt need be right, or more than there are")
            sure, maybe = right.count(True), right.count(None)
            if sure < prop["least"] <= sure + maybe:
                raise UnclearError
            return sure >= prop["least"]
        check_listed(prop["wrong"], count)
        return all_so(
            None if one is None else one != (place in prop["wrong"]) for place, one in enumerate(right)
        )

    def loss(self, prompt):
        """Return the negative logarithm of the softmax of the right answer."""
        logits = self.logits(prompt)
        own = logits[self.candidates.index(self.answers[prompt])]
        return mpmath.log(mpmath.fsum(mpmath.exp(one - own) for one in logits))

    def lead(self, prompt, edges=None):
        """Return the logit difference of a prompt."""
        logits, place = self.logits(prompt, edges), self.candidates.index(self.answers[prompt])
        return logits[place] - max(one for other, one in enumerate(logits) if other != place)

    def leads(self, prop):
        """Say whether the least, the mean and the greatest logit difference are in their brackets."""
        found = [self.lead(prompt) for prompt in self.prompts]
        numbers = {"least": min(found), "mean": mean_of(found), "greatest": max(found)}
        spans = [(numbers[name], prop[name]) for name in numbers if prop[name] is not None]
        demand(spans, "no number is bracketed")
        return all_of(within(number, bracket) for number, bracket in spans)

    def recovered(self, prop):
        """Say whether the mean recovered share is in its bracket, and has a value."""
        check_listed(prop["without"], len(self.prompts))
        every, shares = tuple(every_edge(self.size)), []
        for place, prompt in enumerate(self.prompts):
            if place not in prop["without"]:
                bare = self.lead(prompt, ())
                gained = self.lead(prompt, every) - bare
                if abs(gained) < LEAST:
                    raise UnclearError
                shares.append((self.lead(prompt) - bare) / gained)
        return within(mean_of(shares), prop["mean"])

    def invariance(self):
        """Say whether prompts of a class are decided alike."""
        pairs = [(self.classes[prompt], self.decision(prompt)) for prompt in self.prompts]
        return all_so(
            None if None in (one, other) else one == other
            for group, one in pairs
            for second, other in pairs
            if group == second
        )

    def necessity(self):
        """Say whether each edge has a prompt whose decision changes without it."""
        return all_so(
            self.is_edge_needed(tuple(kept for kept in self.edges if kept != edge)) for edge in self.edges
        )

    def is_edge_needed(self, rest):
        """Say whether some decision changes; nothing where that is unclear."""
        pairs = [(self.decision(prompt), self.decision(prompt, rest)) for prompt in self.prompts]
        if any(None not in pair and pair[0] != pair[1] for pair in pairs):
            return True
        return None if any(None in pair for pair in pairs) else False

    def faithfulness(self):
        """Say whether the whole model decides alike."""
        every = tuple(every_edge(self.size))
        return self.are_alike([(self.decision(p), self.decision(p, every)) for p in self.prompts])

    def are_alike(self, pairs):
        """Say whether two circuits have the same clear decisions."""
        return all_so(None if None in pair else pair[0] == pair[1] for pair in pairs)

    def breaks(self, prop, prompt, epsilon):
        """Look for a perturbation that clearly ends a decision: corners, directions, random points."""
        if (clear := self.decision(prompt)) is None:
            raise UnclearError
        etas = self.etas(self.size["width"], epsilon, random.Random(str(prompt)))  # noqa: S311  # points, not keys
        found = (self.clearly(self.perturbed(prop, prompt, eta)) for eta in etas)
        return any(one not in (None, clear) for one in found)

    def robustness(self, prop):
        """Say whether decisions stay at the final residual: behind a norm no, or unknown."""
        is_final = (prop["at"], prop["positions"]) == ("logits input", "last")
        demand(is_final, "something else than the final residual is perturbed")
        if self.size["norm"]["kind"] == "none":
            return super().robustness(prop)
        self.check_place(prop)
        epsilon = Fraction(prop["epsilon"])
        demand(epsilon > 0, "epsilon is not positive")
        return False if any(self.breaks(prop, prompt, epsilon) for prompt in self.prompts) else None

    def witnessed(self, prop, evidence):
        """Say whether the perturbation that refutes robustness does so, clearly."""
        (entry,) = evidence["replay"]
        prompt, eta = self.shown[entry["prompt"]], [Fraction(x) for x in entry["eta"]]
        before, after = self.decision(prompt), self.clearly(self.perturbed(prop, prompt, eta))
        if None in (before, after):
            raise UnclearError
        return max(map(abs, eta)) <= Fraction(prop["epsilon"]) and before != after

    def exceeds(self, prompt, epsilon):
        """Say whether the radius of a decision exceeds epsilon."""
        logits = self.logits(prompt)
        if self.decision(prompt) is None:
            raise UnclearError
        rows = [
            self.model.row("embed.token" if self.size["tied"] else "logits.weight", token)
            for token in self.candidates
        ]
        best = max(range(len(logits)), key=lambda place: logits[place])
        apart = [sum(abs(a - b) for a, b in zip(rows[best], row, strict=True)) for row in rows]
        leads = [real(logits[best] - one - epsilon * d) for one, d in zip(logits, apart, strict=True) if d]
        if any(abs(one) < LEAST for one in leads):
            raise UnclearError
        return all(one > 0 for one in leads)


def mean_of(numbers):
    """Return the mean."""
    found = list(numbers)
    return mpmath.fsum(found) / len(found)


def within(number, bracket):
    """Say whether a number is in a bracket; nothing where it is too near to an end to tell."""
    low, high = (None if end is None else real(Fraction(end)) for end in bracket)
    demand(low is not None or high is not None, "a bracket bounds nothing")
    demand(low is None or high is None or low <= high, "a bracket holds no number")
    if any(end is not None and abs(number - end) < LEAST for end in (low, high)):
        return None
    return (low is None or number > low) and (high is None or number < high)


def all_of(found):
    """Say whether all are so, where one that is not settles it."""
    said = list(found)
    return False if False in said else None if None in said else True


def all_so(found):
    """Say whether all are so: no where one is known not to be, nothing where it is unclear."""
    said = list(found)
    if False in said:
        return False
    if None in said:
        raise UnclearError
    return True


def real_falsehoods(bundle, stated, model, base):
    """Return a sentence for each answer of a bundle that is clearly not so; remarks are not looked at."""
    claim, domain, certificate = bundle
    found = []
    with mpmath.workdps(DIGITS):
        try:
            statement = RealStatement(claim, domain, stated)
        except ForbiddenError as error:
            return [f"forbidden: {error}"]
        found += [f"forbidden: {breach}" for breach in statement.breaches]
        for prop, answer in zip(claim["properties"], certificate["answers"], strict=True):
            if answer["verdict"] == "undecided":
                continue
            try:
                if prop["kind"] in MEASURES and statement.truth(prop) is None:
                    continue
                if not is_true(statement, prop, answer, model, base):
                    found.append(f"false: {prop['kind']} is {answer['verdict']}, but is not")
            except UnclearError:
                continue
            except ForbiddenError as error:
                found.append(f"forbidden: {prop['kind']} is {answer['verdict']}, but {error}")
    return found
