"""The only file that knows dtypes and layouts: what a kernel may see, and what NumPy keeps."""

import array
import functools
import sys
from typing import NamedTuple

import numpy as np

from fastsel import _numpy

# Array-likes that NumPy would simply convert. Everything else that is not an array (a duck with
# its own methods, a pandas Series, a generator) goes to the NumPy function, which knows the rules.
_CONVERTED = (list, tuple, range, array.array, memoryview)


def plain(a):
    """`a` as a base-class ndarray, or None if the NumPy function has to see it as it is."""
    if type(a) is np.ndarray:
        return a
    if type(a) is np.memmap:
        return a.view(np.ndarray)
    if isinstance(a, _CONVERTED):
        return np.asarray(a)
    return None


def as_array(name, value):
    """``np.asarray(value)``, with an error that names the argument."""
    try:
        return np.asarray(value)
    except ValueError as error:  # lists of different lengths
        raise ValueError(f"{name} is no array, and none can be made of it: {error}") from error


def overrides(a):
    """Does `a` answer NumPy's functions itself, by an __array_function__ of its own?"""
    method = getattr(type(a), "__array_function__", None)
    return method is not None and method is not np.ndarray.__array_function__


def library(*arrays):
    """The module whose functions serve these: fastsel.dask if one of them is a dask array, which
    others do not claim, else numpy. Who has no dask array does not import dask here."""
    known = getattr(sys.modules.get("dask.array"), "Array", None)
    if known is None or not any(isinstance(a, known) for a in arrays):
        return _numpy
    for a in arrays:
        if isinstance(a, known):
            if type(a._meta) is not np.ndarray:
                return _numpy
        elif overrides(a):
            return _numpy
    import fastsel.dask

    return fastsel.dask


def given(**arguments):
    """The arguments that are neither None nor False: what a NumPy function is handed."""
    return {k: value for k, value in arguments.items() if value is not None and value is not False}


def tiny(array, most):
    """May NumPy's own nonzero serve this array? Up to `most` items, and not the 1-d ones with a
    stride of 2 GiB or more, on which it reads out of bounds (NumPy 2.3 to 2.5)."""
    return array.size <= most and (
        array.base is None
        or array.ndim != 1
        or -(2**31) < array.strides[0] < 2**31
        or array.size == 0
    )


def like(result, a):
    """A selection from `a` in the class that NumPy gives it: a memmap stays one."""
    return result.view(np.memmap) if type(a) is np.memmap else result


def movable(dtype):
    """Can items of this dtype be copied as bytes?"""
    return not dtype.hasobject and dtype.itemsize > 0


# ---- truth: which bits of an item decide whether it is non-zero ----------------------------


class Truth(NamedTuple):
    """An item is true if any of its words (of `width` bytes) has a bit in common with its care."""

    width: int
    care: np.ndarray  # uint64, one per word


@functools.lru_cache(maxsize=256)
def truth(dtype):
    """The Truth of a dtype, or None where NumPy decides (object, StringDType, no bytes)."""
    if not movable(dtype):
        return None
    care = _care_bytes(dtype)
    if care is None:
        return None
    width = next(w for w in (8, 4, 2, 1) if dtype.itemsize % w == 0)
    words = np.frombuffer(bytes(care), dtype=f"u{width}").astype(np.uint64)
    words.flags.writeable = False
    return Truth(width, words)


