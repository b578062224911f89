"""True classifier performance when the labels undercount the positives."""

import lazy_loader

__version__ = "0.1.0"

# The stub beside this file names what is public and where it stands; a module is imported when
# one of its names is first used, so that `import undercount` and `undercount --help` stay light.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
