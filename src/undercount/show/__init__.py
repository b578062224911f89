"""Evaluations, comparisons and estimates as text, JSON, Markdown, LaTeX, pages and plots."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
