"""Verdicts on rows that were drawn to be looked at."""
