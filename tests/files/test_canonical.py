import hashlib
import json
import os
import re
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.errors import DeclarationError, InputError, OutputError
from circuitproof.files import canonical
from circuitproof.files.canonical import (
    Digest,
    canonical_json,
    digest_bytes,
    digest_file,
    digest_json,
    readable_json,
    write_directory,
    write_file,
)
from strategies import json_values


@given(json_values)
def test_canonical_bytes_read_back_as_the_same_value(value):
    """A digest of the bytes pins the value only if the bytes carry all of it."""
    assert json.loads(canonical_json(value)) == value


@given(json_values, json_values)
def test_two_values_share_canonical_bytes_only_if_they_are_the_same(one, other):
    """Two declarations with one digest would let a proof about one pass for the other.

    The slow twin spells the types out, because Python holds 1 and true for equal.
    """
    assert (canonical_json(one) == canonical_json(other)) == (_spelt(one) == _spelt(other))


def _spelt(value):
    match value:
        case dict():
            return {key: _spelt(item) for key, item in value.items()}
        case list():
            return [_spelt(item) for item in value]
        case _:
            return (type(value), value)


@given(st.dictionaries(st.text(), json_values))
def test_the_order_of_keys_changes_neither_bytes_nor_digest(content):
    """Who wrote a dictionary first is no part of what it says."""
    backwards = dict(reversed(content.items()))
    assert canonical_json(content) == canonical_json(backwards)
    assert digest_json(content) == digest_json(backwards)


@given(json_values)
def test_canonical_bytes_hold_no_space_between_tokens(value):
    """Spaces inside strings are content; all others would be a second spelling."""
    outside = re.sub(r'"(?:[^"\\]|\\.)*"', "", canonical_json(value).decode())
    assert not any(character.isspace() for character in outside)


@pytest.mark.parametrize(
    ("value", "spot"),
    [
        (0.5, "value is the float 0.5"),
        ([1, [float("nan")]], r"value\[1\]\[0\] is the float nan"),
        ({"a": {"b": [0, 1.0]}}, r"value\.a\.b\[1\] is the float 1\.0"),
    ],
)
def test_floats_have_no_canonical_bytes(value, spot):
    """0.1 has many spellings and 1/10 has one; the sentence names the spot."""
    with pytest.raises(DeclarationError, match=f"{spot}; write it as an integer or a rational in a string"):
        canonical_json(value)


@pytest.mark.parametrize("spell", [canonical_json, readable_json])
def test_half_a_character_is_refused_with_a_sentence(spell):
    """JSON can escape a lone surrogate that no UTF-8 file can hold; that must not end in a traceback."""
    with pytest.raises(DeclarationError, match=r"'\\ud800' is half a character"):
        spell({"name": "A\ud800"})


def test_digests_stay_what_they_are():
    """Bundles written today are checked years from now."""
    assert str(digest_json({})) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    assert str(digest_json({"b": [1, True, None], "a": "é"})) == (
        hashlib.sha256('{"a":"é","b":[1,true,null]}'.encode()).hexdigest()
    )


@given(st.binary())
def test_a_file_and_its_bytes_have_the_same_digest(tmp_path_factory, content):
    """What is hashed on disk is what was hashed in memory."""
    path = tmp_path_factory.mktemp("digest") / "file"
    path.write_bytes(content)
    assert digest_file(path) == digest_bytes(content)
    assert str(digest_bytes(content)) == hashlib.sha256(content).hexdigest()


def test_a_file_that_is_not_there_has_no_digest(tmp_path):
    """A missing file is bad input with a sentence, as everywhere else."""
    with pytest.raises(InputError, match=r"cannot read .*absent: No such file"):
        digest_file(tmp_path / "absent")


@pytest.mark.parametrize("text", ["", "0" * 63, "0" * 65, "A" * 64, "g" * 64, " " + "0" * 63])
def test_only_64_lower_case_hex_digits_are_a_digest(text):
    """A digest in two spellings would compare as different."""
    with pytest.raises(DeclarationError, match="is not a SHA-256 digest: want 64 lower-case hex digits"):
        Digest(text)


