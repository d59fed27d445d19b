"""The process that regress.py starts in each environment: it times cells when it is asked.

Each line of standard input is a cell or a number of seconds, as JSON. A cell is prepared, and the
answer is null, or the error; seconds are spent on calls of that cell, and the answer is their
median.
"""

import json
import statistics
import sys

from cases import build, operator_call
from cells import Cell
from timing import block

import fastsel


def main():
    call = None
    for line in sys.stdin:
        request = json.loads(line)
        if isinstance(request, dict):
            call, answer = prepare(Cell(**request))
        else:
            answer = statistics.median(block(call, request))
        print(json.dumps(answer), flush=True)


def prepare(cell):
    """The call of this commit's fastsel and None; or None and why it cannot."""
    try:
        call = operator_call(fastsel, build(cell))
        call()
    except Exception as error:  # An older commit may lack the operator.
        return None, f"{type(error).__name__}: {error}"
    return call, None


if __name__ == "__main__":
    main()
