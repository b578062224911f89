"""Intervals and bands: closed forms first, resampling where there is none."""
