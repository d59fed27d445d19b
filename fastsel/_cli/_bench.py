"""What ``fastsel bench`` measures: the forms of calls, the comparison with NumPy, and the timing.

A *form* is one way to call a public function. A *workload* (_workloads.py) is an array, with
a mask, indices or test elements for some forms. A form with a workload that fits it is a
*cell*; a measured cell is a *row*.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from time import perf_counter_ns
from types import SimpleNamespace
from typing import Any

import numpy as np

import fastsel
from fastsel._cli._workloads import Workload
from fastsel._core import _numpy, _operators

# The two sides are NumPy and fastsel. A block is a run of calls of one side, so that in most calls
# the side's threads are awake and its data are in the caches. A block lasts BLOCK_NANOSECONDS, so
# that the two sides alternate often. Because its first call may have to wake threads, it has at
# least BLOCK_CALLS calls, unless these take LONG_BLOCK_NANOSECONDS.
BLOCK_CALLS = 5
BLOCK_NANOSECONDS = 20_000_000
LONG_BLOCK_NANOSECONDS = 10 * BLOCK_NANOSECONDS

NO_LOSS = 0.9995  # From this ratio on, the table shows at least 1.00x.

# --- forms ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Form:
    """One way to call a public function.

    `call` takes the functions (fastsel's or NUMPY) and a workload. `reads` names the attribute of
    the workload whose bytes count as read; a workload in which it is None does not fit. `copies`
    means that the result has copies of items, which count as read, too, and must be equal bit by
    bit. `finds_first` means that the result is the index of the last item that is read, or -1. In
    the embedded set, a form that no workload names has the workloads of the label `like`.
    `free_nan` has the dtype kinds of arrays for which NumPy does not define the result if
    there is a NaN or NaT. `defined` returns the defined part of a result. `note` stands below the
    table.
    """

    label: str
    call: Callable[[Any, Workload], Any]
    reads: str = "array"
    copies: bool = False
    finds_first: bool = False
    like: str = ""
    free_nan: str = ""
    defined: Callable[[Any], Any] = lambda result: result
    note: str = ""

    @property
    def function(self) -> str:
        """The name of the public function."""
        return self.label.partition("(")[0]

    @property
    def family(self) -> str:
        """The family whose geometric mean includes this form."""
        return _operators.OPERATORS[self.function].family

    def fits(self, workload: Workload) -> bool:
        """Whether the workload is for this form, and the result is defined."""
        if workload.only and not {self.label, self.like, self.family} & set(workload.only):
            return False
        if workload.array.dtype.kind in self.free_nan and np.isnan(workload.array).any():
            return False
        return getattr(workload, self.reads) is not None

    def bytes_moved(self, workload: Workload, result: Any) -> int:
        """Bytes read plus bytes written. Selected or gathered items are read and written; the set
        functions read the tests and the array."""
        written = sum(output.nbytes for output in outputs_of(result))
        read = getattr(workload, self.reads).nbytes
        read += workload.array.nbytes if self.family == "sets" else 0
        if self.finds_first and result >= 0:
            read = (int(result) + 1) * workload.array.itemsize
        return read + written * (2 if self.copies else 1)


def numpy_unique(ar, *outputs, axis=None, sorted=True, **keywords):
    """numpy.unique; for sorted=False, its values, or rows with axis=0, in order of first
    occurrence."""
    if sorted:
        return _numpy.unique(ar, *outputs, axis=axis, **keywords)
    values, index = _numpy.unique(ar, return_index=True, axis=axis)
    return values[np.argsort(index)]


def numpy_group_indices(ar):
    """(values, indices, offsets): the positions of each value are a stable argsort of the inverse
    of numpy.unique."""
    values, inverse, counts = _numpy.unique(ar, return_inverse=True, return_counts=True)
    indices = np.argsort(inverse.ravel(), kind="stable")
    return values, indices, np.append(0, np.cumsum(counts))


def numpy_index_in(element, test_elements):
    """The first position of each item among the test elements, or -1, by a search among the sorted
    test elements."""
    order = np.argsort(test_elements, kind="stable")
    return index_in_sorted(element, test_elements[order], order)


def index_in_sorted(element, values, order):
    """For each item, the position that the first equal value had before `order` sorted the values;
    or -1."""
    positions = np.searchsorted(values, element)
    positions[positions == len(values)] = 0
    return np.where(values[positions] == element, order[positions], -1)


def numpy_remap(a, keys, values, *, default):
    """The values at the positions that numpy_index_in finds; the default for other items."""
    positions = numpy_index_in(a, keys)
    return np.where(positions < 0, default, values[positions])


def numpy_nonzero_coordinates(x):
    """The count and the rows that numpy.argwhere finds, as uint32."""
    rows = _numpy.argwhere(x).astype(np.uint32)
    return np.uint32(len(rows)), rows


def defined_coordinates(result):
    """The count, the rows that hold coordinates, and whether any later row is non-zero."""
    count, rows = result
    return count, rows[:count], rows[count:].any()


def numpy_isin(element, test_elements, axis=None):
    """numpy.isin; with an axis, numpy.isin of the inverse that numpy.unique makes of the slices of
    both arrays."""
    if axis is None:
        return _numpy.isin(element, test_elements)
    _, inverse = _numpy.unique(
        np.concatenate((element, test_elements)), return_inverse=True, axis=axis
    )
    return _numpy.isin(inverse[: len(element)], inverse[len(element) :])


def numpy_nonzero(a, dtype=None):
    """numpy.nonzero; with a dtype, the indices are converted."""
    found = _numpy.nonzero(a)
    return found if dtype is None else tuple(index.astype(dtype) for index in found)


def numpy_first_nonzero(a):
    """numpy.argmax of ``a != 0``, but -1 if all items are zero, where argmax returns 0. If the
    items are neither bool nor numbers, numpy.nonzero makes the mask."""
    if a.dtype.kind in "biufc":
        true = a != 0
    else:
        true = np.zeros(a.shape, bool)
        true[_numpy.nonzero(a)] = True
    index = true.argmax()
    return index if true.flat[index] else np.intp(-1)


# What a user of NumPy calls instead of fastsel's functions.
NUMPY = SimpleNamespace(
    **{name: getattr(_numpy, name) for name in _numpy.NAMES}
    | {
        "unique": numpy_unique,
        "isin": numpy_isin,
        "nonzero": numpy_nonzero,
        "first_nonzero": numpy_first_nonzero,
        "group_indices": numpy_group_indices,
        "index_in": numpy_index_in,
        "remap": numpy_remap,
        "nonzero_coordinates": numpy_nonzero_coordinates,
        "boolean_mask": lambda a, mask: a[mask],
        "gather_nd": lambda data, indices: data[tuple(np.moveaxis(indices, -1, 0))],
    }
)

selection_form = partial(Form, copies=True)
set_form = partial(Form, reads="tests")

FORMS = (
    Form("nonzero", lambda f, w: f.nonzero(w.array)),
    Form(
        "nonzero(dtype=int32)",
        lambda f, w: f.nonzero(w.array, dtype=np.int32),
        note="NumPy: nonzero, then astype(int32)",
    ),
    Form("flatnonzero", lambda f, w: f.flatnonzero(w.array)),
    Form("argwhere", lambda f, w: f.argwhere(w.array)),
    Form("count_nonzero", lambda f, w: f.count_nonzero(w.array)),
    Form("count_nonzero(axis=-1)", lambda f, w: f.count_nonzero(w.rows, -1), "rows"),
    Form(
        "first_nonzero",
        lambda f, w: f.first_nonzero(w.late_hit),
        "late_hit",
        finds_first=True,
        note="NumPy: (a != 0).argmax(), and a look at that item",
    ),
    Form(
        "nonzero_coordinates",
        lambda f, w: f.nonzero_coordinates(w.array),
        defined=defined_coordinates,
        note="NumPy: argwhere(x).astype(uint32), which writes one row per non-zero item; fastsel "
        "writes DirectML's full size, one row per input item, zeros at the end",
    ),
    selection_form("compress", lambda f, w: f.compress(w.item_mask.ravel(), w.array), "item_mask"),
    selection_form("compress(axis=0)", lambda f, w: f.compress(w.row_mask, w.array, 0), "row_mask"),
    selection_form(
        "compress(axis=1)", lambda f, w: f.compress(w.column_mask, w.array, 1), "column_mask"
    ),
    selection_form("extract", lambda f, w: f.extract(w.item_mask, w.array), "item_mask"),
    selection_form(
        "boolean_mask", lambda f, w: f.boolean_mask(w.array, w.mask), "mask", note="NumPy: a[mask]"
    ),
    Form("unique", lambda f, w: f.unique(w.array)),
    Form(
        "unique(sorted=False)",
        lambda f, w: f.unique(w.array, sorted=False),
        free_nan="c",
        note="first-occurrence order; NumPy: unique(return_index=True), then argsort(index)",
    ),
    Form("unique(return_*)", lambda f, w: f.unique(w.array, True, True, True)),
    Form("unique(axis=0)", lambda f, w: f.unique(w.rows, axis=0), "rows"),
    Form("unique_all", lambda f, w: f.unique_all(w.array)),
    Form("unique_counts", lambda f, w: f.unique_counts(w.array)),
    Form("unique_inverse", lambda f, w: f.unique_inverse(w.array), free_nan="fcmM"),
    Form(
        "unique_values",
        lambda f, w: f.unique_values(w.array),
        free_nan="M",
        defined=np.sort,
        note="compared in any order, because the array API leaves the order open",
    ),
    Form(
        "group_indices",
        lambda f, w: f.group_indices(w.array),
        note="NumPy: argsort(inverse, kind='stable') of unique(return_inverse, return_counts)",
    ),
    set_form("isin", lambda f, w: f.isin(w.array, w.tests)),
    Form(
        "isin(axis=0)",
        lambda f, w: f.isin(w.array, w.row_tests, axis=0),
        "row_tests",
        note="NumPy: unique(both, return_inverse=True, axis=0), then isin of the inverse",
    ),
    set_form(
        "index_in",
        lambda f, w: f.index_in(w.array, w.tests),
        note="NumPy: argsort(tests), searchsorted",
    ),
    set_form(
        "remap",
        lambda f, w: f.remap(w.array, w.tests, w.values, default=-1),
        like="index_in",
        note="NumPy: argsort(keys), searchsorted, then take and where",
    ),
    set_form("intersect1d", lambda f, w: f.intersect1d(w.array, w.tests)),
    set_form("union1d", lambda f, w: f.union1d(w.array, w.tests)),
    set_form("setdiff1d", lambda f, w: f.setdiff1d(w.array, w.tests)),
    set_form("setxor1d", lambda f, w: f.setxor1d(w.array, w.tests)),
    Form(
        "gather_nd",
        lambda f, w: f.gather_nd(w.array, w.indices),
        "indices",
        copies=True,
        note="NumPy: data[tuple(np.moveaxis(indices, -1, 0))]",
    ),
)
FUNCTIONS = tuple(dict.fromkeys(form.function for form in FORMS))


def cells_of(
    workloads: list[Workload], functions: Collection[str] = ()
) -> list[tuple[Form, Workload]]:
    """Each form of these functions (all, if empty) with each workload that fits it."""
    return [
        (form, workload)
        for form in FORMS
        if not functions or form.function in functions
        for workload in workloads
        if form.fits(workload)
    ]


# --- check ----------------------------------------------------------------------------------


def outputs_of(result: Any) -> list[np.ndarray]:
    """The arrays of a result, which is an array, a scalar or a tuple of them."""
    return [np.asarray(output) for output in (result if isinstance(result, tuple) else (result,))]


def unequal(ours: np.ndarray, theirs: np.ndarray, bitwise: bool) -> np.ndarray:
    """A mask of the items in which two arrays of equal shape and dtype differ. All NaN are equal,
    and all NaT. With `bitwise`, floats and complex numbers are equal if their bits are equal."""
    if ours.dtype.names:
        fields = [unequal(ours[name], theirs[name], bitwise) for name in ours.dtype.names]
        return np.any([field.reshape(*ours.shape, -1).any(axis=-1) for field in fields], axis=0)
    if bitwise and ours.dtype.kind in "fc":
        ours, theirs = (x.reshape(*x.shape, 1).copy().view(np.uint8) for x in (ours, theirs))
        return (ours != theirs).any(axis=-1)
    if ours.dtype.kind == "T":  # Its missing items may be None, which it does not compare.
        ours, theirs = ours.astype(object), theirs.astype(object)
    differ = ours != theirs
    if ours.dtype.kind in "fcmMO":
        differ &= ~((ours != ours) & (theirs != theirs))  # NaN, NaT
    return differ


def difference(ours: Any, theirs: Any, bitwise: bool = False) -> str:
    """A description of the first difference between two results; empty if they are equal."""
    ours, theirs = outputs_of(ours), outputs_of(theirs)
    if len(ours) != len(theirs):
        return f"{len(ours)} outputs, NumPy {len(theirs)}"
    for number, (x, y) in enumerate(zip(ours, theirs, strict=True)):
        if x.dtype != y.dtype:
            return f"output {number}: dtype {x.dtype}, NumPy {y.dtype}"
        if x.shape != y.shape:
            return f"output {number}: shape {x.shape}, NumPy {y.shape}"
        where = _numpy.argwhere(unequal(x, y, bitwise)) if x.size else ()
        if len(where):
            index = tuple(map(int, where[0]))
            items = f"{x[index]}, NumPy {y[index]}"
            return f"output {number} at {index}: {items}; {len(where)} items differ"
    return ""


# --- clock ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A measured cell. If the results differ, or fastsel raises an error, it has the difference or
    the error, and no times."""

    operator: str
    family: str
    workload: str
    items: int
    threads: int
    difference: str = ""
    numpy_seconds: float | None = None
    fastsel_seconds: float | None = None
    ratio: float | None = None
    gigabytes_per_second: float | None = None
    numpy_calls: int = 0
    fastsel_calls: int = 0

    @property
    def is_loss(self) -> bool:
        """Whether NumPy was faster by a difference that the printed digits show."""
        return self.ratio is not None and self.ratio < NO_LOSS


def time_block(call: Callable[[], Any], times: list[int]) -> None:
    """Call until the block is over, at least once; append the nanoseconds of each call."""
    calls = spent = 0
    while spent < BLOCK_NANOSECONDS or (calls < BLOCK_CALLS and spent < LONG_BLOCK_NANOSECONDS):
        start = perf_counter_ns()
        result = call()
        time = perf_counter_ns() - start
        del result  # Not timed: freeing a result is not part of the next call.
        times.append(time)
        calls += 1
        spent += time


def measure(form: Form, workload: Workload, seconds: float) -> Row:
    """Run a cell on both sides, compare the results, then time both for about `seconds`, at least
    for a block of each."""
    threads = fastsel.get_num_threads()
    cell = (form.label, form.family, workload.name, workload.array.size, threads)
    numpy_call = partial(form.call, NUMPY, workload)
    fastsel_call = partial(form.call, fastsel, workload)

    theirs = numpy_call()
    try:
        ours = fastsel_call()
        differs = difference(form.defined(ours), form.defined(theirs), form.copies)
    except Exception as error:
        differs = f"{type(error).__name__}: {error}"
    if differs:
        return Row(*cell, differs)
    moved = form.bytes_moved(workload, ours)
    del ours, theirs

    numpy_times: list[int] = []
    fastsel_times: list[int] = []
    stop = perf_counter_ns() + seconds * 1e9
    while not fastsel_times or perf_counter_ns() < stop:
        time_block(numpy_call, numpy_times)
        time_block(fastsel_call, fastsel_times)
    numpy_median, fastsel_median = statistics.median(numpy_times), statistics.median(fastsel_times)
    return Row(
        *cell,
        numpy_seconds=numpy_median / 1e9,
        fastsel_seconds=fastsel_median / 1e9,
        ratio=numpy_median / fastsel_median,
        gigabytes_per_second=moved / fastsel_median,
        numpy_calls=len(numpy_times),
        fastsel_calls=len(fastsel_times),
    )


def geometric_means(rows: Iterable[Row]) -> dict[str, float]:
    """The geometric mean of the ratios in each family of forms."""
    ratios: dict[str, list[float]] = {}
    for row in rows:
        if row.ratio is not None:
            ratios.setdefault(row.family, []).append(row.ratio)
    return {family: statistics.geometric_mean(values) for family, values in ratios.items()}
