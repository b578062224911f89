"""Estimators that learn from positive and unlabeled rows."""
