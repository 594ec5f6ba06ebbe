"""Distilling attention into programs: installing them in a trained model, and what follows from it.

Names: `synthesise.synthesise`, `synthesis.Bounds`, `synthesis.Synthesis`, `unrealisable.Unrealisable`,
`unrealisable.recheck`, `install.install`, `heal.Treatment`, `lesion.Behaviour`, `migrate.Migration`,
`calibrate.calibrate`, `audit.audit`.
"""
