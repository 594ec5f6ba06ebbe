import platform
import sys
from dataclasses import replace
from itertools import starmap
from types import SimpleNamespace

import numpy as np
import pytest

from circuitproof.errors import InputError
from circuitproof.files.canonical import digest_file
from circuitproof.models.tokenizer import SEPARATOR
from circuitproof_lab.train import corpus
from circuitproof_lab.train.corpus import Dataset, Document, DocumentUse, Files, PythonManual, documents
from circuitproof_lab.train.tokenised import (
    BytePairs,
    ByteTokens,
    CorpusSource,
    Gpt2Tokens,
    TokenizerFile,
    open_corpus,
)
from corpora import write_corpus
from tokenizer_files import write_tokenizer


@pytest.fixture
def source(tmp_path):
    """Return a corpus of small files, read as byte pairs that are learned from it."""
    write_corpus(tmp_path)
    return CorpusSource(
        tokenizer=BytePairs(300),
        batch=4,
        text=Files(tmp_path / "code", ("*.txt",)),
        second=Files(tmp_path / "prose", ("*.txt",)),
    )


def texts(source, part):
    """Return the texts of a part."""
    found = documents(source.second if part is DocumentUse.SECOND else source.text)
    return [document.text for document in found if part in (DocumentUse.SECOND, document.part)]


@pytest.mark.parametrize("tokenizer", [BytePairs(300), Gpt2Tokens()], ids=lambda one: one.tag)
def test_the_tokens_of_a_part_are_those_of_its_documents(tmp_path, source, tokenizer):
    """One document after the other, each behind a separator; nothing of another part is among them."""
    found = open_corpus(replace(source, tokenizer=tokenizer), tmp_path / "tokens")
    encoder = found.tokenizer
    assert encoder is not None
    separator = encoder.alphabet.token(SEPARATOR)
    for part in DocumentUse:
        expected = [token for text in texts(source, part) for token in (separator, *encoder.encode(text))]
        assert found.part(part).tolist() == expected
        assert found.corpus.tokens[part] == len(expected)
        assert isinstance(found.part(part), np.memmap)


def test_a_learned_vocabulary_has_every_byte_and_what_the_text_repeats(tmp_path, source):
    """Any text can be read, and a word of the corpus is one token."""
    found = open_corpus(source, tmp_path / "tokens")
    encoder = found.tokenizer
    assert encoder is not None
    assert len(encoder.alphabet) == 300
    assert len(encoder.encode(" return")) == 1
    assert encoder.encode("\x00é漢")
    assert found.corpus.tokenizer == digest_file(tmp_path / "tokens" / "tokenizer.json")
    assert set(found.files) == {"corpus.json", "tokenizer.json"}


def test_bytes_need_no_tokenizer(tmp_path, source):
    """Tokens are what stands in the file."""
    found = open_corpus(replace(source, tokenizer=ByteTokens()), tmp_path / "tokens")
    assert found.tokenizer is None
    assert (
        bytes(found.part(DocumentUse.HELD_OUT).tolist())
        == "".join(texts(source, DocumentUse.HELD_OUT)).encode()
    )
    assert set(found.files) == {"corpus.json"}


def test_a_tokenizer_of_ones_own(tmp_path, source):
    """Its file is copied, so that the corpus does not depend on it any longer."""
    own = write_tokenizer(tmp_path / "own.json", ["def", "self", "?"])
    found = open_corpus(replace(source, tokenizer=TokenizerFile(own)), tmp_path / "tokens")
    own.unlink()
    assert set(found.part(DocumentUse.TRAIN).tolist()) == {0, 1, 2}
    assert found.tokenizer is not None
    assert found.tokenizer.encode("self def") == (1, 0)


def test_a_corpus_is_made_once_and_is_the_same_made_again(tmp_path, source):
    """Even its tokenizer: what is learned depends on the texts alone."""
    for name in ("one", "other"):
        open_corpus(source, tmp_path / name)
    contents = [
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("one", "other")
    ]
    assert contents[0] == contents[1]
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "one").iterdir()}
    open_corpus(source, tmp_path / "one")
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "one").iterdir()} == before


CHANGES = {
    "has another content": ("code", lambda folder: (folder / "7.txt").write_text("other words"), "7.txt"),
    "is new": ("code", lambda folder: (folder / "new.txt").write_text("words"), "new.txt"),
    "is gone": ("prose", lambda folder: (folder / "3.txt").unlink(), "3.txt"),
}


