"""How often did each plane fly to each airport? A sparse matrix from 336,776 flights.

Tail numbers and airports, which are strings, become rows and columns; flights of the same plane to
the same airport are counted. Planes with few flights are left out.
"""

import numpy as np
import scipy.sparse
from shared import flights, start

MIN_FLIGHTS = 50


def main(f, step=1):
    tails, airports = flights(["tailnum", "dest"], step)
    planes, rows = f.unique(tails, return_inverse=True)
    destinations, columns = f.unique(airports, return_inverse=True)

    cells, counts = f.unique(rows * len(destinations) + columns, return_counts=True)
    matrix = scipy.sparse.csr_array(
        (counts, np.divmod(cells, len(destinations))), (len(planes), len(destinations))
    )
    frequent = f.flatnonzero(matrix.sum(axis=1) >= MIN_FLIGHTS / step)
    matrix = matrix[frequent]
    return {"counts": matrix.data, "columns": matrix.indices, "starts": matrix.indptr}


if __name__ == "__main__":
    start(main)
