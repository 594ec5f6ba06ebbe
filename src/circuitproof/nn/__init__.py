"""The same forward pass in torch, for measuring, searching and training.

Names: `transformer.Transformer`, `checkpoint.load_model`, `checkpoint.save_model`, `decisions.task_logits`,
`decisions.score_circuits`, `edge_masks.EdgeMasks`, `ops.sparsemax`, `program_heads.Patterns`,
`evaluation.evaluate`.
"""
