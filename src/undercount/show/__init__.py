"""Evaluations, comparisons and estimates as text, JSON, Markdown, LaTeX, pages and plots."""
