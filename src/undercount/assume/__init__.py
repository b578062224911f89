"""Counts to curve, one file an assumption."""
