"""The stages of runs, each a function that makes its record or its files once; recipes list them.

May use: text, errors, declare, forward, prove, bundle, lab.model, lab.train, lab.discover, lab.distill,
lab.records, lab.runs.
Names: `extract.extracted`, `gate.open_gate`, `heal.heal`, `calibrate.state_of`, `prove.prove_circuit`,
`check.check_bundle`, `limits.prove_beyond`, `measure_proof.measure_proof`.
"""
