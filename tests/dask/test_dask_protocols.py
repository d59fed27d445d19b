"""fastsel's functions call fastsel.dask for dask arrays. Graphs of fastsel.dask: keys, names,
pickles, threads, and the sources of blocks."""

import pickle

import numpy as np
import pytest
from arrays import make

import fastsel

da = pytest.importorskip("dask.array", reason='needs pip install "dask[array]" distributed')
import dask  # noqa: E402
from chunked import assert_equal, computed  # noqa: E402
from dask._task_spec import convert_legacy_graph  # noqa: E402
from operators import cases  # noqa: E402

import fastsel.dask  # noqa: E402
from fastsel._core._operators import OPERATORS  # noqa: E402

a = make("int32", (8, 6))
x = da.from_array(a, chunks=(3, 4))
IN_DASK = [name for name, operator in OPERATORS.items() if operator.in_dask]
CALLS = {
    **cases("calls", IN_DASK),
    **cases("calls_for_fewer_dtypes", IN_DASK),
    "union1d_slices": lambda module, a: module.union1d(a, a, axis=1),
    "first_nonzero_axis": lambda module, a: module.first_nonzero(a, 0, keepdims=True),
    "count_nonzero_axis": lambda module, a: module.count_nonzero(a, 0, keepdims=True),
    "compress_columns": lambda module, a: module.compress([1, 0, 1], a, 1),
    "compress_flat": lambda module, a: module.compress(a[0], a),
    "extract_by_comparison": lambda module, a: module.extract(a > 0, a),
    "boolean_mask_by_comparison": lambda module, a: module.boolean_mask(a, a > 0),
    "isin_list": lambda module, a: module.isin(a, [1, 2]),
    "index_in_list": lambda module, a: module.index_in(a, [1, 2]),
    "remap_lists": lambda module, a: module.remap(a, [0, 1], [2.5, 3.5], default=a),
    "intersect1d_list": lambda module, a: module.intersect1d(a, [1, 2], return_indices=True),
    "union1d_list": lambda module, a: module.union1d(a, [1, 2]),
    "setdiff1d_list": lambda module, a: module.setdiff1d(a, [1, 2]),
    "setxor1d_list": lambda module, a: module.setxor1d(a, [1, 2]),
}


