"""Intervals: what a row adds to a metric meets the chance by which rows were drawn."""
