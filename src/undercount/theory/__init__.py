"""What the papers prove: moments, tail bounds, inversions, recovery errors, simulations."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
