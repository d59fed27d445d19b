"""Every operator equals the reference, for every layout that arrays of the dtype can have, and 1,
2, 3 and 7 threads: the calls of operators.py, for every dtype that they serve."""

import numpy as np
import pytest
import reference
from arrays import BYTES_DTYPES, DTYPES, STRUCT_DTYPES, make, objects
from comparison import assert_same
from layouts import LAYOUTS, has_layout
from marks import SIGNALLING_NANS
from operators import cases

import fastsel

pytestmark = SIGNALLING_NANS


CALLS, CALLS_FOR_FEWER_DTYPES = cases("calls"), cases("calls_for_fewer_dtypes")


@pytest.mark.parametrize("name", DTYPES)
def test_every_operator_equals_the_reference(name, each_num_threads):
    calls, dtype = CALLS, DTYPES[name]
    if name in BYTES_DTYPES and name not in STRUCT_DTYPES:
        calls = CALLS | CALLS_FOR_FEWER_DTYPES
    items = objects(*[0, 3, 1, 2, 0] * 18) if name == "object" else make(name, 90)
    arrays = {
        layout: lay(items.reshape(15, 6))
        for layout, lay in LAYOUTS.items()
        if has_layout(dtype, layout)
    }
    arrays["rows_backwards"] = arrays["C"][::-1]
    arrays["columns_backwards"] = arrays["readonly"][:, ::-1]
    if "swapped" in arrays:
        arrays["swapped_backwards"] = arrays["swapped"][::-1]
    expected = {
        (layout, label): call(reference, array)
        for layout, array in arrays.items()
        for label, call in calls.items()
    }
    for _ in each_num_threads:
        for (layout, label), result in expected.items():
            assert_same(calls[label](fastsel, arrays[layout]), result)


@pytest.mark.parametrize("shape", [(60, 5), (200, 80), (250, 128)])
@pytest.mark.parametrize("dtype", ["S2", "S4", "S8", "V4", "V8", "U2"])
def test_unaligned_strings_equal_the_same_strings_at_an_aligned_address(dtype, shape):
    """NumPy calls strings aligned at each address, or at each multiple of 4 bytes for U. Kernels
    read them as words. On x86-64, only a sanitizer tells a wrong load."""
    dtype = np.dtype(dtype)
    raw = np.array([b"abcd", b"efgh", b"ab", b"c", b"zzzz", b"zzzy"])
    items = raw[np.arange(np.prod(shape)) * 7 % 11 % 6]
    items = (
        items.astype("S8").view("V8").astype(dtype) if dtype.kind == "V" else items.astype(dtype)
    )
    aligned = items.reshape(shape)
    for offset in range(dtype.alignment, 8, dtype.alignment):
        buffer = np.empty(aligned.nbytes + offset, np.uint8)
        array = buffer[offset:].view(dtype).reshape(shape)
        array[...] = aligned
        for call in (CALLS | CALLS_FOR_FEWER_DTYPES).values():
            assert_same(call(fastsel, array), call(fastsel, aligned))


@pytest.mark.parametrize("dtype", ["i4", "f8", "S8", "c16"])
def test_a_result_keeps_no_other_memory(dtype, kernels_with_few_threads):
    """Outputs of one result may share memory, but together they need all of it."""
    array = (np.arange(250 * 32) % 7).astype(dtype).reshape(250, 32)
    columns = np.tile(array[:, :1], (16, 1))
    for results in (
        *(call(fastsel, array) for call in (CALLS | CALLS_FOR_FEWER_DTYPES).values()),
        fastsel.count_nonzero(columns, 0),
    ):
        used = {}
        for output in results if isinstance(results, tuple) else (results,):
            if isinstance(output, np.ndarray):
                owner = output if output.base is None else output.base
                used.setdefault(id(owner), [owner.nbytes, 0])[1] += output.nbytes
        assert all(kept == needed for kept, needed in used.values())
