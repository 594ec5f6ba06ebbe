"""Distilling attention into programs: installing them in a trained model, and what follows from it."""
