"""Attention programs read from their text, word by word, and evaluated pair by pair: a third reading.

Nothing here is shared with the engine or the checker. What cannot be read at all is a `ForbiddenError`; what
can be read but is not allowed (ordered tokens, tokens outside the vocabulary) is noted as a breach.
"""

import operator
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

WORD = re.compile(r"[a-z_]+|[0-9]+(?:/[0-9]+)?|[=!<>]=|[<>{}(),:]")
ORDERS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
SCANS = ("first", "last", "nearest")
TOKENS = ("key_token", "query_token")
NUMBERS = ("key_position", "query_position", "relative_distance", "absolute_distance")
DEEPEST = 16


class ForbiddenError(Exception):
    """What is claimed may not be claimed: it has no meaning, or is outside the language."""


def demand(is_met, sentence):
    """Refuse what the format does not allow."""
    if not is_met:
        raise ForbiddenError(sentence)


class Words:
    """Reads one condition into nested tuples, refusing what the grammar does not have."""

    def __init__(self, text, vocabulary):
        demand(not WORD.sub("", text).strip(" "), f"{text!r} has characters that are no words")
        self.left, self.text, self.vocabulary = WORD.findall(text)[::-1], text, vocabulary
        self.breaches = []

    def note(self, is_met, sentence):
        """Remember what is not allowed, though it can be read."""
        self.breaches += [] if is_met else [f"{self.text!r} {sentence}"]

    def take(self, *wanted):
        """Return the next word, which must be one of those wanted."""
        demand(self.left and (not wanted or self.left[-1] in wanted), f"{self.text!r} is no condition")
        return self.left.pop()

    def skip(self, word):
        """Take a word if it is the next one."""
        return self.left[-1:] == [word] and bool(self.left.pop())

    def whole(self):
        """Read to the end."""
        found = self.joined("or", lambda: self.joined("and", self.part))
        demand(not self.left, f"{self.text!r} goes on after its end")
        self.note(levels(found) <= DEEPEST, "is nested too deeply")
        return found

    def joined(self, word, read):
        """Read parts with a word between them."""
        parts = [read()]
        while self.skip(word):
            parts.append(read())
        flat = [inner for part in parts for inner in (part[1:] if part[0] == word else [part])]
        return parts[0] if len(parts) == 1 else (word, *flat)

    def part(self):
        """Read what stands alone."""
        word = self.take()
        if word == "(":
            found = self.joined("or", lambda: self.joined("and", self.part))
            self.take(")")
            return found
        if word == "not" or word in SCANS:
            return (word, self.part())
        if word in ("unmatched", "partner"):
            return (word, self.pairs())
        return self.match() if word == "token_match" else self.comparison(word)

    def match(self):
        """Read what follows token_match."""
        if self.left[-1:] not in (["=="], ["!="]):
            return ("match", True)
        return ("match", (self.take() == "==") == (self.take("true", "false") == "true"))

    def comparison(self, name):
        """Read a number and what it is compared with."""
        most, of = None, None
        if name.removeprefix("key_").removeprefix("query_") in ("count", "depth"):
            of = self.pairs() if name.endswith("depth") else self.members(self.token)
            self.take("up")
            self.take("to")
            most = self.number()
            self.note(most >= 1, "counts up to nothing")
        else:
            demand(name in (*TOKENS, *NUMBERS), f"{self.text!r}: {name} is no number")
        read = self.token if name in TOKENS else self.number
        sign = self.take("in", *ORDERS)
        self.note(name not in TOKENS or sign in ("in", "==", "!="), "orders tokens")
        value = self.members(read) if sign == "in" else read()
        largest = max(value) if sign == "in" else value
        self.note(most is None or largest <= most, "compares with more than it counts")
        return ("compare", name, of, most, sign, value)

    def number(self):
        """Read a whole number."""
        word = self.take()
        demand(word.isdecimal(), f"{self.text!r}: {word} is no number")
        return int(word)

    def token(self):
        """Read a token of the vocabulary."""
        found = self.number()
        self.note(found < self.vocabulary, f"names token {found}, which the vocabulary lacks")
        return found

    def members(self, read):
        """Read a set of distinct members."""
        self.take("{")
        found = [read()]
        while self.skip(","):
            found.append(read())
        self.take("}")
        self.note(len(set(found)) == len(found), "repeats a member")
        return tuple(found)

    def pairs(self):
        """Read openers with their closers."""

        def pair():
            opener = self.token()
            self.take(":")
            return opener, self.token()

        found = self.members(pair)
        both = {one for one, _ in found} & {other for _, other in found}
        self.note(not both, "has a token that opens and closes")
        return found


