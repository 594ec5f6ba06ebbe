from circuitproof.files.canonical import Digest
from circuitproof_lab.figures.lesions import draw_lesions, ladder_panels, migration_panels
from circuitproof_lab.figures.style import write_drawing
from circuitproof_lab.records.audit import Audit, MeasuredState
from circuitproof_lab.records.migration import Lesion, PlacedLesion


def state(task, name, model):
    """Return a state of a construction."""
    audit = Audit(
        heads=(),
        prompts=8,
        model=model,
        circuit=8,
        without_heads=4,
        without_each=(),
        circuit_without_each=(),
        circuit_without_heads=1,
        without_circuit=2,
        backup=(0, 1, 2, 3),
        wrong=(),
        lesion_digest=Digest("0" * 64),
    )
    return MeasuredState(task=task, name=name, audit=audit, radius=0.5, losses=None, seconds=1.0, passes=True)


def lesion(place, where, silenced, right):
    """Return a lesion of a model with two programs."""
    found = Lesion(
        where=where, silenced=silenced, kl=0.0, unchanged=right, right=right, prompts=8, worst_margin=0.0
    )
    return PlacedLesion(place, "quotes", "held", found)


def test_the_steps_of_a_construction_stand_in_their_order(tmp_path):
    """From the base up the ladder, though files have another order."""
    names = ("readout", "base", "installed")
    panels = ladder_panels([state(task, name, 5) for task in ("quotes", "tags") for name in names])
    assert [panel.states for panel in panels] == [("base", "installed", "readout")] * 2
    assert panels[0].right[0] == (5, 8, 4, 2)
    write_drawing(draw_lesions(panels), tmp_path / "one.png")


def test_the_least_missed_program_is_one_that_the_circuit_reads(tmp_path):
    """A program of another behaviour is missed by nobody, and would say that every circuit is bypassed."""
    both = ("head 0.0", "head 0.1")
    rows = [
        ("model", (), 8),
        ("model", both, 1),
        ("model", ("head 0.0",), 3),
        ("model", ("head 0.1",), 8),
        ("circuit", (), 7),
        ("circuit", both, 2),
        ("circuit", ("head 0.0",), 4),
    ]
    places = ("seed-1/core_aware", "seed-1/plain", "seed-1/unhealed")
    (panel,) = migration_panels([lesion(place, *row) for place in places for row in rows])
    assert panel.states == ("seed-1/unhealed (held)", "seed-1/plain (held)", "seed-1/core_aware (held)")
    assert panel.right[0] == (8, 1, 3, 7, 2, 4)
    write_drawing(draw_lesions([panel]), tmp_path / "one.png")
