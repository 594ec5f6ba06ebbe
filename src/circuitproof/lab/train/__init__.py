"""Training: one loop for every scale, deterministic, and resumable at any moment."""
