"""The process that regress.py starts in each environment; it times cells on request.

Each line of standard input is a request as JSON: a cell, or a number of seconds. For a cell, the
process prepares the call and answers null, or the error. For a number of seconds, it times calls of
the last cell for this long and answers the median.
"""

import json
import statistics
import sys

from cases import build, operator_call
from cells import Cell
from timing import take_samples

import fastsel


def main():
    call = None
    for line in sys.stdin:
        request = json.loads(line)
        if isinstance(request, dict):
            call, answer = prepare(Cell(**request))
        else:
            answer = statistics.median(take_samples(call, request))
        print(json.dumps(answer), flush=True)


def prepare(cell):
    """(call of this commit's fastsel, None), or (None, error) if the call fails."""
    try:
        call = operator_call(fastsel, build(cell))
        call()
    except Exception as error:  # An older commit may lack the operator.
        return None, f"{type(error).__name__}: {error}"
    return call, None


if __name__ == "__main__":
    main()