def test_readable_json_is_indented_and_ends_in_a_newline():
    """People open these files in an editor; floats are allowed there."""
    assert readable_json({"é": [0.5]}).decode() == '{\n  "é": [\n    0.5\n  ]\n}\n'


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_readable_json_refuses_what_is_not_a_number(number):
    """NaN is not JSON; a file that holds it cannot be read by others."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        readable_json([number])


def test_a_written_file_has_its_content_and_everyone_may_read_it(tmp_path):
    """Missing folders are made, and the private mode of temporary files does not leak out."""
    path = tmp_path / "deep" / "er" / "file.json"
    write_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert list(path.parent.iterdir()) == [path]


def test_writing_a_file_replaces_it_in_one_step(tmp_path):
    """A reader that opened the old file keeps the old content to the end."""
    path = tmp_path / "file"
    write_file(path, b"old content")
    with path.open("rb") as reader:
        write_file(path, b"new")
        assert reader.read() == b"old content"
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failing_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, step):
    """A full disk must not cost the content that was there."""
    path = tmp_path / "file"
    write_file(path, b"old")
    monkeypatch.setattr(os, step, _full_disk)
    with pytest.raises(OutputError, match=f"{path} cannot be written: the disk is full; choose"):
        write_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_flushed_before_it_appears(tmp_path, monkeypatch):
    """If the name came first, a power cut could leave an empty file under it."""
    path = tmp_path / "file"
    flushed = []
    monkeypatch.setattr(canonical, "_flush", lambda _: flushed.append(path.exists()))
    write_file(path, b"content")
    assert flushed == [False, True]


def test_a_directory_appears_whole(tmp_path):
    """Until `fill` is done nobody can see a part of it at its place."""
    path = tmp_path / "deep" / "bundle"

    def fill(folder: Path) -> None:
        assert not path.exists()
        (folder / "claim.json").write_bytes(b"{}")

    write_directory(path, fill)
    assert (path / "claim.json").read_bytes() == b"{}"
    assert stat.S_IMODE(path.stat().st_mode) == 0o755
    assert list(path.parent.iterdir()) == [path]


def test_a_failing_fill_leaves_nothing_behind(tmp_path):
    """Half a bundle must not be mistaken for one, not even in a hidden folder."""

    def fill(folder: Path) -> None:
        (folder / "claim.json").write_bytes(b"{")
        _full_disk()

    with pytest.raises(OutputError, match=f"{tmp_path}/bundle cannot be written: the disk is full"):
        write_directory(tmp_path / "bundle", fill)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_a_directory_has_no_room_for_is_named_as_it_would_be(tmp_path, monkeypatch):
    """The folder in which it was to be filled is gone when the sentence is read."""
    monkeypatch.setattr(os, "fsync", _full_disk)
    with pytest.raises(OutputError, match=f"{tmp_path}/bundle/claim.json cannot be written: the disk"):
        write_directory(tmp_path / "bundle", lambda folder: write_file(folder / "claim.json", b"{}"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["directory", "file", "dangling link"])
def test_a_directory_is_never_written_onto_something(tmp_path, kind):
    """Results of an earlier run are not overwritten, and `fill` is not even asked."""
    path = tmp_path / "bundle"
    match kind:
        case "directory":
            path.mkdir()
        case "file":
            path.touch()
        case _:
            path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"bundle already exists; remove it or choose another place"):
        write_directory(path, lambda _: pytest.fail("nothing may be written"))
    assert list(tmp_path.iterdir()) == [path]


def _full_disk(*_arguments: object) -> None:
    raise OSError("the disk is full")


def test_what_is_flushed_is_the_content(tmp_path, monkeypatch):
    """Bytes that still wait in the program's own buffer are lost by a power cut, flushed or not."""
    sizes = []
    monkeypatch.setattr(canonical, "_flush", lambda descriptor: sizes.append(os.fstat(descriptor).st_size))
    write_file(tmp_path / "file", b"content")
    assert sizes[0] == len(b"content")
