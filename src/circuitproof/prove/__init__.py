"""Verification: properties, exact folds, counted verdicts and their evidence."""
