"""``python -m fastsel``; also what the command ``fastsel`` calls."""

import sys

from fastsel._cli._commands import main

if __name__ == "__main__":
    sys.exit(main())
