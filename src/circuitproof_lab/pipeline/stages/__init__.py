"""The stages of runs: each makes its files or its record once, and recipes list them.

Names: `train.train_recipe`, `remove_norms.remove_norms`, `viability.viability_of`, `extract.extract_circuit`,
`gate.extract_generation`, `gate.open_generation`, `domain.declare_prompts`, `synthesise.search_programs`,
`install.install_programs`, `calibrate.audit_ends`, `calibrate.calibrate_rungs`, `heal.heal`,
`prove.prove_circuit`, `prove.prove_once`, `check.check_bundle`, `measure_proof.measure_proof`,
`limits.find_limits`, `train_variant.training_of`, `measure_variant.measure_variant`,
`compare_variants.compare_measured`, `teach.teach`, `explain.fit_surrogate`, `explain.explain`.
"""
