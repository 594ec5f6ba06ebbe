"""Distilling attention into programs: searching them, certifying that none will do, installing, healing.

Names: `synthesise.synthesise`, `program_search.ProgramSearch`, `synthesis.Bounds`, `synthesis.Synthesis`,
`unrealisable.Unrealisable`, `unrealisable.recheck`, `install.install`, `heal.Treatment`, `lesion.Behaviour`,
`migrate.Migration`, `calibrate.calibrate`, `audit.audit`.
"""
