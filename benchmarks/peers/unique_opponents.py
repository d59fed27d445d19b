"""The code of the peers for unique and group_indices; see opponents.py."""

import functools

import numpy as np
from cells import GROUPED, UNIQUE_ROWS
from implementations import NUMPY
from peers import container, require, tensor, thread_count
from registry import opponent

# With more groups, SciPy takes minutes.
MAX_VALUE_INDICES = 10_000
VALUES = ("unique_sorted", "unique_first")


# unique values; for a sorted result, a peer without a defined order sorts its distinct values


@opponent("numpy", "unique_sorted")
def numpy_unique(case):
    return lambda: np.unique(case.x)


@opponent("numpy", "unique_first", variant="any order", any_order=True)
def numpy_unique_values(case):
    return lambda: np.unique_values(case.x)


@opponent("numpy", "unique_first", "unique_rows_first", variant="first")
def numpy_unique_first(case):
    return lambda: NUMPY.unique(case.x, axis=case.axis, sorted=False)


@opponent("numpy", "unique_sorted", variant="sort, mask")
@opponent("numpy", "unique_first", variant="sort, mask", any_order=True)
def numpy_sort_mask(case):
    def sort_mask():
        x = np.sort(case.x)
        changes = np.empty(x.size, bool)
        changes[0] = True
        np.not_equal(x[1:], x[:-1], out=changes[1:])
        return x[changes]

    return sort_mask


@opponent("torch", "unique_sorted")
@opponent("torch", "unique_first", variant="any order", any_order=True)
def torch_unique(case):
    x = tensor(case.x)
    return lambda: x.unique(sorted=case.sorted)


@opponent("polars", "unique_sorted")
@opponent("polars", "unique_first", variant="any order", any_order=True)
def polars_unique(case):
    import polars

    x = container(polars.Series, case.x)
    if case.sorted:
        return lambda: x().unique().sort()
    return lambda: x().unique()


@opponent("polars", "unique_first", variant="first")
def polars_unique_first(case):
    import polars

    x = container(polars.Series, case.x)
    return lambda: x().unique(maintain_order=True)


@opponent("pandas", *VALUES)
def pandas_unique(case):
    import pandas

    if case.sorted:
        return lambda: np.sort(pandas.unique(case.x))
    return lambda: pandas.unique(case.x)


@opponent("pyarrow", *VALUES)
def pyarrow_unique(case):
    import pyarrow

    x = container(pyarrow.array, case.x)
    if case.sorted:
        return lambda: x().unique().sort()
    return lambda: x().unique()


@opponent("duckdb", "unique_sorted")
@opponent("duckdb", "unique_first", variant="any order", any_order=True)
def duckdb_unique(case):
    import duckdb

    connection = duckdb.connect(config={"threads": thread_count()})
    connection.register("items", {"x": case.x})
    query = "SELECT DISTINCT x FROM items" + " ORDER BY x" * case.sorted
    return lambda: connection.execute(query).fetchnumpy()["x"]


@opponent("fastremap", "unique_sorted")
@opponent("fastremap", "unique_first", variant="sorted", any_order=True)
def fastremap_unique(case):
    import fastremap

    require(
        case.x.dtype not in (np.int8, np.int16),
        "fastremap 1.21 writes beyond its own arrays for int8 and int16",
    )
    return lambda: fastremap.unique(case.x)


# unique with counts


@opponent("numpy", "unique_counts")
def numpy_unique_counts(case):
    return lambda: np.unique(case.x, return_counts=True)


@opponent("torch", "unique_counts")
def torch_unique_counts(case):
    x = tensor(case.x)
    return lambda: x.unique(sorted=True, return_counts=True)


@opponent("pandas", "unique_counts")
def pandas_unique_counts(case):
    import pandas

    x = pandas.Series(case.x, copy=False)

    def count_sort():
        counts = x.value_counts(sort=False).sort_index()
        return counts.index.to_numpy(), counts.to_numpy()

    return count_sort


