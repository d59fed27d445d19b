"""``python -m fastsel``; the command ``fastsel`` calls it, too."""

import sys

from fastsel._cli._commands import main

if __name__ == "__main__":
    sys.exit(main())
