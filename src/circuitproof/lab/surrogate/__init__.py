"""Testing an explanation from outside: a surrogate stands in for a circuit, and a program is proved of it."""
