"""Properties, one module each: class, words, JSON, answers, remarks, solver questions, counterexamples.

Names: `kinds.Kind`, `property.Property`, `catalogue.PROPERTIES`, `equivalence.Equivalence`,
`invariance.Invariance`, `necessity.Necessity`, `robustness.Robustness`, `faithfulness.Faithfulness`,
`agreement.Agreement`, `subset_minimality.SubsetMinimality`, `minimum.Minimum`,
`lesion_identity.LesionIdentity`.
"""
