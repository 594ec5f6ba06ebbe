"""The stage that measures a variant once, after it was trained with a seed; the measures are kept.

What is kept is small and stands apart from the weights: measures made in several folders, or on several
machines, can be put into one.
"""

from dataclasses import replace

from circuitproof.files.canonical import digest_bytes
from circuitproof_lab.pipeline.engine import written
from circuitproof_lab.pipeline.stages.train import material_of
from circuitproof_lab.pipeline.stages.train_variant import SeededVariant, VariantsWork
from circuitproof_lab.records.variants import MeasuredModel
from circuitproof_lab.train.tokenised import CORPUS as PINS


def measure_variant(one: SeededVariant, work: VariantsWork) -> VariantsWork:
    """Measure the variant that was just trained, unless that was done before."""

    def measure() -> MeasuredModel:
        model = written(work.model, f"model of {one.entry.name}")
        material = material_of(work.recipe.base, work.corpus)
        pins = material.files.get(PINS)
        return MeasuredModel(
            seed=one.seed,
            parameters=sum(parameter.numel() for parameter in model.parameters()),
            corpus=None if pins is None else digest_bytes(pins),
            measures=material.data.measure_whole(model),
        )

    work.run.record(one.measures, MeasuredModel, measure)
    return replace(work, model=None)
