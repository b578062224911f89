"""Run the commands by `python -m undercount`."""

import sys

from undercount.cli.main import main

sys.exit(main())
