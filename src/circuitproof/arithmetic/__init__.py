"""Arithmetics: what a forward pass can compute with. Exact numbers, and forms affine in a perturbation.

Names: `protocol.Arithmetic`, `grid.Grid`, `grid.matmul`, `exact.Exact`, `exact.Witness`, `affine.Affine`,
`forms.Form`, `forms.Bound`, `forms.Region`, `linear.minimise`, `projection.project`, which is sparsemax.
"""
