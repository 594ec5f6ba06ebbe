"""Tasks: what is asked, over which prompts, and what the right answer is. Standard library only."""
