"""Places in JSON and in tensors, drawn at random, and what else could be written there."""

import struct
from copy import deepcopy
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


def change_json(value, draw):  # one branch per kind of value
    """Change one place: a number, a rational, a word, or the order and number of entries."""
    parent, key = drawn_place(value, draw)
    old = parent[key]
    if isinstance(parent, list) and draw.random() < 0.3:
        change_list(parent, key, draw)
    elif isinstance(old, bool) or old is None:
        parent[key] = not old
    elif isinstance(old, int):
        parent[key] = old + draw.choice((-1, 1, 1000))
    elif isinstance(old, str):
        parent[key] = change_text(old, draw)
    elif isinstance(parent, dict) and draw.random() < 0.5:
        del parent[key]
    elif isinstance(old, list) and old:
        change_list(old, draw.randrange(len(old)), draw)


def change_list(entries, place, draw):
    """Drop, repeat or exchange an entry."""
    match draw.choice(("drop", "repeat", "exchange")):
        case "drop":
            del entries[place]
        case "repeat":
            entries.insert(place, deepcopy(entries[place]))
        case _:
            other = draw.randrange(len(entries))
            entries[place], entries[other] = entries[other], entries[place]


def change_text(text, draw):
    """Change a rational a little, a verdict to another, any other text by a letter."""
    verdicts = ("proved", "refuted", "undecided")
    return draw.choice(verdicts) if text in verdicts else other_text(text, draw)


def change_tensor(tensors, draw):
    """Flip a bit of a weight, exchange two, or negate one."""
    shape, numbers = tensors[name := draw.choice(sorted(tensors))]
    place, other = draw.randrange(len(numbers)), draw.randrange(len(numbers))
    changed = list(numbers)
    match draw.choice(("bit", "exchange", "negate")):
        case "bit":
            bits = struct.unpack("<I", struct.pack("<f", changed[place]))[0] ^ (1 << draw.randrange(32))
            changed[place] = struct.unpack("<f", struct.pack("<I", bits))[0]
        case "exchange":
            changed[place], changed[other] = changed[other], changed[place]
        case _:
            changed[place] = -changed[place]
    tensors[name] = (shape, changed)