def names(result):
    return [part.name for part in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("call", CALLS)
def test_functions_of_fastsel_call_those_of_fastsel_dask(call):
    result = CALLS[call](fastsel, x)
    assert names(result) == names(CALLS[call](fastsel.dask, x))
    if call != "nonzero_coordinates":
        assert_equal(result, CALLS[call](fastsel, a))


def tasks_of(*arrays):
    """key -> task, for fastsel's keys in the graph of arrays that dask computes together."""
    optimized = dask.optimize(*arrays)
    graph = {key: task for array in optimized for key, task in array.__dask_graph__().items()}
    graph = convert_legacy_graph(graph)
    return {key: node for key, node in graph.items() if "fastsel" in str(key)}


# Calls with `partitions`, and calls with two arguments that are dask arrays.
MORE_CALLS = {
    "partitions": lambda module, a: module.unique(a, True, True, True, partitions=3),
    "condition": lambda module, a: module.compress(a.ravel() > 1, a),
    "long_condition": lambda module, a: module.compress(a[:, 0] > 1, a, 1),
    "indices": lambda module, a: module.gather_nd(a, a[:, :1]),
}


@pytest.mark.parametrize("call", CALLS | MORE_CALLS)
def test_a_key_has_the_same_task_whatever_else_is_computed(call):
    """A scheduler that finds another task for a key warns, and may fail."""
    source = da.from_array(np.arange(96).reshape(16, 6), chunks=(3, 6)).map_blocks(np.sqrt)
    source = source.map_blocks(np.floor).astype(int)
    outputs = (CALLS | MORE_CALLS)[call](fastsel.dask, source)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    together = tasks_of(*outputs, source.sum(), source + 1, *(output + 1 for output in outputs))
    assert together
    for computed_alone in (*((output,) for output in outputs), *((o + 1,) for o in outputs)):
        alone = tasks_of(*computed_alone)
        assert alone == {key: together[key] for key in alone}


CALLS_WITH_ONE_DASK_ARRAY = {
    "compress_condition": lambda x: fastsel.compress(x[:, 0] > 0, a, 0),
    "compress_a": lambda x: fastsel.compress(a[:, 0] > 0, x, 0),
    "extract_condition": lambda x: fastsel.extract(x, a),
    "extract_arr": lambda x: fastsel.extract(a, x),
    "boolean_mask_mask": lambda x: fastsel.boolean_mask(a, x > 0),
    "boolean_mask_a": lambda x: fastsel.boolean_mask(x, a > 0),
    "gather_nd_data": lambda x: fastsel.gather_nd(x, a[:, :1] * 0),
    "gather_nd_indices": lambda x: fastsel.gather_nd(a, x[:, :1] * 0),
}


@pytest.mark.parametrize("call", CALLS_WITH_ONE_DASK_ARRAY)
def test_one_dask_array_makes_the_result_a_dask_array(call):
    result = CALLS_WITH_ONE_DASK_ARRAY[call](x)
    assert isinstance(result, da.Array)
    assert_equal(result, CALLS_WITH_ONE_DASK_ARRAY[call](a))


def test_out_and_capacity_raise_for_dask_arrays():
    with pytest.raises(TypeError, match="'out'"):
        fastsel.compress([1], x, 0, np.zeros((1, 6), np.int32))
    with pytest.raises(TypeError, match="'out'"):
        fastsel.gather_nd(x, [[0]], out=np.zeros((1, 6), np.int32))
    with pytest.raises(TypeError, match="'capacity'"):
        fastsel.nonzero_coordinates(x, capacity=3)


def test_masked_blocks_are_left_to_dask():
    masked = da.ma.masked_equal(da.from_array(np.array([1, 2, 1]), chunks=2), 1)
    assert names(fastsel.nonzero(masked)) == names(np.nonzero(masked))


def test_another_array_function_comes_before_that_of_dask():
    class Overrides:
        def __array_function__(self, function, types, args, kwargs):
            return "mine"

    assert fastsel.extract(Overrides(), x) == "mine"


def test_calls_without_dask_arrays_import_no_dask(run_python):
    run_python("""
import sys, numpy as np, fastsel
fastsel.nonzero([1]), fastsel.unique(np.ma.ones(3)), fastsel.gather_nd([1], [[0]])
assert not any(name.partition('.')[0] == 'dask' for name in sys.modules)
assert 'fastsel.dask' not in sys.modules
""")


def test_without_dask_the_error_says_what_to_install(run_python):
    run_python("""
import sys
sys.modules['dask'] = None
try:
    import fastsel.dask
except ImportError as error:
    assert 'pip install "dask[array]" distributed' in str(error), error
else:
    raise AssertionError
""")


@pytest.mark.parametrize("call", CALLS)
def test_graphs_are_lazy_and_can_be_pickled(call):
    def fail(block):
        raise AssertionError("computed")

    lazy = da.from_array(a, chunks=4).map_blocks(fail, dtype=a.dtype, meta=np.empty((0, 0), "i4"))
    CALLS[call](fastsel.dask, lazy)
    result = CALLS[call](fastsel.dask, x)
    assert_equal(pickle.loads(pickle.dumps(result)), computed(result))


@pytest.mark.parametrize("call", CALLS)
def test_equal_calls_have_equal_names(call):
    """By the name, dask recognizes a result that it has already computed."""
    assert names(CALLS[call](fastsel.dask, x)) == names(CALLS[call](fastsel.dask, x))
    changed = da.from_array(a + 1, chunks=(3, 4))
    assert names(CALLS[call](fastsel.dask, x)) != names(CALLS[call](fastsel.dask, changed))


def test_options_change_the_name():
    calls = [
        fastsel.dask.unique(x, **{name: value})
        for name, value in [("sorted", False), ("split_every", 3), ("partitions", 2), ("axis", 0)]
    ]
    assert len({call.name for call in [*calls, fastsel.dask.unique(x)]}) == 5


def test_tasks_use_one_thread_each(monkeypatch):
    thread_counts = set()

    def spy_on(function):
        def spy(*args, **kwargs):
            thread_counts.add(fastsel.get_num_threads())
            return function(*args, **kwargs)

        return spy

    with fastsel.threads(7):
        results = [CALLS[call](fastsel.dask, x) for call in CALLS]
        for name in OPERATORS:
            monkeypatch.setattr(fastsel, name, spy_on(getattr(fastsel, name)))
        for result in results:
            computed(result)
    assert thread_counts == {1}


@pytest.mark.thread_unsafe(reason="sets dask's configuration, which all threads share")
@pytest.mark.parametrize("scheduler", ["sync", "threads"])
def test_several_outputs_compute_each_block_once(scheduler):
    blocks = []
    counted = x.map_blocks(lambda block: blocks.append(1) or block, dtype=x.dtype, meta=a[:0, :0])
    with dask.config.set(scheduler=scheduler):
        computed(fastsel.dask.unique(counted, True, True, True))
    assert len(blocks) == counted.npartitions


def test_memmaps_and_delayed_blocks_equal_fastsel(tmp_path):
    np.save(tmp_path / "a.npy", a)
    delayed = [da.from_delayed(dask.delayed(a[k : k + 4]), (4, 6), a.dtype) for k in (0, 4)]
    sources = {
        "memmap": da.from_array(np.load(tmp_path / "a.npy", mmap_mode="r"), chunks=3),
        "delayed": da.concatenate(delayed),
    }
    for source in sources.values():
        for call in ("nonzero", "boolean_mask", "unique in order of first occurrence", "gather_nd"):
            assert_equal(CALLS[call](fastsel.dask, source), CALLS[call](fastsel, a))


def test_zarr_equals_fastsel(tmp_path):
    pytest.importorskip("zarr", reason="needs pip install zarr")
    da.to_zarr(x.rechunk((3, 4)), str(tmp_path / "a.zarr"))
    source = da.from_zarr(str(tmp_path / "a.zarr"))
    for call in ("nonzero", "boolean_mask", "unique in order of first occurrence", "gather_nd"):
        assert_equal(CALLS[call](fastsel.dask, source), CALLS[call](fastsel, a))
