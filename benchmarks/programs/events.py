"""Late arrivals: filter a table of 336,776 flights, and keep one row of each flight number and day.

Rows with missing values are removed, then flights that arrived at most 15 minutes late. If a flight
number was late several times on a day, its first row is kept.
"""

import numpy as np
from shared import flights, start

COLUMNS = ["month", "day", "flight", "dep_delay", "arr_delay", "air_time", "distance"]
LATE = 15  # minutes


def main(f, step=1):
    table = np.stack([column.astype(np.float64) for column in flights(COLUMNS, step)], axis=1)
    missing = np.isnan(table)
    table = f.boolean_mask(table, f.count_nonzero(missing, axis=1) == 0)
    late = f.boolean_mask(table, table[:, COLUMNS.index("arr_delay")] > LATE)

    keys = late[:, :3].astype(np.int32)  # month, day, flight
    _, first = f.unique(keys, axis=0, return_index=True)
    late = late[np.sort(first)]
    days, lines = f.unique(late[:, 0] * 100 + late[:, 1], return_counts=True)
    return {"late": late, "missing": f.count_nonzero(missing, axis=0), "days": days, "lines": lines}


if __name__ == "__main__":
    start(main)
