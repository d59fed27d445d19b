"""Split 336,776 flights for training and testing; a fifth of each airline is for testing.

Airlines, which are strings, become numbers. Rows with missing values and airlines with few flights
are removed. The fifth is chosen at random.
"""

import numpy as np
from shared import flights, start

COLUMNS = ["carrier", "month", "hour", "dep_delay", "arr_delay", "distance"]
MIN_FLIGHTS = 100
FLIGHTS_PER_TEST = 5  # one of this many flights is for testing


def main(f, step=1):
    carriers, *numbers = flights(COLUMNS, step)
    features = np.stack([column.astype(np.float32) for column in numbers], axis=1)
    present = np.isfinite(features).all(axis=1)
    features, carriers = f.boolean_mask(features, present), f.boolean_mask(carriers, present)

    _, classes, counts = f.unique(carriers, return_inverse=True, return_counts=True)
    rng = np.random.default_rng(0)
    testing = np.zeros(len(classes), bool)
    training = np.zeros(len(classes), bool)
    for number in f.flatnonzero(counts >= MIN_FLIGHTS / step):
        members = rng.permutation(f.flatnonzero(classes == number))
        testing[members[: len(members) // FLIGHTS_PER_TEST]] = True
        training[members[len(members) // FLIGHTS_PER_TEST :]] = True
    return {
        "training": f.boolean_mask(features, training),
        "training classes": f.boolean_mask(classes, training),
        "testing": f.boolean_mask(features, testing),
        "testing classes": f.boolean_mask(classes, testing),
    }


if __name__ == "__main__":
    start(main)
