"""Untrusted text where people read it: whatever does not print is spelled out."""

import html
import json

_LONGEST = 60
"""How much of a text of others is shown."""


def printable(text: str, keeps: str = "") -> str:
    r"""Return a text in which every sign that does not print is spelled as in JSON, but for what it `keeps`.

    >>> printable("a" + chr(0x202E) + "b" + chr(27) + "[2J", keeps="\n")
    'a\\u202eb\\u001b[2J'
    """
    if keeps:
        return keeps.join(map(printable, text.split(keeps)))
    return "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in text)


def plural(count: int, noun: str) -> str:
    """Return a count with its noun.

    >>> plural(1, "edge"), plural(2, "edge")
    ('1 edge', '2 edges')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def shown_text(text: str, most: int = _LONGEST) -> str:
    r"""Return a text of others on one line: signs that do not print are spelled out, and much is cut off.

    >>> shown_text("a" + chr(0x202E) + "b")
    'a\\u202eb'
    """
    cut = text if len(text) <= most else f"{text[:most]}…"
    return printable(cut)


def preformatted(text: str) -> str:
    """Return the lines of a text as HTML, for a notebook.

    >>> preformatted("a <b>")
    '<pre>a &lt;b&gt;</pre>'
    """
    return f"<pre>{html.escape(text)}</pre>"
