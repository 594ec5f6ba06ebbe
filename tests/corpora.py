"""Corpora of a few words, in memory and as files."""

from pathlib import Path

import numpy as np

from circuitproof_lab.train.corpus import Document, DocumentUse
from circuitproof_lab.train.data import CorpusData


def corpus_data(tokens, window: int, size: int, seed: int) -> CorpusData:
    """Return data whose every part is the same row of tokens."""
    return CorpusData(dict.fromkeys(DocumentUse, np.asarray(tokens)), window, size, seed)


def write_corpus(folder: Path, documents: int = 60) -> Path:
    """Write small documents of two kinds below `folder`: `code` with every part in it, and `prose`."""
    for kind, words in (("code", "def name ( self ) : return value + 1"), ("prose", "the quick brown fox")):
        (folder / kind).mkdir(parents=True)
        for number in range(documents):
            text = "\n".join(f"{words} {number} {line}" for line in range(12))
            (folder / kind / f"{number}.txt").write_text(text)
    names = [Document(f"{number}.txt", "") for number in range(documents)]
    assert {document.part for document in names} == set(DocumentUse) - {DocumentUse.SECOND}
    return folder


def corpus_changes(**more: str) -> dict[str, str | None]:
    """Return what makes the tiny recipe train on the corpus beside it, in 300 byte pairs."""
    return {
        "architecture.vocabulary": "300",
        "data.kind": '"corpus"',
        "data.tasks": None,
        "data.text": '{ kind = "files", root = "code", patterns = ["*.txt"] }',
        "data.second": '{ kind = "files", root = "prose", patterns = ["*.txt"] }',
        "data.tokenizer": '{ kind = "byte pairs", vocabulary = 300 }',
        "data.batch": "64",
        **{f"data.{key}": value for key, value in more.items()},
    }