@opponent("polars", "unique_counts")
def polars_unique_counts(case):
    import polars

    x = container(polars.Series, case.x)

    def count_sort():
        table = x().value_counts().sort("")
        return table[""].to_numpy(), table["count"].to_numpy()

    return count_sort


# unique with index, inverse and counts; None stands for an output that the peer does not have


@opponent("numpy", "unique_all")
def numpy_unique_all(case):
    return lambda: np.unique(case.x, True, True, True)


@opponent("torch", "unique_all", variant="no index", finish=lambda r: (r[0], None, r[1], r[2]))
def torch_unique_all(case):
    x = tensor(case.x)
    return lambda: x.unique(sorted=True, return_inverse=True, return_counts=True)


@opponent("pandas", "unique_all", variant="no index")
def pandas_unique_all(case):
    import pandas

    def factorize_count():
        codes, values = pandas.factorize(case.x, sort=True)
        return values, None, codes, np.bincount(codes)

    return factorize_count


# the positions of each group


@opponent("numpy", *GROUPED)
def numpy_group_indices(case):
    return lambda: NUMPY.group_indices(case.x, sorted=case.sorted)


def joined_groups(groups):
    """Values, indices and offsets, from a dict of the positions of each value."""
    offsets = np.cumsum([0, *map(len, groups.values())])
    return np.array([*groups]), np.concatenate([*groups.values()]), offsets


@opponent("scipy", "group_indices", finish=lambda r: joined_groups({k: r[k][0] for k in sorted(r)}))
def scipy_value_indices(case):
    from scipy import ndimage

    require(case.x.dtype.kind in "iu", "integers only")
    require(
        case.cell.groups <= MAX_VALUE_INDICES,
        "an array for each group, found by a search among all groups",
    )
    return lambda: ndimage.value_indices(case.x)


@opponent("pandas", "group_indices")
def pandas_group_indices(case):
    import pandas

    series = pandas.Series(case.x, copy=False)
    return lambda: joined_groups(series.groupby(series).indices)


@opponent("arraykit", *GROUPED)
def arraykit_group_ordering(case):
    import arraykit

    def factorize_order():
        values, codes = arraykit.factorize(case.x, sort=case.sorted)
        return values, *arraykit.group_ordering(codes)

    return factorize_order


# unique rows


@opponent("numpy", "unique_rows")
def numpy_unique_rows(case):
    return lambda: np.unique(case.x, axis=0)


@opponent("torch", "unique_rows")
@opponent("torch", "unique_rows_first", variant="sorted", any_order=True)
def torch_unique_rows(case):
    x = tensor(case.x)
    return lambda: x.unique(dim=0)


@opponent("pandas", *UNIQUE_ROWS)
def pandas_unique_rows(case):
    import pandas

    frame = pandas.DataFrame(case.x, copy=False)
    if case.sorted:
        return lambda: frame.drop_duplicates().sort_values(list(frame.columns))
    return frame.drop_duplicates


def polars_rows(case, frame, maintain_order=False):
    def sorted_rows():
        rows = frame().unique()
        return rows.sort(rows.columns)

    if case.sorted:
        return sorted_rows
    return lambda: frame().unique(maintain_order=maintain_order)


def polars_frame(case):
    """A function that copies the rows to the columns of a data frame."""
    import polars

    return functools.partial(polars.DataFrame, case.x, orient="row")


@opponent("polars", "unique_rows")
@opponent("polars", "unique_rows_first", variant="any order", any_order=True)
def polars_unique_rows(case):
    return polars_rows(case, polars_frame(case))


@opponent("polars", "unique_rows_first", variant="first")
def polars_unique_rows_first(case):
    return polars_rows(case, polars_frame(case), maintain_order=True)


@opponent("polars", "unique_rows", variant="frame ready", ready=True, counts=False)
@opponent("polars", "unique_rows_first", variant="first, frame ready", ready=True, counts=False)
def polars_unique_rows_frame_ready(case):
    frame = polars_frame(case)()
    return polars_rows(case, lambda: frame, maintain_order=True)
