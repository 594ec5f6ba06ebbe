"""The same claims through solvers: queries as SMT-LIB text, one file per solver, and the comparison.

Names: `choices.Engine`, `choices.Branching`, `choices.SolverName`, `choices.Asking`, `find.find_solver`,
`arithmetic.Symbolic`, `obligations.Questions`, `obligations.QueryPlan`, `rulings.Portfolio`,
`rulings.Ruling`, `smtlib.query_text`, `results.Solver`, `results.Satisfiable`, `results.Unsatisfiable`,
`results.Unknown`, `results.Failed`, `cost.account`.
"""
