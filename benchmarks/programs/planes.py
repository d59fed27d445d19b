"""How late was the plane of each flight on its previous flight, and how windy was the departure?

The rows of a plane are grouped, so that each flight but the first has a previous flight. The table
of the weather has a row for each airport and hour.
"""

import numpy as np
from shared import start, table

AIRPORTS = ("EWR", "JFK", "LGA")


def main(f, step=1):
    names = ["tailnum", "origin", "month", "day", "hour", "dep_delay", "arr_delay"]
    planes, *places, departed, arrived = table("flights", names, step)
    _, rows, offsets = f.group_indices(planes)
    before = np.full(len(planes), np.nan)  # the delay of the previous flight
    before[rows[1:]] = arrived[rows[:-1]]
    before[rows[offsets[:-1]]] = np.nan  # the first flight of each plane has none

    *hours, speeds = table("weather", ["origin", "month", "day", "hour", "wind_speed"], 1)
    hour = f.index_in(hour_ids(*places), hour_ids(*hours))
    winds = np.where(hour < 0, np.nan, speeds[hour])
    complete = f.flatnonzero(~np.isnan(before) & ~np.isnan(departed) & ~np.isnan(winds))
    return {
        "rows": complete,
        "before": before[complete],
        "winds": winds[complete],
        "offsets": offsets,
    }


def hour_ids(origin, month, day, hour):
    """A number for each airport and hour."""
    airport = sum((k + 1) * (origin == name) for k, name in enumerate(AIRPORTS))
    return ((airport * 100 + month) * 100 + day) * 100 + hour


if __name__ == "__main__":
    start(main)
