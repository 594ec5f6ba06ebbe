"""What Python calls: files or objects in, plain results out, which a notebook shows; nothing is printed.

Names: `declaring.load_model`, `declaring.declare_task`, `proving.verify`, `proving.radius`,
`proving.minimal`, `claiming.prove_claims`, `checking.check`, `finding.extract`,
`looking.explain`, `looking.logits`, `looking.report`.
"""
