"""From a recipe or a request to finished work: what a command calls, one function each.

May use: text, declare, exact, forward, prove, bundle, solvers, verbs, view, lab.model, lab.train,
lab.discover, lab.distill, lab.surrogate, lab.reports.
Names: `training.train_recipe`, `extraction.extract`, `measuring.measured`, `localisation.localise`,
`distillation.distill`, `construction.construct`, `surrogate.run_surrogate`, `synthesis.synthesise`,
`hugging_face.import_hf`.
"""
