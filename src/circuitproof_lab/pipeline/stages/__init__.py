"""The stages of runs: each makes its files or its record once, and recipes list them.

Names: `train.train_recipe`, `remove_norms.remove_norms`, `viability.viability_of`, `extract.extract_circuit`,
`gate.run_generation`, `calibrate.state_of`, `calibrate.calibrated`, `heal.heal`, `prove.prove_circuit`,
`prove_final.prove_final`, `check.check_bundle`, `measure_proof.measure_proof`, `limits.prove_beyond`,
`measure_variant.measure_variant`, `teach.teach`, `explain.fit_surrogate`, `explain.explain`.
"""
