"""Experiments with the product: training, distilling attention into programs, surrogates, studies."""
