"""Bounds when only some positives are labelled (Claesen et al. 2015)."""
