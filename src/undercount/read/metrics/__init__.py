"""Metrics of labels and scores, each with its interval; one function a metric."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