def levels(formula):
    """Return how many levels of joins, negations and scans a condition has."""
    if formula[0] in ("and", "or"):
        return 1 + max(map(levels, formula[1:]))
    if formula[0] == "not" and formula[1] == ("match", True):
        return 0
    return 1 + levels(formula[1]) if formula[0] in ("not", *SCANS) else 0


@dataclass(frozen=True)
class Program:
    """A default weight, rules (weight, condition or None), what empty rows do, and what is not allowed."""

    default: Fraction
    rules: tuple[tuple[Fraction, object], ...]
    attends_itself: bool
    breaches: tuple[str, ...]

    def attends(self):
        """Say of the rows of every prompt whether they have weight, going by the form: yes, no, or None."""
        if self.attends_itself or self.default or any(w for w, rule in self.rules if rule is None):
            return True
        return None if any(weight for weight, _ in self.rules) else False


@cache
def parsed(lines, vocabulary):
    """Return the program that some lines spell."""
    demand(len(lines) > 1 and lines[0].startswith("default "), f"{lines} do not begin with a default")
    demand(lines[-1] in ("otherwise self", "otherwise nowhere"), f"{lines} do not end with otherwise")
    rules, breaches = [], []
    for line in lines[1:-1]:
        demand(line.startswith("add "), f"{line!r} is no rule")
        weight, when, condition = line.removeprefix("add ").partition(" when ")
        words = Words(condition, vocabulary)
        rules.append((weight_of(weight), words.whole() if when else None))
        breaches += words.breaches
    default = weight_of(lines[0].removeprefix("default "))
    return Program(default, tuple(rules), lines[-1] == "otherwise self", tuple(breaches))


def weight_of(text):
    """Return a weight, which is not negative."""
    demand(re.fullmatch(r"[0-9]+(/[0-9]*[1-9][0-9]*)?", text), f"{text!r} is no weight")
    return Fraction(text)


def stack(pairs, prompt, last):
    """Return the open openers after the token at `last`, the latest at the end."""
    found = []
    for place in range(last + 1):
        if prompt[place] in {opener for opener, _ in pairs}:
            found.append(place)
        elif found and (prompt[found[-1]], prompt[place]) in pairs:
            found.pop()
    return found


def value_of(number, prompt, query, key):
    """Return the number that a comparison is about: its name, what is counted, and how far."""
    name, of, most = number
    at = key if name.startswith("key") else query
    if name.endswith("count"):
        return min(most, sum(token in of for token in prompt[: at + 1]))
    if name.endswith("depth"):
        return min(most, len(stack(of, prompt, at)))
    if name in TOKENS:
        return prompt[at]
    return query - key if name.endswith("distance") else at


def holds(formula, prompt, query, key):
    """Say whether a condition holds of a query and a key."""
    match formula:
        case ("and", *parts):
            return all(holds(part, prompt, query, key) for part in parts)
        case ("or", *parts):
            return any(holds(part, prompt, query, key) for part in parts)
        case ("not", part):
            return not holds(part, prompt, query, key)
        case ("match", truth):
            return (prompt[query] == prompt[key]) == truth
        case ("unmatched", pairs):
            return key in stack(pairs, prompt, query)
        case ("partner", pairs):
            return key in stack(pairs, prompt, query - 1) and key not in stack(pairs, prompt, query)
        case ("compare", name, of, most, sign, value):
            found = value_of((name, of, most), prompt, query, key)
            return found in value if sign == "in" else ORDERS[sign](found, value)
        case (scan, part):
            keys = range(query if scan == "nearest" else query + 1)
            found = [one for one in keys if holds(part, prompt, query, one)]
            return key in (found[:1] if scan == "first" else found[-1:])


def row(program, prompt, query):
    """Return the weights of the keys up to the query."""
    weights = [
        program.default
        + sum(w for w, rule in program.rules if rule is None or holds(rule, prompt, query, key))
        for key in range(query + 1)
    ]
    if total := sum(weights):
        return [weight / total for weight in weights]
    return [Fraction(program.attends_itself and key == query) for key in range(query + 1)]
