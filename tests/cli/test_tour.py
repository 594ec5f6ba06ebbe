"""The first look at the product, which must work with nothing but the package."""

from circuitproof.reports.touring import BESIDE, SHIPPED, take_tour
from circuitproof_check.main import Outcome, inspect

MOST_BYTES = 200_000


def test_the_shipped_bundle_is_valid_with_everything_compared():
    """It is of this format, about the model and the task that stand beside it."""
    report = inspect(SHIPPED / "bundle", BESIDE)
    assert report.outcome is Outcome.VALID, report.reason
    assert "model compared" in report.reason
    assert "as declared" in report.reason


def test_what_is_shipped_is_small():
    """It is in every installation."""
    assert sum(file.stat().st_size for file in SHIPPED.rglob("*") if file.is_file()) < MOST_BYTES


def test_a_changed_number_is_refused_for_what_it_says(tmp_path):
    """Its digests are right: the checker computes the logit itself."""
    taken = take_tour(tmp_path)
    assert taken.checked.outcome is Outcome.VALID
    assert taken.broken.outcome is Outcome.INVALID
    assert "folds are the logits" in taken.broken.reason
    assert taken.page.read_bytes().startswith(b"<!doctype html>")
    assert "The verdicts" in taken.verdicts


def test_the_command_shows_a_proof_a_refusal_a_page_and_what_to_type_next(run):
    """Four steps, and three commands at the end."""
    code, said, complaint = run("tour")
    assert (code, complaint) == (0, "")
    places = [
        said.index(word) for word in ("valid: model compared", "invalid: equivalence", "page.html", "Next:")
    ]
    assert places == sorted(places)
    assert [line for line in said.splitlines() if line.startswith("  circuitproof") or line == "  make demo"][
        2:
    ]
