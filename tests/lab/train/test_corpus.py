import platform
import sys
from types import SimpleNamespace

import pytest

from circuitproof.errors import InputError
from circuitproof_lab.train.corpus import (
    Dataset,
    Document,
    DocumentUse,
    Files,
    PythonManual,
    StandardLibrary,
    documents,
    python_of,
)


def test_the_part_of_a_document_depends_on_nothing_but_its_name():
    """A file added or taken away leaves every other where it was."""
    named = {name: Document(name, "any text").part for name in ("json/decoder.py", "ast.py", "a.py")}
    assert named == {name: Document(name, "").part for name in named}
    counts = [sum(Document(str(n), "").part is part for n in range(4000)) for part in DocumentUse]
    assert counts[0] > 3400
    assert all(120 < count < 280 for count in counts[1:3])
    assert counts[3] == 0


def test_files_are_named_below_their_root_and_some_folders_are_left_out(tmp_path):
    """The same tree elsewhere is the same corpus."""
    for name in ("b.txt", "a/c.txt", "tests/d.txt", "a/tests/e.txt", "f.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"text of {name}")
    (tmp_path / "blank.txt").write_text(" \n")
    (tmp_path / "odd.txt").write_bytes(b"caf\xe9")
    found = list(documents(Files(tmp_path, ("**/*.txt",), ("tests",))))
    assert [document.name for document in found] == ["a/c.txt", "b.txt", "odd.txt"]
    assert [document.text for document in found[1:]] == ["text of b.txt", "caf\ufffd"]


@pytest.mark.parametrize(
    ("pattern", "sentence"),
    [("*.none", r"no file below .* matches \*.none"), ("/etc/*", "'/etc/\\*' is not a usable pattern below")],
)
def test_a_pattern_that_finds_nothing_is_refused(tmp_path, pattern, sentence):
    """A misspelt pattern must not be an empty corpus."""
    with pytest.raises(InputError, match=sentence):
        list(documents(Files(tmp_path, (pattern,))))


def test_pythons_own_texts_are_at_hand_and_apart():
    """The sources without tests, other packages and the manual; the manual by chapter."""
    names = {document.name for document in documents(StandardLibrary())}
    assert {"ast.py", "json/decoder.py"} <= names
    left_out = {"test", "tests", "idle_test", "site-packages", "pydoc_data"}
    assert not [name for name in names if left_out & set(name.split("/"))]
    chapters = {document.name: document.text for document in documents(PythonManual())}
    assert "statement" in chapters["assert"]
    assert python_of(StandardLibrary()) == python_of(PythonManual()) == platform.python_version()
    assert python_of(Dataset("wikitext")) is None


class Rows(list):
    """What the package datasets hands out."""

    column_names = ("text",)


def test_a_dataset_is_asked_for_by_its_name(monkeypatch):
    """Where there is a network, a corpus can be a dataset of Hugging Face."""
    asked = []

    def load_dataset(*names, **options):
        asked.append((names, options))
        return Rows([{"text": "one"}, {"text": ""}, {"text": "two"}])

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    found = list(documents(Dataset("wikitext", "wikitext-103-raw-v1", "validation", revision="abc")))
    assert asked == [(("wikitext", "wikitext-103-raw-v1"), {"split": "validation", "revision": "abc"})]
    assert [(document.name, document.text) for document in found] == [
        ("wikitext/0", "one"),
        ("wikitext/2", "two"),
    ]
    with pytest.raises(InputError, match="dataset wikitext has no column 'words', it has text"):
        list(documents(Dataset("wikitext", column="words")))


def test_a_dataset_without_package_or_network_is_refused_with_a_sentence(monkeypatch):
    """Both are common; neither is a traceback."""
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(InputError, match="dataset wikitext needs the package datasets; install the gpt2"):
        list(documents(Dataset("wikitext")))

    def unreachable(*_, **__):
        raise ConnectionError("no route to host")

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=unreachable))
    with pytest.raises(InputError, match="dataset wikitext cannot be had: no route to host"):
        list(documents(Dataset("wikitext")))
