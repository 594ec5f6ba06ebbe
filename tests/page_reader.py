"""Reading a page as a browser does, and names that would break one that is carelessly made."""

from html.parser import HTMLParser

VOID = {"meta", "input"}
EVIL = "</script><img src=x onerror=alert(1)>\u202e&amp;'\""


class Reader(HTMLParser):
    """Reads a page and refuses tags that are not closed where they were opened."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.data = ""

    def handle_starttag(self, tag, attrs):
        """Remember an element."""
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        """Close the innermost element, which must be this one."""
        assert self.open.pop() == tag

    def handle_data(self, data):
        """Remember text, and the data of the script apart."""
        if self.open and self.open[-1] == "script" and self.tags[-1][1].get("class") == "data":
            self.data += data
        elif not self.open or self.open[-1] not in {"script", "style"}:
            self.text.append(data)


def read(page: str) -> Reader:
    """Return a page as a browser reads it."""
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader
