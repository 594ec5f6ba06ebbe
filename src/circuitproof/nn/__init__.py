"""The trainable twin of a circuit: one transformer in torch for every scale.

May use: text, declare, forward.
Names: `transformer.Transformer`, `checkpoint.load_model`, `checkpoint.save_model`, `checkpoint.StoredModel`,
`decisions.task_logits`, `decisions.score_circuits`, `gates.Gates`, `ops.activate`, `ops.sparsemax`,
`program_heads.Patterns`, `release.import_release`, `gpt2_format.read_config`.
"""
