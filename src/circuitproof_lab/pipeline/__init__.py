"""From a recipe to finished work: recipes list stages, `engine.follow` goes through them.

Names: `localisation.localise`, `distillation.distill`, `construction.construct`, `study.run_study`,
`surrogate.run_surrogate`, `variants.compare_variants`, `synthesis.synthesise`; a recipe's list is its
module's `STAGES` or `stages_of`, and stages have a package of their own.
`circuitproof.files.run.Run.stage` skips what is finished.
"""
