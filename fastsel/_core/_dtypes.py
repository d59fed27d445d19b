"""The rules of each dtype: which items are true, which items are equal, how items are ordered."""

import functools
import sys
from typing import NamedTuple

import numpy as np

from fastsel._core import _numpy


def movable(dtype):
    """Can items of this dtype be copied as bytes? False for items with references (objects,
    StringDType) and for an itemsize of 0."""
    return not dtype.hasobject and dtype.itemsize > 0


def is_nan(items):
    """Which items are NaN or NaT, for any dtype, without NumPy's warning for signalling NaN."""
    if items.dtype.kind in "fcmMT":  # != is False for missing strings
        return np.isnan(items)
    with np.errstate(invalid="ignore"):
        return items != items


# The maximum size of the sample that shows whether many items are NaN.
_NAN_SAMPLE_SIZE = 64


def mostly_nan(items):
    """Are at least half of the items in a sample NaN or NaT? False for float16, whose items are
    looked up as fast as NaN is found, and for all other dtypes but floats, complex numbers, dates
    and times that have keys. `items` is 1-d and has at least one item."""
    if items.dtype.kind not in "fcmM" or items.itemsize == 2:
        return False
    if key_rule(items.dtype.newbyteorder("=")) is None:
        return False
    sample = items[:: -(-items.size // _NAN_SAMPLE_SIZE)]
    return 2 * np.isnan(sample).sum() >= sample.size


# ---- truth: which bits of an item decide whether it is non-zero ----------------------------


class Truth(NamedTuple):
    """An item is true if any of its words, of `width` bytes, has a significant bit set. If the
    item is no multiple of a word, the last word overlaps the one before it."""

    width: int
    significant: np.ndarray  # uint64, one per word


@functools.lru_cache(maxsize=256)
def truth(dtype):
    """The Truth of a dtype. None if NumPy decides which items are true: for objects, StringDType,
    itemsize 0, and dtypes of other packages and float formats without known significant bits."""
    if not movable(dtype):
        return None
    significant = _significant_bytes(dtype)
    if significant is None:
        return None
    size = dtype.itemsize
    width = min(8, 1 << size.bit_length() - 1)
    starts = [min(start, size - width) for start in range(0, size, width)]
    words = np.array(
        [int.from_bytes(significant[start : start + width], sys.byteorder) for start in starts],
        np.uint64,
    )
    words.flags.writeable = False
    return Truth(width, words)


def _significant_bytes(dtype):
    """The significant bits of each byte of an item; None if NumPy decides."""
    if dtype.fields is not None and dtype.kind == "V":  # a number may have fields, too
        return _significant_of_fields(dtype)
    if dtype.isbuiltin == 2:  # the kinds and characters of user dtypes are not reliable
        return _significant_by_values(dtype)
    # NumPy tests each byte of void, and of a sub-array in a field.
    if dtype.kind in "biumMSU" or dtype.type is np.void:
        return bytearray(b"\xff" * dtype.itemsize)
    if dtype.char in "efdFDgG":
        parts = 2 if dtype.kind == "c" else 1
        significant = significant_of_float(dtype.itemsize // parts, np.finfo(dtype.type).nmant)
        return None if significant is None else _in_byte_order(significant, dtype) * parts
    return None


def _significant_of_fields(dtype):
    """The significant bits of each byte of a structured item; padding has none. None if NumPy
    decides for a field."""
    significant = bytearray(dtype.itemsize)
    for field, offset, *_ in dtype.fields.values():
        field_significant = _significant_bytes(field)
        if field_significant is None:
            return None
        for position, bits in enumerate(field_significant, offset):
            significant[position] |= bits
    return significant


def significant_of_float(size, mantissa_bits):
    """All bits of a little-endian float but the sign and padding; None for an unknown format."""
    if mantissa_bits == 63:  # x87 extended: 10 bytes, then padding
        return bytearray(b"\xff" * 9 + b"\x7f" + bytes(size - 10))
    if mantissa_bits in (10, 23, 52, 112):
        return bytearray(b"\xff" * (size - 1) + b"\x7f")
    return None  # two doubles (ppc64)


def _in_byte_order(little, dtype):
    return little if dtype.newbyteorder("<") == dtype else little[::-1]


def _significant_by_values(dtype):
    """The significant bits of each byte of a dtype of another package (ml_dtypes), found by a test
    of all its values. None if its items have more than 2 bytes, or if the test finds no such
    bits."""
    if dtype.itemsize > 2:
        return None
    bits = np.arange(1 << (8 * dtype.itemsize), dtype=f"u{dtype.itemsize}")
    with np.errstate(all="ignore"):
        true = np.zeros(bits.size, bool)
        true[_numpy.nonzero(bits.view(dtype))] = True
    top = bits[-1]
    for significant in (top, top >> 1, top >> 4, top >> 6):
        if np.array_equal((bits & significant) != 0, true):
            return bytearray(np.array([significant], dtype=bits.dtype).tobytes())
    return None


# ---- keys: which items are equal -----------------------------------------------------------

_ALL = 2**64 - 1
RAW, WORD, EXTENDED, QUAD = range(4)  # field_kind of canonical.pyx


class KeyRule(NamedTuple):
    """How an item becomes a key: `kind` and `width` of its parts, and the rule of each part.

    A complex number has two parts, any other item is one part. ``part & significant`` is the
    magnitude of a part. A part of magnitude 0 becomes 0, and a part of a magnitude above `limit`
    becomes `nan`. For a quad, the rule describes its upper half. RAW parts keep their bytes, and
    EXTENDED parts follow the rule in canonical.pyx.
    """

    kind: int
    width: int
    significant: int = _ALL
    limit: int = _ALL
    nan: int = 0
    has_nan: bool = False

    def part_rule(self, nan_unequal):
        """(significant, limit, nan, nan_unequal): the rule of a part as the kernels use it."""
        return self.significant, self.limit, self.nan, nan_unequal and self.has_nan


@functools.lru_cache(maxsize=256)
def key_rule(dtype):
    """The KeyRule of a native dtype; None for dtypes of other packages, and if NumPy decides which
    items are equal."""
    if not movable(dtype) or dtype.fields is not None or dtype.isbuiltin == 2:
        return None
    size = dtype.itemsize
    if dtype.kind == "b":  # bytes other than 0 and 1 are True
        return KeyRule(WORD, 1, 0xFF, 0, 1)
    if dtype.kind in "mM":
        return KeyRule(WORD, 8, nan=1 << 63, has_nan=True)
    if dtype.kind in "iuSU" or dtype.type is np.void:
        return KeyRule(RAW, size)
    if dtype.kind in "fc" and dtype.char in "efdFDgG":
        return _float_key_rule(size // (2 if dtype.kind == "c" else 1), np.finfo(dtype).nmant)
    return None


def _float_key_rule(size, mantissa_bits):
    if mantissa_bits == 63:
        return KeyRule(EXTENDED, size, has_nan=True)
    if mantissa_bits not in (10, 23, 52, 112):  # two doubles (ppc64)
        return None
    kind, bits = WORD, 8 * size
    if mantissa_bits == 112:
        kind, bits, mantissa_bits = QUAD, 64, 48
    significant = (1 << (bits - 1)) - 1
    infinity = significant >> mantissa_bits << mantissa_bits
    return KeyRule(kind, size, significant, infinity, infinity | 1 << (mantissa_bits - 1), True)


@functools.lru_cache(maxsize=256)
def loaded_key_rule(dtype, equal_nan):
    """The part_rule of a native dtype whose items become keys when they are loaded: items that are
    one word, and items of more than 8 raw bytes. None for other dtypes."""
    rule = key_rule(dtype) if dtype.isnative else None
    if rule is None or rule.width != dtype.itemsize:
        return None
    fits = dtype.itemsize in (1, 2, 4, 8) or (rule.kind == RAW and dtype.itemsize > 8)
    return rule.part_rule(not equal_nan) if fits else None


@functools.lru_cache(maxsize=256)
def number_rule(dtype):
    """The rule that makes ordered keys, for native numbers, dates and times of one word; None for
    other dtypes.

    The rule (sign, negative, minimum) makes a key an unsigned integer in the order of the items:
    flip the bits of `sign`; if the key had the sign bit, also flip the bits of `negative`; subtract
    `minimum`. NaN and NaT become the largest ordered keys.
    """
    if dtype.itemsize > 8 or dtype.kind not in "biufmM" or not dtype.isnative:
        return None
    sign = 1 << (8 * dtype.itemsize - 1)
    if dtype.kind in "bu":
        return 0, 0, 0
    if dtype.kind == "f":
        return sign, sign - 1, 0
    return sign, 0, int(dtype.kind in "mM")


def native(array):
    """The array in native byte order; a copy only if its byte order is foreign."""
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def cast(array, dtype):
    """The array in a dtype; a copy only if the dtypes differ. A signalling NaN does not warn."""
    if array.dtype == dtype and not dtype.hasobject:
        return array.view(dtype)  # the dtypes may differ in their characters and fields
    if array.dtype.kind in "biu":
        return array.astype(dtype, copy=False)
    if dtype.kind == "T":  # NumPy would not swap the bytes
        array = native(array)
    with np.errstate(invalid="ignore"):
        return array.astype(dtype, copy=False)


def without_fields(array):
    """The array without the fields that a number or a string may have. Items whose dtype has such
    fields have no keys, and `isnative` is the byte order of the fields. Structured items keep their
    fields."""
    dtype = array.dtype
    if dtype.fields is None or dtype.kind == "V":
        return array
    return array.view(dtype.str)


def small_foreign(dtype):
    """Is this a small dtype of another package (ml_dtypes)? float32 can hold all its values."""
    return dtype.isbuiltin == 2 and dtype.itemsize <= 2


def as_float32(array):
    """The values of a small foreign dtype as float32, which holds them exactly."""
    with np.errstate(all="ignore"):
        return array.astype(np.float32)


def without_small_foreign(array):
    """The array, with the items of a small foreign dtype as float32."""
    return as_float32(array) if small_foreign(array.dtype) else array


@functools.lru_cache(maxsize=64)
def foreign_values(dtype):
    """The value of each bit pattern of a small foreign dtype, as float32; the index is the bits."""
    bits = np.arange(1 << (8 * dtype.itemsize), dtype=f"u{dtype.itemsize}")
    return as_float32(bits.view(dtype))
