"""The same claims through solvers: queries as SMT-LIB text, one file per solver, and the comparison."""
