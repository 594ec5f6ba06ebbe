import shutil
from types import SimpleNamespace

import pytest

from circuitproof.errors import InputError
from circuitproof.files.canonical import digest_bytes
from circuitproof.files.run import begin_run

DIGEST = digest_bytes(b"recipe")


@pytest.fixture
def full(monkeypatch):
    """Let all disks have a megabyte left."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=10**6))


def begin(folder, size=0, digest=DIGEST):
    """Begin a run and end it at once."""
    with begin_run(folder, "one", digest, size) as run:
        assert run.folder == folder


@pytest.mark.usefixtures("full")
def test_a_run_that_the_disk_has_no_room_for_is_refused_and_claims_nothing(tmp_path):
    """It would be a pity to learn it after a day."""
    sentence = "run would grow by about 3 MB, but 1 MB are free; make room or choose another place"
    with pytest.raises(InputError, match=sentence):
        begin(tmp_path / "deep" / "run", 3 * 10**6)
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("full")
def test_what_a_run_has_written_needs_no_more_room(tmp_path):
    """A run that was nearly done when it was killed can be ended on a disk that is nearly full."""
    begin(tmp_path / "run")
    (tmp_path / "run" / "weights").write_bytes(bytes(2 * 10**6 + 10**5))
    begin(tmp_path / "run", 3 * 10**6)
    with pytest.raises(InputError, match="would grow by about 2 MB"):
        begin(tmp_path / "run", 4 * 10**6)


def test_two_runs_cannot_go_on_in_one_folder(tmp_path):
    """The second is told, and can go on when the first has ended, however it did."""
    with begin_run(tmp_path / "run", "one", DIGEST, 0):
        with pytest.raises(InputError, match=r"another run goes on in .*run; wait for it or choose another"):
            begin(tmp_path / "run")
        begin(tmp_path / "other")
    begin(tmp_path / "run")


def refused(folder, content):
    """Begin a run that is refused after it has made some files."""
    with begin_run(folder, "one", DIGEST, 0) as run:
        for name, text in content.items():
            (run.folder / name).write_text(text)
        raise InputError("no tokens")


def test_a_run_that_is_refused_before_anything_was_made_leaves_its_folder(tmp_path):
    """So that the mended recipe can begin in the same place; what was made stays."""
    for content, left in (({}, []), ({"made": ""}, [".run.json.lock", "made", "run.json"])):
        with pytest.raises(InputError, match="no tokens"):
            refused(tmp_path / "run", content)
        assert sorted(path.name for path in tmp_path.rglob("*") if path.name != "run") == left


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    """Before anything is done."""
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file is a file, want a folder"):
        begin(tmp_path / "file")
    with pytest.raises(InputError, match=r"cannot be written: .*file: Not a directory"):
        begin(tmp_path / "file" / "run")
