"""What a circuit computes, said once: frozen weights, cells, and one forward pass over any arithmetic."""
