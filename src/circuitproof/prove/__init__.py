"""Proofs: claims and their properties, exact folds, counted verdicts and their evidence.

May use: text, declare, exact, forward.
Names: `claim.Claim`, `properties.Property`, `properties.Equivalence`, `properties.Invariance`,
`properties.Necessity`, `properties.Robustness`, `properties.Faithfulness`, `battery.prove`, `fold.fold`,
`verdict.Verdict`, `verdict.Proved`, `verdict.Refuted`, `verdict.Undecided`, `verdict.settle`,
`remarks.remarks`, `minimal.search_minimum`.
"""
