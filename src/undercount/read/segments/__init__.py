"""Evaluations by segment."""
