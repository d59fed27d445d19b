"""The code of the peers for isin, index_in and the functions of sorted sets; see opponents.py."""

import numpy as np
from cells import SETS
from implementations import NUMPY
from peers import container, require, tensor
from registry import opponent

import fastsel
from fastsel._cli._bench import index_in_sorted


@opponent("numpy", *(op for op in SETS if op != "remap"))
def numpy_sets(case):
    function = getattr(NUMPY, case.cell.op)
    return lambda: function(case.x, case.tests)


@opponent("numpy", "isin_rows")
def numpy_isin_rows(case):
    return lambda: NUMPY.isin(case.x, case.tests, axis=0)


@opponent("numpy", "isin_rows", variant="view")
def numpy_isin_of_a_view(case):
    """Each row is viewed as one item of many bytes. Bytes are compared, so that -0.0 differs from
    0.0."""
    dtype = f"V{case.x.itemsize * case.x.shape[1]}"
    return lambda: np.isin(*(a.view(dtype)[:, 0] for a in (case.x, case.tests)))


@opponent("pandas", "isin_rows")
def pandas_merge(case):
    import pandas

    x, tests = (pandas.DataFrame(a, copy=False) for a in (case.x, case.tests))
    columns = list(x.columns)

    def merge():
        merged = x.merge(tests.drop_duplicates(), "left", on=columns, indicator="side")
        return (merged["side"] == "both").to_numpy()

    return merge


@opponent("numpy", "isin", variant="sort")
def numpy_isin_sort(case):
    return lambda: np.isin(case.x, case.tests, kind="sort")


@opponent("numpy", "isin", variant="table")
def numpy_isin_table(case):
    require(case.x.dtype.kind in "biu", "integers only")
    width = int(case.tests.max()) - int(case.tests.min())
    require(width <= 1e9, "a table of more than 1 GB")
    return lambda: np.isin(case.x, case.tests, kind="table")


@opponent("numpy", "index_in", variant="tests sorted", ready=True, counts=False)
def numpy_searchsorted(case):
    order = np.argsort(case.tests, kind="stable")
    values = case.tests[order]
    return lambda: index_in_sorted(case.x, values, order)


@opponent("pandas", "index_in")
def pandas_get_indexer(case):
    """The Index is made in the call, because an Index keeps its hash table. Its items must be
    unique."""
    import pandas

    require(len(np.unique(case.tests)) == len(case.tests), "distinct tests only")
    return lambda: pandas.Index(case.tests).get_indexer(case.x)


@opponent("pyarrow", "index_in")
def pyarrow_index_in(case):
    import pyarrow
    from pyarrow import compute

    x, tests = container(pyarrow.array, case.x), container(pyarrow.array, case.tests)
    return lambda: compute.index_in(x(), value_set=tests()).fill_null(-1)


@opponent("numpy", "remap")
def numpy_remap(case):
    return lambda: NUMPY.remap(case.x, case.tests, case.values, default=-1)


@opponent("fastsel", "remap", variant="index_in", counts=False)
def fastsel_index_in_and_take(case):
    def look_up():
        index = fastsel.index_in(case.x, case.tests)
        return np.where(index < 0, -1, case.values.take(index))

    return look_up


@opponent("pandas", "remap")
def pandas_map(case):
    """The Series of the values is made in the call, because its index keeps its hash table. pandas
    returns NaN for missing items, and floats."""
    import pandas

    require(len(np.unique(case.tests)) == len(case.tests), "distinct keys only")
    x = pandas.Series(case.x, copy=False)
    return lambda: x.map(pandas.Series(case.values, case.tests)).fillna(-1).to_numpy()


@opponent("fastremap", "remap")
def fastremap_remap(case):
    """The dict is made in the call; missing items keep their labels, which is not compared."""
    import fastremap

    require(case.x.dtype.kind in "iu", "integers only")
    require(np.isin(case.x, case.tests).all(), "all items must be among the keys")

    def look_up():
        table = dict(zip(case.tests.tolist(), case.values.tolist(), strict=True))
        return fastremap.remap(case.x, table)

    return look_up


@opponent("skimage", "remap")
def skimage_map_array(case):
    """Missing items become 0, so all items must be among the keys."""
    from skimage.util import map_array

    require(case.x.dtype.kind in "iu", "integers only")
    require(np.isin(case.x, case.tests).all(), "all items must be among the keys")
    return lambda: map_array(case.x, case.tests, case.values)


@opponent("torch", "isin")
def torch_isin(case):
    import torch

    x, tests = tensor(case.x), tensor(case.tests)
    return lambda: torch.isin(x, tests)


@opponent("polars", "isin")
def polars_is_in(case):
    import polars

    x, tests = container(polars.Series, case.x), container(polars.Series, case.tests)
    return lambda: x().is_in(tests().implode())


@opponent("pandas", "isin")
def pandas_isin(case):
    import pandas

    x = pandas.Series(case.x, copy=False)
    return lambda: x.isin(case.tests)


@opponent("pandas", "intersect1d", "union1d", "setdiff1d", "setxor1d")
def pandas_index(case):
    """An Index of each array is made in the call, because an Index keeps its hash table."""
    import pandas

    name = {
        "intersect1d": "intersection",
        "union1d": "union",
        "setdiff1d": "difference",
        "setxor1d": "symmetric_difference",
    }[case.cell.op]

    def combine():
        one, other = (pandas.Index(a, copy=False).unique() for a in (case.x, case.tests))
        return getattr(one, name)(other, sort=False).sort_values()

    return combine


@opponent("pyarrow", "isin")
def pyarrow_is_in(case):
    import pyarrow
    from pyarrow import compute

    x, tests = container(pyarrow.array, case.x), container(pyarrow.array, case.tests)
    return lambda: compute.is_in(x(), value_set=tests())


@opponent("fastremap", "isin")
def fastremap_isin(case):
    import fastremap

    require(case.x.dtype.kind in "iu", "integers only")

    def isin_by_mask():
        masked = fastremap.mask_except(case.x, case.tests.tolist(), value=0)
        return (masked != 0) | np.isin(0, case.tests) & (case.x == 0)

    return isin_by_mask
