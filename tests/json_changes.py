"""Places in JSON, drawn at random, and what else could be written there."""

from fractions import Fraction


def places(value, path=()):
    """Walk every place of a JSON value."""
    yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in pairs:
        yield from places(child, (*path, key))


def drawn_place(value, draw):
    """Return a list or dictionary somewhere in a value, and a key of it."""
    *path, key = draw.choice([path for path in places(value) if path])
    for step in path:
        value = value[step]
    return value, key


def other_text(text, draw):
    """Return another rational, or the text with another letter."""
    try:
        number = Fraction(text)
    except ValueError:
        place = draw.randrange(len(text) + 1)
        return text[:place] + draw.choice("01 x") + text[place + 1 :]
    return str(draw.choice((-number, number + 1, number * 2, number + Fraction(1, 10**9), Fraction(0))))
