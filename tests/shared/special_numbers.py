"""Numbers and times, among them NaN of four kinds, NaT, and zeros of both signs."""

import numpy as np
from arrays import from_bits


def whole_numbers(dtype, items):
    """`items` converted to the dtype. For floats and times, -1 becomes NaN or NaT; for floats,
    every second 0 becomes -0.0."""
    items = np.asarray(items)
    dtype = np.dtype(dtype)
    if dtype.kind in "mM":
        return np.where(items == -1, np.iinfo(np.int64).min, items).astype("i8").view(dtype)
    if dtype.kind != "f":
        return items.astype(dtype)
    array = np.where(items == -1, np.nan, items).astype(dtype)
    array[np.flatnonzero(array == 0)[1::2]] = -0.0
    return array


def numbers_with_nan_and_zeros(dtype):
    """30 times 1, 0, 2, NaN or NaT, 0; the first 0 of each five is -0.0 if the dtype has it."""
    dtype = np.dtype(dtype)
    array = np.array([1, 0, 2, 3, 0] * 30).astype(dtype)
    array[3::5] = np.array("NaT" if dtype.kind in "mM" else np.nan).astype(dtype)
    if dtype.kind not in "mM":
        array[1::5] *= -1
    return array


def four_nans(dtype):
    """Four NaN: quiet, signalling, negative, and with a payload."""
    bits = {
        2: (0x7E00, 0x7C01, 0xFE00, 0x7DFF),
        4: (0x7FC00000, 0x7F800001, 0xFFC00000, 0x7FC12345),
        8: (0x7FF8 << 48, (0x7FF0 << 48) | 1, 0xFFF8 << 48, (0x7FF8 << 48) | 0x12345),
    }
    size = np.dtype(dtype).itemsize
    return from_bits(bits[size], f"u{size}", dtype)
