"""What the stages of runs write down: the records that stages return and that pages and figures read back.

May use: text, errors, declare, forward, lab.train, lab.discover; of those two only what needs no torch.
Names: `gate.Outcome`, `viability.Viability`, `programs.HeadSearch`, `audit.State`, `healing.Healed`,
`migration.RoundRecord`, `norms.Fold`, `limits.Beyond`, `checked.Checked`.
"""
