"""From a recipe to finished work, stage by stage; an interrupted run goes on where it stopped.

Names: `localisation.localise`, `distillation.distill`, `construction.construct`, `study.run_study`,
`surrogate.run_surrogate`, `synthesis.synthesise`; its stages have a package of their own.
"""
