import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from circuitproof.errors import InputError
from circuitproof.files.canonical import digest_bytes
from circuitproof.files.sealed import MANIFEST, check_seal, read_manifest, write_sealed

FILES = {"model.json": b"{}", "weights": b"\x00\x01\x02"}


@pytest.fixture
def sealed(tmp_path) -> Path:
    """Return a sealed directory of two files."""
    write_sealed(tmp_path / "sealed", FILES)
    return tmp_path / "sealed"


def relist(folder: Path, files: object) -> None:
    """Replace what the manifest lists."""
    (folder / MANIFEST).write_text(json.dumps({"files": files}))


def test_what_was_sealed_passes(sealed):
    """A seal that refuses its own work would stop everyone."""
    check_seal(sealed, frozenset(FILES))
    assert {path.name: path.read_bytes() for path in sealed.iterdir() if path.name != MANIFEST} == FILES


def test_the_manifest_lists_every_file_with_its_digest(sealed):
    """The manifest is the only place where a digest is looked up."""
    assert read_manifest(sealed) == {name: digest_bytes(content) for name, content in FILES.items()}


def test_a_directory_is_never_sealed_twice(sealed):
    """A run that is already there is not overwritten."""
    with pytest.raises(InputError, match=r"sealed already exists; remove it or choose another place"):
        write_sealed(sealed, FILES)


@given(content=st.binary(min_size=1), data=st.data())
def test_any_changed_byte_is_noticed(tmp_path_factory, content, data):
    """One flipped bit in a weight is another model."""
    folder = tmp_path_factory.mktemp("seal") / "sealed"
    write_sealed(folder, {"file": content})
    place, flip = data.draw(st.integers(0, len(content) - 1)), data.draw(st.integers(1, 255))
    damaged = bytearray(content)
    damaged[place] ^= flip
    (folder / "file").write_bytes(damaged)
    with pytest.raises(InputError, match=r"file has digest [0-9a-f]{64}, the manifest wants [0-9a-f]{64}"):
        check_seal(folder, frozenset({"file"}))


def test_a_listed_file_that_is_gone_is_noticed(sealed):
    """A directory that lost a file is no longer what was written."""
    (sealed / "weights").unlink()
    with pytest.raises(InputError, match=r"weights is missing, though the manifest lists it"):
        check_seal(sealed, frozenset({"model.json"}))


def test_a_folder_in_place_of_a_listed_file_is_noticed(sealed):
    """A folder has no bytes to digest; it must not end in a traceback."""
    (sealed / "weights").unlink()
    (sealed / "weights").mkdir()
    with pytest.raises(InputError, match="weights is missing"):
        check_seal(sealed, frozenset(FILES))


def test_a_file_that_the_manifest_does_not_list_cannot_be_asked_for(sealed):
    """Otherwise an attacker removes the line instead of forging the digest."""
    relist(sealed, {"weights": str(digest_bytes(FILES["weights"]))})
    with pytest.raises(InputError, match=r"manifest.json does not list model.json; this is not the expected"):
        check_seal(sealed, frozenset(FILES))


@pytest.mark.parametrize("name", ["../weights", "/etc/passwd", "deep/weights", ".", "weights/", ""])
def test_a_manifest_cannot_point_elsewhere(sealed, name):
    """What is read must lie in the directory that was checked."""
    relist(sealed, {name: str(digest_bytes(b""))})
    with pytest.raises(InputError, match=r"is not a plain file name|is missing"):
        check_seal(sealed, frozenset())


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "is not usable JSON"),
        ("[]", "manifest.json is a list, want an object with keys"),
        ("{}", "manifest.json.files is missing"),
        ('{"files": {}, "filse": {}}', "manifest.json.filse is not a known key"),
        ('{"files": ["weights"]}', "manifest.json.files is a list"),
        ('{"files": {"weights": 3}}', "manifest.json.files.weights is the number 3, want a string"),
        ('{"files": {"weights": "abc"}}', "manifest.json.files.weights: 'abc' is not a SHA-256 digest"),
        ('{"files": {"a": "", "a": ""}}', "the key 'a' is repeated"),
    ],
)
def test_a_malformed_manifest_is_refused_with_a_sentence(sealed, content, sentence):
    """The sentence names the file and the key, so that the user can look."""
    (sealed / MANIFEST).write_text(content)
    with pytest.raises(InputError, match=sentence):
        read_manifest(sealed)


def test_a_directory_without_a_manifest_is_not_sealed(tmp_path):
    """Nothing is accepted for lack of a complaint."""
    with pytest.raises(InputError, match=r"manifest.json: .* is not sealed; seal a model by .* --seal"):
        check_seal(tmp_path, frozenset())
