"""What can be asked of a model, a circuit and a task: plain values in, plain data out, no torch.

Names: `verification.verify`, `verification.Request`, `radii.find_radii`, `minimality.find_minimum`,
`cross_check.cross_check`, `cost.count_costs`, `logits.find_logits`, `declared.find_declared`,
`models.describe`, `models.write_model`, `checker.run_checker`.
"""
