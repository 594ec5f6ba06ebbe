"""Discovery: finding the circuit of a model that does a task, and choosing among those found."""
