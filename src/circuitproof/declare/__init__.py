"""What is asked of what: architectures, circuits, programs, and tasks, as data."""