@pytest.mark.parametrize("state", CHANGES)
def test_a_corpus_that_changed_is_refused(tmp_path, source, state):
    """A run that went on would not be the run that it says it is."""
    folder, change, name = CHANGES[state]
    open_corpus(source, tmp_path / "tokens")
    change(tmp_path / folder)
    sentence = rf"the corpus has changed since .*tokens was made: {name} {state} \(1 documents differ\)"
    with pytest.raises(InputError, match=sentence):
        open_corpus(source, tmp_path / "tokens")


def test_changed_tokens_are_refused(tmp_path, source):
    """The folder is sealed."""
    open_corpus(source, tmp_path / "tokens")
    with (tmp_path / "tokens" / "train.u16").open("ab") as file:
        file.write(b"\x00\x00")
    with pytest.raises(InputError, match=r"train.u16 has digest .*: the file was changed"):
        open_corpus(source, tmp_path / "tokens")


def test_what_is_measured_on_must_not_be_trained_on(tmp_path, source):
    """A second corpus that shares a text with the first measures nothing."""
    (tmp_path / "prose" / "copy.txt").write_text((tmp_path / "code" / "5.txt").read_text())
    with pytest.raises(InputError, match=r"copy.txt of the second corpus is also in the first; leave it out"):
        open_corpus(source, tmp_path / "tokens")
    assert not (tmp_path / "tokens").exists()


def test_a_corpus_too_small_to_be_divided_is_refused(tmp_path, source):
    """The sentence says which part is empty."""
    few = replace(source, text=Files(tmp_path / "code", ("1.txt",)))
    with pytest.raises(InputError, match=r"the \S+ part of the corpus has no tokens; give it more documents"):
        open_corpus(few, tmp_path / "tokens")


def test_a_tokenizer_beyond_two_bytes_is_refused(tmp_path, source, monkeypatch):
    """A token that is cut would be another one."""
    monkeypatch.setattr("circuitproof_lab.train.tokenised._MOST_TOKENS", 299)
    with pytest.raises(InputError, match="the tokenizer has 300 tokens, want at most 299"):
        open_corpus(source, tmp_path / "tokens")


def test_the_tokens_of_a_dataset_serve_without_it(tmp_path, source, monkeypatch):
    """It is fetched once; the run says its digest, and goes on without a network."""
    rows = type("Rows", (list,), {"column_names": ("text",)})({"text": f"row {n}"} for n in range(200))
    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=lambda *_, **__: rows))
    named = replace(source, text=Dataset("words"), tokenizer=ByteTokens())
    made = open_corpus(named, tmp_path / "tokens")
    assert list(made.corpus.text) == ["words"]
    monkeypatch.setitem(sys.modules, "datasets", None)
    assert open_corpus(named, tmp_path / "tokens").corpus == made.corpus


def test_another_python_says_that_it_brings_another_corpus_and_which_one_to_install(
    tmp_path, source, monkeypatch
):
    """The digests of every document are kept, so that the right Python can be told from the others."""
    chapters = {"assert": "To assert is ...", "if": "An if statement ..."}
    monkeypatch.setattr(corpus, "_chapters", lambda: starmap(Document, chapters.items()))
    monkeypatch.setattr(platform, "python_version", lambda: "3.11.7")
    of_python = replace(source, second=PythonManual())
    assert open_corpus(of_python, tmp_path / "tokens").corpus.python == "3.11.7"
    chapters["match"] = "A match statement ..."
    with pytest.raises(InputError, match=r"the corpus has changed since .* was made: match is new"):
        open_corpus(of_python, tmp_path / "tokens")
    monkeypatch.setattr(platform, "python_version", lambda: "3.13.1")
    with pytest.raises(InputError) as refusal:
        open_corpus(of_python, tmp_path / "tokens")
    assert str(refusal.value) == (
        f"{tmp_path / 'tokens'} holds the corpus that Python 3.11.7 brings, and Python 3.13.1 brings "
        "another: match is new (1 documents differ); install Python 3.11.7 to go on with it, or begin "
        "another run"
    )
    del chapters["match"]
    assert open_corpus(of_python, tmp_path / "tokens").corpus.python == "3.11.7"
