"""Layouts: functions that take a C-contiguous array and return an array of the same items with
other strides, byte order, alignment or flags; the two broadcast layouts repeat the items.

Gaps between the items hold copies of items or the bytes 0xA5, so that a kernel that reads gaps
usually returns another result.
"""

import tempfile

import numpy as np
from arrays import BYTES_DTYPES, ML_DTYPES, take_items


def as_c(array):
    return array.copy(order="C")


def as_f(array):
    return array.copy(order="F")


def repeated(array, times, axis):
    """np.repeat along an axis; NumPy 2.0's np.repeat returns broken items of StringDType."""
    return array.take(np.repeat(np.arange(array.shape[axis]), times), axis=axis)


def as_strided(array):
    """The same items, as every second item of the last axis of a larger array."""
    if array.ndim == 0:
        return array
    larger = repeated(array, 2, axis=-1)
    larger[..., 1::2] = array[..., ::-1]
    return larger[..., ::2]


def as_rows_strided(array):
    """The same items, as every third item of the first axis of a larger array."""
    return repeated(array, 3, axis=0)[::3] if array.ndim else array


def as_negative(array):
    """The same items with negative strides."""
    flip = (slice(None, None, -1),) * array.ndim
    return np.ascontiguousarray(array[flip])[flip] if array.ndim else array


def as_offset(array):
    """A contiguous view that starts inside its buffer."""
    before = min(array.size, 3)
    positions = np.concatenate([np.arange(before), np.arange(array.size)])
    return take_items(array.ravel(), positions)[before:].reshape(array.shape)


def as_broadcast(array):
    """The same array three times along a new first axis of stride 0."""
    return np.broadcast_to(array, (3, *array.shape))


def as_broadcast_inner(array):
    """Each item twice along a new last axis of stride 0."""
    return np.broadcast_to(array[..., None], (*array.shape, 2))


def as_axes_rolled(array):
    """The first axis has the smallest stride: with three dimensions and more, the strides neither
    ascend nor descend."""
    if array.ndim < 2:
        return array
    return np.moveaxis(np.moveaxis(array, 0, -1).copy(order="C"), -1, 0)


def as_unaligned(array):
    """A contiguous array that starts at an odd address."""
    buffer = np.full(array.nbytes + 1, 0xA5, np.uint8)
    odd = 1 if buffer.ctypes.data % 2 == 0 else 0
    items = buffer[odd : odd + array.nbytes]
    items[:] = np.frombuffer(array.tobytes(), np.uint8)
    return items.view(array.dtype).reshape(array.shape)


def as_unaligned_strided(array):
    """A field of packed records. The stride is 3 bytes more than the item size; at least half
    of the items are unaligned if the alignment of the dtype is more than 1."""
    record = np.dtype([("pad", "u1"), ("item", array.dtype), ("more", "u2")])
    records = np.full(array.size * record.itemsize, 0xA5, np.uint8).view(record)
    view = records["item"].reshape(array.shape)
    if array.size:
        raw = np.frombuffer(array.tobytes(), np.uint8).reshape(array.size, -1)
        records.view(np.uint8).reshape(array.size, -1)[:, 1 : 1 + array.itemsize] = raw
    return view


def as_swapped(array):
    """The same values in the other byte order."""
    return array.astype(array.dtype.newbyteorder())


def as_readonly(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def as_memmap(array):
    """A read-only memory map of a file; an empty array is returned as it is, because an empty file
    cannot be mapped."""
    if array.size == 0:
        return array
    with tempfile.TemporaryFile() as file:
        file.write(array.tobytes())
        file.flush()
        mapped = np.memmap(file, array.dtype, mode="r", shape=array.shape)
    return np.asarray(mapped)


LAYOUTS = {
    "C": as_c,
    "F": as_f,
    "strided": as_strided,
    "rows_strided": as_rows_strided,
    "negative": as_negative,
    "offset": as_offset,
    "broadcast": as_broadcast,
    "broadcast_inner": as_broadcast_inner,
    "axes_rolled": as_axes_rolled,
    "unaligned": as_unaligned,
    "unaligned_strided": as_unaligned_strided,
    "swapped": as_swapped,
    "readonly": as_readonly,
    "memmap": as_memmap,
}


def has_layout(dtype, layout):
    """Whether an array of `dtype` can have this layout."""
    if layout in ("unaligned", "unaligned_strided", "memmap"):
        return dtype in BYTES_DTYPES.values()
    if layout == "swapped":
        return dtype not in ML_DTYPES.values() and dtype.char not in "TO"
    return True
