"""Arithmetics: what a forward pass can compute with. Exact numbers first."""
