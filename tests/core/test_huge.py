"""Arrays of more than 2**31 items, and strides of 2**31 bytes. The pages of an array of zeros take
no memory until they are written to."""

import numpy as np
import pytest

import fastsel

pytestmark = pytest.mark.thread_unsafe(reason="needs much memory")

# `peak` returns the peak memory of the process in MiB.
PEAK = """
import sys
import numpy as np
import fastsel

def peak():
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) >> 10
    except FileNotFoundError:
        import resource
        unit = 20 if sys.platform == "darwin" else 10
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> unit

size = 2**31 + 64
array = np.zeros(size, np.uint8)
array[[2**31 - 1, -1]] = 3, 5
expected = [2**31 - 1, size - 1]
fastsel.nonzero(array[:100_000])
before = peak()
"""
# name: (expression that must be true, limit of the growth of the peak memory in MiB)
CALLS = {
    # The bitmask takes an eighth of a byte for each item, 256 MiB here.
    "nonzero": ("fastsel.nonzero(array)[0].tolist() == expected", 320),
    "nonzero_bool": ("fastsel.nonzero(array.view(bool))[0].tolist() == expected", 320),
    "nonzero_2d": (
        "fastsel.nonzero(array.reshape(2**25 + 1, 64))[0].tolist() == [2**25 - 1, 2**25]",
        320,
    ),
    "flatnonzero": ("fastsel.flatnonzero(array).tolist() == expected", 320),
    "count_nonzero": ("fastsel.count_nonzero(array) == 2", 64),
    "first_nonzero": ("fastsel.first_nonzero(array) == 2**31 - 1", 64),
    "first_nonzero_rows": (
        "fastsel.first_nonzero(array.reshape(2, -1), axis=1).tolist() == [-1, 2**30 - 33]",
        64,
    ),
    "boolean_mask": ("fastsel.boolean_mask(array, array.view(bool)).tolist() == [3, 5]", 320),
    "compress": ("fastsel.compress(array.view(bool), array).tolist() == [3, 5]", 320),
    "extract": ("fastsel.extract(array, array).tolist() == [3, 5]", 320),
    "nonzero_coordinates": (
        "fastsel.nonzero_coordinates(array, capacity=9).coordinates[:2, 0].tolist() == expected",
        320,
    ),
    "gather_nd": ("fastsel.gather_nd(array, [[2**31 - 1], [-1], [0]]).tolist() == [3, 5, 0]", 64),
}


def test_more_than_2_to_the_31_items_give_the_right_results_in_little_memory(run_python):
    """One process runs all calls, in ascending order of their limits: its peak never falls."""
    calls = sorted(CALLS.values(), key=lambda call: call[1])
    code = "\n".join(f"assert {expression}\nprint(peak() - before)" for expression, _ in calls)
    for (expression, limit), output in zip(calls, run_python(PEAK + code).split(), strict=True):
        assert int(output) < limit, expression


def test_more_than_2_to_the_31_truthy_items_are_counted():
    assert fastsel.count_nonzero(np.broadcast_to(True, 2**31 + 5)) == 2**31 + 5


def test_an_empty_array_with_large_dimensions_has_no_positions():
    shape = (2**20, 0, 2**20)
    assert [k.tolist() for k in fastsel.nonzero(np.zeros(shape))] == [[], [], []]
    assert fastsel.argwhere(np.zeros(shape)).shape == (0, 3)
    assert fastsel.count_nonzero(np.zeros(shape)) == 0


WIDE_STRIDE = """
import numpy as np
import fastsel, fastsel._core._gate, fastsel._core.parallel
if {forced}:
    fastsel._core._gate.TINY_ITEMS = fastsel._core.parallel.THRESHOLDS.small_items = -1
for dtype in ("f8", "f4", "i4"):
    print(dtype, flush=True)
    step = 2**31 // np.dtype(dtype).itemsize
    array = np.zeros(step + 1, dtype)
    array[-1] = 7
    view = array[::step]
    assert view.strides == (2**31,)
    assert fastsel.count_nonzero(view) == 1
    assert fastsel.flatnonzero(view).tolist() == [1]
    assert fastsel.nonzero(view)[0].tolist() == [1]
    assert fastsel.compress(view, [3, 4]).tolist() == [4]
    assert fastsel.compress([1, 1], view).tolist() == [0, 7]
    assert fastsel.gather_nd(view, [[1], [0]]).tolist() == [7, 0]
"""


@pytest.mark.parametrize("forced", [True, False], ids=["kernels", "defaults"])
def test_a_stride_of_2_to_the_31_bytes_reads_the_right_items(forced, run_python):
    """With 1-d floats of such a stride, `nonzero` of NumPy 2.3 to 2.5 reads out of bounds."""
    run_python(WIDE_STRIDE.format(forced=forced))
