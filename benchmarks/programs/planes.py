"""How late was the plane of each flight before, and how windy was the hour of its departure?

The rows of each plane give its previous flight. The weather has a row for each airport
and hour.
"""

import numpy as np
from shared import start, table

AIRPORTS = ("EWR", "JFK", "LGA")


def main(f, step=1):
    names = ["tailnum", "origin", "month", "day", "hour", "dep_delay", "arr_delay"]
    planes, *places, departed, arrived = table("flights", names, step)
    _, rows, offsets = f.group_indices(planes)
    before = np.full(len(planes), np.nan)
    before[rows[1:]] = arrived[rows[:-1]]
    before[rows[offsets[:-1]]] = np.nan  # the first flight of each plane

    *hours, speeds = table("weather", ["origin", "month", "day", "hour", "wind_speed"], 1)
    hour = f.index_in(numbers(*places), numbers(*hours))
    winds = np.where(hour < 0, np.nan, speeds[hour])
    known = f.flatnonzero(~np.isnan(before) & ~np.isnan(departed) & ~np.isnan(winds))
    return {"rows": known, "before": before[known], "winds": winds[known], "offsets": offsets}


def numbers(origin, month, day, hour):
    """One number for each airport and hour."""
    airport = sum((k + 1) * (origin == name) for k, name in enumerate(AIRPORTS))
    return ((airport * 100 + month) * 100 + day) * 100 + hour


if __name__ == "__main__":
    start(main)
