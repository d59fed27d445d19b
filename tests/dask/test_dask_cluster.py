"""fastsel.dask on a cluster of two processes: results, a worker that dies, data beyond memory."""

import gc
import os

import numpy as np
import pytest
from arrays import make
from grids import slow

import fastsel

da = pytest.importorskip("dask.array", reason='needs pip install "dask[array]" distributed')
distributed = pytest.importorskip(
    "distributed", reason='needs pip install "dask[array]" distributed'
)
import dask  # noqa: E402
from chunked import CHUNKINGS, assert_equal, chunked  # noqa: E402

import fastsel.dask  # noqa: E402

# On a busy machine a cluster may leave resources unclosed and coroutines unfinished.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{warning}")
    for warning in (
        *(":ResourceWarning", "coroutine .* was never awaited:RuntimeWarning"),
        ":pytest.PytestUnraisableExceptionWarning",
        ":pytest.PytestUnhandledThreadExceptionWarning",
    )
]
MEMORY = 400 << 20  # bytes that each worker may use; a worker without data uses about 150 MiB
ALL_OUTPUTS = {"return_index": True, "return_inverse": True, "return_counts": True}


# Processes answer late on a busy machine.
TIMEOUTS = {f"distributed.comm.timeouts.{name}": "600s" for name in ("connect", "tcp")}


@pytest.fixture(scope="module")
def cluster():
    with (
        dask.config.set(TIMEOUTS),
        # ":0" is any free port: if the usual port were in use, dask would warn, which is an error.
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=MEMORY, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, timeout="600s"),
    ):
        yield cluster
    gc.collect()  # otherwise unclosed resources may warn in a later test, which then fails


@pytest.mark.parametrize(
    ("dtype", "chunking"),
    [("float32", "uneven"), pytest.param("U3", "empty", marks=pytest.mark.slow)],
)
def test_functions_equal_fastsel(cluster, dtype, chunking):
    a = make(dtype, (6, 4))
    x = chunked(a, CHUNKINGS[chunking](a.shape))
    for name in ("nonzero", "flatnonzero", "argwhere", "count_nonzero"):
        assert_equal(getattr(fastsel.dask, name)(x), getattr(fastsel, name)(a))
    condition = np.array([0, 1, 0, 1, 1, 0])
    assert_equal(fastsel.dask.compress(condition, x, 0), fastsel.compress(condition, a, 0))
    assert_equal(fastsel.dask.extract(x, x), fastsel.extract(a, a))
    assert_equal(fastsel.dask.boolean_mask(x, x == x), fastsel.boolean_mask(a, a == a))
    for options in ({}, {"partitions": 2}):
        outputs = fastsel.dask.unique(x, sorted=False, **ALL_OUTPUTS, **options)
        assert_equal(outputs, fastsel.unique(a, sorted=False, **ALL_OUTPUTS))
    indices = np.array([[5, 0], [0, 3]])
    for rows in (indices, da.from_array(indices, chunks=1)):
        assert_equal(fastsel.dask.gather_nd(x, rows), fastsel.gather_nd(a, indices))


@pytest.mark.parametrize("partitions", [None, slow(4)])
def test_result_is_the_same_if_a_worker_dies(cluster, tmp_path, partitions):
    """The scheduler computes lost blocks again."""
    died = tmp_path / "died"

    def die_once(block, block_info=None):
        if block_info[0]["chunk-location"] == (6,) and not died.exists():
            died.touch()
            os._exit(1)
        return block

    a = np.random.default_rng(2).integers(0, 500, 20_000)
    x = da.from_array(a, chunks=2000).map_blocks(die_once, dtype=a.dtype, meta=a[:0])
    outputs = fastsel.dask.unique(x, partitions=partitions, **ALL_OUTPUTS)
    assert_equal(outputs, fastsel.unique(a, **ALL_OUTPUTS))
    assert died.exists()


@pytest.mark.slow
def test_data_larger_than_the_memory_of_the_cluster_gives_the_right_results(cluster):
    """Until all groups are known, workers hold the groups of each block and a code of two bytes for
    each item, instead of the items. The inverse and the positions are only summed, so that workers
    need not hold them."""
    groups, size = 1000, 2 * MEMORY // 8 + 10_000_000
    x = da.arange(size, chunks=2_000_000) % groups
    assert x.nbytes > 2 * MEMORY
    values, inverse, counts = fastsel.dask.unique(x, return_inverse=True, return_counts=True)
    differences = (inverse != x).sum()
    values, counts, differences = dask.compute(values, counts, differences)
    assert np.array_equal(values, np.arange(groups))
    assert np.array_equal(
        counts, np.bincount(np.arange(size % groups), minlength=groups) + size // groups
    )
    assert differences == 0
    zeros = fastsel.dask.flatnonzero(x == 0)
    assert (zeros % groups).sum().compute() == 0
    assert int(fastsel.dask.count_nonzero(x)) == size - counts[0]


def test_persisted_results_are_computed_again_with_no_warning(cluster, caplog):
    """The graphs have keys of results that the scheduler already holds, or is computing."""
    squares = np.arange(100_000) ** 2 % 1013
    x = da.from_array(squares, chunks=2000)
    with caplog.at_level("WARNING", "distributed"):
        values, inverse = fastsel.dask.unique(x, return_inverse=True)
        persisted = inverse.persist()
        total = int(values.sum().compute())
        together = dask.compute(values, inverse, fastsel.dask.unique_counts(x), persisted.sum())
        large = fastsel.dask.boolean_mask(x, x > 1000).persist()
        count = fastsel.dask.count_nonzero(x).persist()
        large_sum, *_ = dask.compute(
            large.sum(), fastsel.dask.flatnonzero(x), x.sum(), count, inverse + x
        )
    assert total == np.unique(squares).sum()
    assert np.array_equal(together[0][together[1]], squares)
    assert large_sum == squares[squares > 1000].sum()
    assert [record.getMessage() for record in caplog.records] == []


def test_partitions_are_ranges_of_values(cluster):
    size = 100_000
    x = (da.arange(size, chunks=20_000) * 7919) % size  # each number once, in another order
    values, counts = fastsel.dask.unique(x, return_counts=True, partitions=8)
    *blocks, counts = dask.compute(*[values.blocks[k] for k in range(8)], counts)
    assert np.array_equal(np.concatenate(blocks), np.arange(size))
    assert max(map(len, blocks)) < size // 4
    assert counts.max() == 1
