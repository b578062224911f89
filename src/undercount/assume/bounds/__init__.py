"""Bounds when only some positives are labelled (Claesen et al. 2015).

In order: `hidden_limits` says how many hidden positives may stand above each score; `tables` bounds
the table at each score by itself; `attainable` follows single labellings; `bound_curve` joins them.
"""
