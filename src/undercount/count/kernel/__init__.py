"""Sorting and bucketing of rows into a table of counts; knows arrays alone."""
