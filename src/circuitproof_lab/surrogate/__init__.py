"""Testing an explanation from outside: a surrogate stands in for a circuit, and a program is proved of it.

Names: `template.ProgramTemplate`, `template.Signature`, `template.FilledTemplate`, `template.MooreMachine`,
`synthesis.TemplateSynthesis`, `relation.Relation`, `network.Network`, `equivalence.EquivalenceReplies`,
`study.StudyPlan`, `study.run_study`, `report.report_of`.
"""
