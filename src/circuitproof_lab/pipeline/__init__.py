"""From a recipe to finished work, stage by stage; `circuitproof.files.run.Run.stage` skips what is finished.

Names: `localisation.localise`, `distillation.distill`, `construction.construct`, `study.run_study`,
`surrogate.run_surrogate`, `synthesis.synthesise`; its stages have a package of their own.
"""
