"""Every operator equals the reference, for every layout that arrays of the dtype can have, and 1,
2, 3 and 7 threads: the calls of operators.py, for every dtype that they serve."""

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
