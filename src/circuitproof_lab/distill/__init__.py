"""Distilling attention into programs: installing them in a trained model, and what follows from it.

May use: text, declare, exact, forward, prove, lab.model, lab.train, lab.discover, lab.records.
Names: `synthesise.synthesise`, `synthesis.Bounds`, `synthesis.Synthesis`, `unrealisable.Unrealisable`,
`unrealisable.recheck`, `install.install`, `heal.Treatment`, `lesion.Behaviour`, `migrate.Migration`,
`calibrate.calibrate`, `audit.audit`.
"""
