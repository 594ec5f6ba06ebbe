"""Tasks: what is asked, over which prompts, and what the right answer is. Standard library only.

Names: `loading.load_task`, `task.Task`, `domain.Domain`, `domain.Prompt`, `alphabet.Alphabet`,
`names.TokenNames`, `patterns.Pattern`, `pattern_text.print_pattern`, `automaton.Automaton`,
`generator.Generator`.
"""
