"""NumPy's unique, for arrays that the kernels do not serve, with fastsel's order and advice."""

import inspect
import itertools

import numpy as np

from fastsel._core import _gate, _numpy
from fastsel._unique import _keys, _objects, _sort
from fastsel._unique._algorithms import search_for
from fastsel._unique._outputs import as_result, converted, outputs_of

# From NumPy 2.4 on, NumPy's unique hashes complex numbers, and returns the first of equal numbers.
_NUMPY_HASHES_COMPLEX = np.lib.NumpyVersion(np.__version__) >= "2.4.0"
_NUMPY_TAKES_SORTED = "sorted" in inspect.signature(_numpy.unique).parameters  # from 2.3 on


def as_given(ar, request, axis):
    """Call the unique of the array's library, or NumPy's, with the arguments of the caller, but
    without `sorted` if NumPy's unique does not have it."""
    arguments = _gate.non_defaults(
        return_index=request.index,
        return_inverse=request.inverse,
        return_counts=request.counts,
        axis=axis,
        equal_nan=request.equal_nan,
        sorted=request.ascending,
    )
    library = _gate.library(ar)
    if not _gate.is_numpy(library):
        if request.inverse_dtype is not None:
            arguments["inverse_dtype"] = request.inverse_dtype
        return library.unique(ar, **arguments)
    if not _NUMPY_TAKES_SORTED:
        arguments.pop("sorted", None)
    return in_inverse_dtype(library.unique(ar, **arguments), request)


def in_inverse_dtype(result, request):
    """A result of NumPy's unique, with the inverse in the dtype of the request."""
    if not request.inverse or request.inverse_dtype is None:
        return result
    outputs, k = [*result], 1 + request.index
    outputs[k] = converted(outputs[k], request.inverse_dtype)
    return tuple(outputs)


def of_tiny(array, request):
    """NumPy's answer, ascending, for a tiny array of a dtype for which NumPy finishes before a
    kernel has started; None for other arrays. Python finds the values of objects in less time, and
    the values of StringDType rightly: NumPy before 2.5.1 compares strings up to a NUL."""
    dtype, kind = array.dtype, array.dtype.kind
    if kind == "c" or (kind == "f" and dtype.itemsize > 8):
        if not (dtype.isnative and _keys.have_one_form(array)):
            return _of_tiny_with_nan(array, request)
    elif kind == "T":
        if hasattr(dtype, "na_object"):
            return None
        array = array.astype(object)
    elif kind == "O":
        if {*map(type, array.ravel().tolist())} not in ({str}, {bytes}, {int}):
            return None
    elif kind not in "SU" and (kind != "V" or dtype.isbuiltin != 0 or dtype.names):
        return None
    if request.values_only and array.dtype == object:
        return np.array(sorted({*array.ravel().tolist()}), dtype)
    if request.values_only:
        return _numpy.unique(array)
    # With the index, NumPy sorts stably: the value of equal objects is the first one.
    index = request.index or kind in "OT"
    values, *extras = _numpy.unique(array, index, request.inverse, request.counts)
    return (values.astype(dtype, copy=False), *extras[index > request.index :])


def _of_tiny_with_nan(array, request):
    """of_tiny for complex numbers and long doubles with NaN or -0.0."""
    is_hashed = array.dtype.kind == "c" and array.dtype.isnative and _NUMPY_HASHES_COMPLEX
    if is_hashed and request.values_only:
        values = _numpy.unique(array, equal_nan=request.equal_nan)
        # If all NaN are one value, NumPy returns the first NaN; the smallest one is needed.
        if not (len(values) and np.isnan(values[-1])):
            return values
    with np.errstate(invalid="ignore"):  # NumPy 2.0 warns of a signalling NaN
        return by_numpy(array, request, None)


def by_numpy(array, request, axis):
    """NumPy's answer, in the order of the request.

    With return_index NumPy sorts stably, so that the value of a group is its first item.
    """
    is_flat = isinstance(axis, int | np.integer) and axis in (0, -1) and array.ndim == 1
    if is_flat and not array.dtype.hasobject:
        axis = None  # given an axis, NumPy before 2.4 counts each NaN of a 1-d array as a value
    try:
        if request.ascending:
            _check_order(array)
        values, index, *extras = _numpy.unique(
            array, True, request.inverse, request.counts, axis=axis, equal_nan=request.equal_nan
        )
    except Exception:
        values = None
    if values is None:  # NumPy raises the error of the caller's own arguments
        return _with_advice(array, request, axis)
    if (
        request.ascending
        and values.dtype.kind == "O"
        and any(map(_objects.differs_from_itself, values))
    ):
        found = _sorted_with_nan(array, request)
        if found is not None:
            return as_result(found, array.shape)
    if not request.ascending:
        if values.dtype.kind == "c" and values.ndim == 1:
            nans = _numpy.flatnonzero(np.isnan(values))
            if len(nans) == 1:  # NumPy returns the smallest NaN, the first one is needed
                index[nans] = np.isnan(array).argmax()
                values[nans] = array.flat[index[nans]]
        order = np.argsort(index)
        if values.ndim == 1:
            values = values[order]
        else:  # moveaxis accepts every axis that NumPy's unique accepts
            values = np.moveaxis(np.moveaxis(values, axis, 0)[order], 0, axis)
        index = index[order]
        if request.inverse:
            extras[0] = np.asarray(_sort.ranks(order)[extras[0]])  # 0-d for a 0-d array
        if request.counts:
            extras[-1] = extras[-1][order]
    extras = [index, *extras] if request.index else extras
    return (values, *extras) if extras else values


def _check_order(array):
    """Raise an error if objects of two types in the array cannot be ordered. NumPy's sort raises it
    only if it happens to compare two such objects, which depends on the positions of the items."""
    if array.dtype.kind != "O":
        return
    items = array.ravel().tolist()
    firsts = {type(item): item for item in reversed(items)}
    for one, other in itertools.combinations(firsts.values(), 2):
        bool(one < other)


def _sorted_with_nan(array, request):
    """All outputs for objects with NaN. NaN come last; NumPy's sort would put them anywhere.
    Returns None if an object has no hash, or if the objects cannot be ordered."""
    try:
        groups = _objects.HashedObjects(search_for(None, array.ravel(), request))
        return outputs_of(groups, request) if groups.find_in_any_order() else None
    except TypeError:
        return None


def _with_advice(array, request, axis):
    """NumPy's own call. Its error keeps its class and text, and may get a note with advice.

    With the index, NumPy sorts stably: its other sort of StringDType may end the process. For the
    values alone, NumPy sorts only distinct strings.
    """
    extras = request.inverse, request.counts
    with_index = request.index or (array.dtype.kind == "T" and any(extras))
    try:
        result = _numpy.unique(array, with_index, *extras, axis=axis, equal_nan=request.equal_nan)
        if request.ascending:
            _check_order(array)
        return result if with_index == request.index else (result[0], *result[2:])
    except Exception as error:
        if axis is not None and not isinstance(axis, int | np.integer):
            error.add_note(f"axis must be an integer or None, got {axis!r}")
        elif axis is None and array.dtype.kind in "OT":
            error.add_note("sorted=False needs no order: values come in order of first occurrence")
        raise
