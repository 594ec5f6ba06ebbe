"""From a recipe or a request to finished work: what a command calls, one function each.

May use: text, declare, exact, forward, prove, bundle, solvers, view, lab.model, lab.train, lab.discover,
lab.distill, lab.surrogate, lab.records, lab.reports.
Names: `verification.verify`, `verification.Request`, `extraction.extract`,
`localisation.localise`, `distillation.distill`, `construction.construct`, `surrogate.run_surrogate`,
`radii.find_radii`, `synthesis.synthesise`, `cost.count_costs`, `hugging_face.import_hf`.
"""
