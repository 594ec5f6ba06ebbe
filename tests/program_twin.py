"""The slow obvious twin of programs: their definition, pair by pair, sharing only the declared data types."""

from fractions import Fraction

from circuitproof.programs.atoms import Bracketed, Brackets, Condition, Tally
from circuitproof.programs.syntax import AllOf, AnyOf, Not, Scan


def compares(found, comparison, value):
    """Say whether a number compares with a value as told."""
    return {
        "==": lambda: found == value,
        "!=": lambda: found != value,
        "<": lambda: found < value,
        "<=": lambda: found <= value,
        ">": lambda: found > value,
        ">=": lambda: found >= value,
        "in": lambda: found in value,
    }[comparison]()


def feature(name, prompt, query, key):
    """Return what a feature is at a pair."""
    return {
        "key_position": key,
        "query_position": query,
        "relative_distance": query - key,
        "absolute_distance": abs(query - key),
        "key_token": prompt[key],
        "query_token": prompt[query],
        "token_match": prompt[query] == prompt[key],
    }[name]


def stack_after(prompt, last, brackets):
    """Return the positions of the openers that are open after `last` has been read, the latest at the end.

    Rewrites rather than remembers: an opener whose pair follows it, with nothing open in between, is closed.
    """
    if last < 0:
        return []
    before = stack_after(prompt, last - 1, brackets)
    if prompt[last] in {opener for opener, _ in brackets.pairs}:
        return [*before, last]
    if before and (prompt[before[-1]], prompt[last]) in brackets.pairs:
        return before[:-1]
    return before


def tallied(tally, prompt, query, key):
    """Return a count before its bound."""
    place = key if tally.at == "key" else query
    if isinstance(tally.of, Brackets):
        return len(stack_after(prompt, place, tally.of))
    return sum(prompt[earlier] in tally.of for earlier in range(place + 1))


def linked(condition, prompt, query, key):
    """Say whether the bracket at the key stands to the query as told."""
    now = stack_after(prompt, query, condition.brackets)
    before = stack_after(prompt, query - 1, condition.brackets)
    return key in now if condition.link == "unmatched" else key in before and key not in now


def picked(scan, prompt, query):
    """Return the key that a scan picks, in a list that is empty when there is none."""
    end = query if scan.pick == "nearest" else query + 1
    found = [key for key in range(end) if holds(scan.part, prompt, query, key)]
    return found[:1] if scan.pick == "first" else found[-1:]


def holds(formula, prompt, query, key):
    """Say whether a formula holds of a query and a causal key."""
    match formula:
        case Condition(name, comparison, value):
            return compares(feature(name, prompt, query, key), comparison, value)
        case Tally(_, _, bound, comparison, value):
            return compares(min(tallied(formula, prompt, query, key), bound), comparison, value)
        case Bracketed():
            return linked(formula, prompt, query, key)
        case Not(part):
            return not holds(part, prompt, query, key)
        case Scan():
            return key in picked(formula, prompt, query)
        case AllOf(parts):
            return all(holds(part, prompt, query, key) for part in parts)
        case AnyOf(parts):
            return any(holds(part, prompt, query, key) for part in parts)


def dense_row(program, prompt, query):
    """Return the weight of every key up to `query`."""
    weights = [
        sum(
            (
                rule.weight
                for rule in program.rules
                if all(holds(condition, prompt, query, key) for condition in rule.conditions)
            ),
            program.default,
        )
        for key in range(query + 1)
    ]
    if total := sum(weights):
        return [weight / total for weight in weights]
    attends_itself = program.otherwise == "self"
    return [Fraction(int(attends_itself and key == query)) for key in range(query + 1)]


def slow_row(program, prompt, query):
    """Return the keys with weight, and their weights."""
    return tuple((key, weight) for key, weight in enumerate(dense_row(program, prompt, query)) if weight)
