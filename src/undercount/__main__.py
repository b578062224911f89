"""Run the commands by `python -m undercount`."""

import sys

from undercount.cli.main import main

if __name__ == "__main__":  # those who only look at the package import this too
    sys.exit(main())
