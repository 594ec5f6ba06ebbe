"""Proofs: claims and their properties, exact folds, counted verdicts and their evidence.

Names: `claim.Claim`, `battery.prove`, `battery.remarks`, `fold.fold`, `verdict.Verdict`, `verdict.Proved`,
`verdict.Refuted`, `verdict.Undecided`, `verdict.settle`, `minimal.search_minimum`; properties have a package
of their own.
"""
