"""Rows to ScoreCounts, wherever the rows are: arrays, frames, files, SQL engines, clusters."""
