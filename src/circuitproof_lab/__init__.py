"""Where circuits come from, in floats: models, training, discovery, distillation, surrogates, and runs.

May use: text, declare, exact, forward, prove, bundle, solvers, view.
"""
