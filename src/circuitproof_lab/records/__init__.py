"""What the stages of runs write down: the records that stages return and that pages and figures read back.

Names: `gate.GateOutcome`, `viability.Viability`, `programs.HeadSearch`, `audit.MeasuredState`,
`healing.Healed`, `migration.RoundRecord`, `norms.NormFold`, `limits.PatternLimits`, `checked.CheckedBundle`,
`variants.VariantComparison`, `surrogate.SurrogateReport`.
"""
