"""What people see of a token, and which token they mean by that.

Byte-level pair encodings, GPT-2's among them, call a token by a sign for each of its bytes: `Ġif` is a blank
and `if`. People see the text that the bytes are, with blanks and line ends as signs: `␣if`, `⏎`.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from circuitproof.files.printing import printable, shown_text

_PRINTED = frozenset({*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)})
"""The bytes that are their own signs; each of the others is called by the next sign from U+0100 on."""
_MOVED = [byte for byte in range(256) if byte not in _PRINTED]
_BYTES = {chr(byte): byte for byte in _PRINTED} | {chr(0x100 + at): byte for at, byte in enumerate(_MOVED)}
_BLANK = "Ġ"
_VISIBLE = {" ": "␣", "\n": "⏎", "\t": "⇥", "\r": "␍"}
_ESCAPED = {sign: f"\\u{ord(sign):04x}" for sign in _VISIBLE.values()}
"""A text that has one of our signs is not mistaken for one that has what the sign stands for."""

_LONGEST = 200
"""How much of a prompt is shown."""


class TokenNames(Mapping[int, str]):
    """What some tokens are called in a model or a claim, and how that is shown."""

    def __init__(self, names: Mapping[int, str]) -> None:
        self._names = dict(names)
        self._shown: dict[int, str] = {}

    def __getitem__(self, token: int) -> str:
        return self._names[token]

    def __iter__(self) -> Iterator[int]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def shown(self, token: int) -> str:
        """Return what people see of a token: its text, or its number where it has no name.

        >>> TokenNames({0: "Ġif", 1: "ĊĠĠ"}).shown(0), TokenNames({1: " a"}).shown(1), TokenNames({}).shown(7)
        ('␣if', '␣a', '<7>')
        """
        if token not in self._shown:
            self._shown[token] = self.spelled(self._names[token]) if token in self._names else f"<{token}>"
        return self._shown[token]

    def spelled(self, name: str) -> str:
        """Return how a name of these tokens, or what was called by one, is shown."""
        if not self.is_byte_level or not _is_spelled_in_bytes(name):
            return _visible(name)
        return _visible(bytes(_BYTES[sign] for sign in name).decode(errors="surrogateescape"))

    def stratum(self, name: str) -> str:
        """Return how the name of a stratum is shown, which may be that of one of these tokens."""
        return self.spelled(name) if self.is_byte_level and name in self._names.values() else name

    def text(self, prompt: Iterable[int]) -> str:
        """Return what people see of tokens, each apart from the next."""
        return " ".join(map(self.shown, prompt))

    @cached_property
    def is_byte_level(self) -> bool:
        """Say whether names are spelled byte by byte.

        A whole alphabet of that kind has a name for every byte. Of a few of its names, one begins with a
        blank, none has another sign, and none would be an invisible sign: words of people's languages would.
        """
        found = set(self._names.values())
        if found.issuperset(_BYTES):
            return True
        if not any(name.startswith(_BLANK) for name in found):
            return False
        invisible = {byte for byte in range(0x20) if chr(byte) not in _VISIBLE} | {0x7F}
        return all(
            _is_spelled_in_bytes(name) and invisible.isdisjoint(map(_BYTES.get, name)) for name in found
        )

    @cached_property
    def meant(self) -> Mapping[str, int]:
        """Return the token that is meant by what is shown of it, unless several are shown alike."""
        found: dict[str, int] = {}
        twice: set[str] = set()
        for token in self._names:
            if found.setdefault(self.shown(token), token) != token:
                twice.add(self.shown(token))
        return {text: token for text, token in found.items() if text not in twice}


def named(names: TokenNames, token: int) -> str:
    """Return what people see of a token: its text with visible blanks, or its number where it has no name."""
    return shown_text(names.shown(token))


def prompt_line(names: TokenNames, prompt: tuple[int, ...]) -> str:
    """Return a prompt in tokens on a line that is not too long."""
    return shown_text(" ".join(named(names, token) for token in prompt), most=_LONGEST)


def _is_spelled_in_bytes(name: str) -> bool:
    return all(sign in _BYTES for sign in name)


def _visible(text: str) -> str:
    """Return a text with blanks, line ends and bytes that are no text as signs that are seen."""
    return "".join(map(_visible_sign, text)) or "''"


def _visible_sign(sign: str) -> str:
    if sign in _VISIBLE:
        return _VISIBLE[sign]
    if "\udc80" <= sign <= "\udcff":
        return f"<0x{ord(sign) - 0xDC00:02X}>"
    if sign in _ESCAPED:
        return _ESCAPED[sign]
    return sign if sign.isprintable() else printable(sign)
