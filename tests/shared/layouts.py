"""Layouts: each takes a C-contiguous array and returns one that reads its memory another way.

Gaps hold copies of other items, so that reading a gap changes the answer.
"""

import tempfile

import numpy as np
from arrays import BYTES_DTYPES, ML_DTYPES, take_items


def as_c(array):
    return array.copy(order="C")


def as_f(array):
    return array.copy(order="F")


def repeated(array, times, axis):
    """np.repeat, which NumPy 2.0 leaves with broken items for StringDType."""
    return array.take(np.repeat(np.arange(array.shape[axis]), times), axis=axis)


def as_strided(array):
    """Every second item of the last axis."""
    if array.ndim == 0:
        return array
    wide = repeated(array, 2, axis=-1)
    wide[..., 1::2] = array[..., ::-1]
    return wide[..., ::2]


def as_rows_strided(array):
    """Every third item of the first axis."""
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
    """Stride 0: three times the same array along a new first axis."""
    return np.broadcast_to(array, (3, *array.shape))


def as_broadcast_inner(array):
    """Stride 0 along a new last axis of length 2."""
    return np.broadcast_to(array[..., None], (*array.shape, 2))


def as_axes_rolled(array):
    """Strides neither ascending nor descending for three dimensions and more."""
    if array.ndim < 2:
        return array
    return np.moveaxis(np.moveaxis(array, 0, -1).copy(order="C"), -1, 0)


def as_unaligned(array):
    """Items start at an odd address."""
    buffer = np.full(array.nbytes + 1, 0xA5, np.uint8)
    odd = 1 if buffer.ctypes.data % 2 == 0 else 0
    items = buffer[odd : odd + array.nbytes]
    items[:] = np.frombuffer(array.tobytes(), np.uint8)
    return items.view(array.dtype).reshape(array.shape)


def as_unaligned_strided(array):
    """Odd address and a stride that is no multiple of the item size."""
    record = np.dtype([("pad", "u1"), ("item", array.dtype), ("more", "u2")])
    records = np.full(array.size * record.itemsize, 0xA5, np.uint8).view(record)
    view = records["item"].reshape(array.shape)
    if array.size:
        raw = np.frombuffer(array.tobytes(), np.uint8).reshape(array.size, -1)
        records.view(np.uint8).reshape(array.size, -1)[:, 1 : 1 + array.itemsize] = raw
    return view


def as_swapped(array):
    """The other byte order, same values."""
    return array.astype(array.dtype.newbyteorder())


def as_readonly(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def as_memmap(array):
    """A read-only memory map of a file; an empty file cannot be mapped."""
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
    """Whether an array of `dtype` can be laid out like that."""
    if layout in ("unaligned", "unaligned_strided", "memmap"):
        return dtype in BYTES_DTYPES.values()
    if layout == "swapped":
        return dtype not in ML_DTYPES.values() and dtype.char not in "TO"
    return True
