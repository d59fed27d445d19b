"""``python -m fastsel`` calls `main`, as the command ``fastsel`` does."""

import sys

from fastsel._cli._commands import main

if __name__ == "__main__":
    sys.exit(main())
