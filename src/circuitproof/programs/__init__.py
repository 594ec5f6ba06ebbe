"""Programs: rules over tokens and positions that say exactly where a head attends. Standard library only.

Names: `features.Feature`, `features.Comparison`, `atoms.Atom`, `atoms.Condition`, `atoms.Tally`,
`atoms.Bracketed`, `syntax.Program`, `syntax.Rule`, `syntax.Formula`, `text.parse`, `text.to_text`,
`lines.parse_lines`, `lines.to_lines`, `meaning.row`, `candidates.Grammar`, `candidates.Language`,
`release.read_release_program`.
"""