def _care_bytes(dtype):
    """One byte per byte of the item with the bits that count, or None."""
    if dtype.fields is not None:
        return _care_of_fields(dtype)
    if dtype.isbuiltin == 2:  # their kinds and characters are not to be relied on
        return _probed_care(dtype)
    if dtype.kind in "biumMSU":
        return bytearray(b"\xff" * dtype.itemsize)
    if dtype.type is np.void:  # compared byte by byte, and so are the sub-arrays of a field
        return bytearray(b"\xff" * dtype.itemsize)
    if dtype.char in "efdFDgG":
        parts = 2 if dtype.kind == "c" else 1
        care = float_care(dtype.itemsize // parts, np.finfo(dtype).nmant)
        return None if care is None else _in_byte_order(care, dtype) * parts
    return None


def _care_of_fields(dtype):
    """Any field decides; padding does not."""
    care = bytearray(dtype.itemsize)
    for field, offset, *_ in dtype.fields.values():
        field_care = _care_bytes(field)
        if field_care is None:
            return None
        for at, bits in enumerate(field_care, offset):
            care[at] |= bits
    return care


def float_care(size, mantissa_bits):
    """All bits but the sign of a little-endian float; None for a format that is not known."""
    if mantissa_bits == 63:  # x87 extended: 10 bytes and padding
        return bytearray(b"\xff" * 9 + b"\x7f" + bytes(size - 10))
    if mantissa_bits in (10, 23, 52, 112):
        return bytearray(b"\xff" * (size - 1) + b"\x7f")
    return None  # two doubles (ppc64)


def _in_byte_order(little, dtype):
    return little if dtype.newbyteorder("<") == dtype else little[::-1]


def _probed_care(dtype):
    """The care of a small foreign dtype (ml_dtypes), found by asking it about all its values."""
    if dtype.itemsize > 2:
        return None
    bits = np.arange(1 << (8 * dtype.itemsize), dtype=f"u{dtype.itemsize}")
    with np.errstate(all="ignore"):
        true = np.zeros(bits.size, bool)
        true[_numpy.nonzero(bits.view(dtype))] = True
    top = bits[-1]
    for care in (top, top >> 1, top >> 4, top >> 6):
        if np.array_equal((bits & care) != 0, true):
            return bytearray(np.array([care], dtype=bits.dtype).tobytes())
    return None


# ---- keys: which items are equal -----------------------------------------------------------

_ALL = 2**64 - 1
RAW, WORD, EXTENDED = 0, 1, 2  # part_kind of keys.pyx


class KeyRule(NamedTuple):
    """How an item becomes a key: `kind` and `width` of its parts, and the rule of each part.

    A part & care is its magnitude: 0 makes the part 0, more than limit makes it nan.
    """

    kind: int
    width: int
    care: int = _ALL
    limit: int = _ALL
    nan: int = 0
    has_nan: bool = False

    def part_rule(self, lonely):
        """(care, limit, nan, lonely) as the kernels take it."""
        return self.care, self.limit, self.nan, lonely and self.has_nan


@functools.lru_cache(maxsize=256)
def key_rule(dtype):
    """The KeyRule of a native dtype, or None where NumPy decides which items are equal."""
    if not movable(dtype) or dtype.fields is not None or dtype.isbuiltin == 2:
        return None
    size = dtype.itemsize
    if dtype.kind == "b":  # bytes other than 0 and 1 are True
        return KeyRule(WORD, 1, 0xFF, 0, 1)
    if dtype.kind in "iu":
        return KeyRule(RAW, size)
    if dtype.kind in "mM":
        return KeyRule(WORD, 8, nan=1 << 63, has_nan=True)
    if dtype.kind in "SU" or dtype.type is np.void:
        return KeyRule(RAW, size)
    if dtype.kind in "fc" and dtype.char in "efdFDgG":
        return _float_key_rule(size // (2 if dtype.kind == "c" else 1), np.finfo(dtype).nmant)
    return None


def _float_key_rule(size, mantissa_bits):
    if mantissa_bits == 63:
        return KeyRule(EXTENDED, size, has_nan=True)
    if size > 8:
        return None
    care = (1 << (8 * size - 1)) - 1
    infinity = care >> mantissa_bits << mantissa_bits
    return KeyRule(WORD, size, care, infinity, infinity | 1 << (mantissa_bits - 1), True)


@functools.lru_cache(maxsize=256)
def word_rule(dtype, equal_nan):
    """The rule of items that are one word each, or bytes and longer than a word, as the kernels
    take it; None for other dtypes."""
    rule = key_rule(dtype) if dtype.isnative else None
    if rule is None or rule.width != dtype.itemsize:
        return None
    fits = dtype.itemsize in (1, 2, 4, 8) or (rule.kind == RAW and dtype.itemsize > 8)
    return rule.part_rule(not equal_nan) if fits else None


@functools.lru_cache(maxsize=256)
def order_rule(dtype):
    """The number_rule of keys of 4 or 8 bytes, which most kernels sort; None for other dtypes."""
    return number_rule(dtype) if dtype.itemsize in (4, 8) else None


@functools.lru_cache(maxsize=256)
def number_rule(dtype):
    """How keys that are a word and a number each are ordered; None for other dtypes.

    (sign, negative, less): a key becomes an unsigned number of the same order if sign is flipped,
    in keys that had it negative is flipped too, and less is subtracted. NaN and NaT come last.
    """
    if dtype.itemsize > 8 or dtype.kind not in "iufmM" or not dtype.isnative:
        return None
    sign = 1 << (8 * dtype.itemsize - 1)
    if dtype.kind == "u":
        return 0, 0, 0
    if dtype.kind == "f":
        return sign, sign - 1, 0
    return sign, 0, int(dtype.kind in "mM")


def small_foreign(dtype):
    """Is this a dtype of ml_dtypes' kind, whose values all fit float32?"""
    return dtype.isbuiltin == 2 and dtype.itemsize <= 2


def as_float32(array):
    """The values of a small foreign dtype, exactly."""
    with np.errstate(all="ignore"):
        return array.astype(np.float32)


@functools.lru_cache(maxsize=64)
def foreign_keys(dtype):
    """Table from the bits of a small foreign dtype to the bits of the equal float32 key."""
    bits = np.arange(1 << (8 * dtype.itemsize), dtype=f"u{dtype.itemsize}")
    return as_float32(bits.view(dtype))
