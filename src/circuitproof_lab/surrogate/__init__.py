"""Testing an explanation from outside: a surrogate stands in for a circuit, and a program is proved of it.

Names: `template.Template`, `template.Signature`, `template.FilledTemplate`, `template.MooreMachine`,
`synthesis.Synthesis`, `relation.Relation`, `network.Network`, `equivalence.Equivalence`, `study.StudyPlan`,
`study.run_study`, `lesson.Lesson`.
"""
