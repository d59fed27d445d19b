"""Items become canonical keys: two items have the same key if they are equal, even if their bits
differ. NaN may have the same key without being equal (nan_unequal, Keys.unequal)."""

import functools
import os
import random

import numpy as np

from fastsel._core import _dtypes, _gate, _threads
from fastsel._unique.canonical import are_canonical, canonical_keys
from fastsel._unique.keys import Keys, Rule


def _seeds():
    """(seed, factor) of the hash: random at each import, or made from FASTSEL_HASH_SEED. The factor
    is odd."""
    source, text = random.SystemRandom(), os.environ.get("FASTSEL_HASH_SEED", "").strip()
    if text.isdecimal():
        source = random.Random(int(text))
    elif text:
        _gate.warn_ignored("FASTSEL_HASH_SEED", "a whole number", text)
    factor = source.getrandbits(64) | 1
    while not _spreads(factor):
        factor = source.getrandbits(64) | 1
    return source.getrandbits(64), factor


def _spreads(factor):
    """Are keys in equal steps of 2^k, such as 0, 1, 2 ..., far apart in a table, for each k < 53?

    They are not if factor * 2^k / 2^64 is close to a fraction with a small denominator. Then one of
    the first quotients of its continued fraction is large (the three-distance theorem, Sos 1958).
    """
    for k in range(53):
        above, below = 1 << 64, (factor << k) % (1 << 64)
        before, denominator = 0, 1
        while below and denominator < 1 << 22:
            quotient = above // below
            if quotient > 300:
                return False
            above, below = below, above % below
            before, denominator = denominator, before + quotient * denominator
    return True


SEEDS = _seeds()


@functools.lru_cache(maxsize=256)
def loaded_rule(dtype, equal_nan):
    """The Rule of a dtype whose items become keys when they are loaded: of one word, or of more
    than 8 raw bytes. None for other dtypes."""
    rule = _dtypes.loaded_key_rule(dtype, equal_nan)
    return None if rule is None else Rule(*rule, _dtypes.number_rule(dtype), character_width(dtype))


@functools.lru_cache(maxsize=256)
def raw_rule(character_width=0):
    """The Rule of keys that are equal if, and only if, their bytes are equal."""
    raw = _dtypes.KeyRule(_dtypes.RAW, 8).part_rule(False)
    return Rule(*raw, None, character_width)


def keys_of(rows, equal_nan):
    """The Keys of items (1-d) or of slices along axis 0; None if NumPy decides which of them are
    equal."""
    dtype = rows.dtype
    rule = loaded_rule(dtype, equal_nan) if rows.ndim == 1 else None
    if rule is not None:
        return Keys(rows, rule, SEEDS)
    if _dtypes.small_foreign(dtype):  # equal as float32, and not in the order of their words
        numbers = _dtypes.foreign_values(dtype)[rows.view(f"u{dtype.itemsize}")]
        if rows.ndim > 1:
            return keys_of(numbers, equal_nan)
        return Keys(numbers, Rule(*_dtypes.loaded_key_rule(numbers.dtype, equal_nan)), SEEDS)
    if not dtype.isnative and dtype.kind in "iufcmM":
        return keys_of(_dtypes.native(rows), equal_nan)
    rule, width = _dtypes.key_rule(dtype), rows.nbytes // len(rows)
    if rule is None:
        return None
    rows = np.ascontiguousarray(rows)
    is_key = width > 8 or width in (1, 2, 4, 8)
    if not (is_key and _rows_are_canonical(rows, rule, equal_nan)):
        return _canonical(rows, rule, width, equal_nan)
    return Keys(rows, raw_rule(_characters_of(rows)), SEEDS)


def _rows_are_canonical(rows, rule, equal_nan):
    """Are the bytes of C-contiguous rows, or complex numbers, canonical keys? Nearly all are, and a
    check is faster than writing keys. RAW rows need no check. Returns False without a check for
    extended and quad precision."""
    if rule.kind == _dtypes.RAW:
        return True
    if rule.kind in (_dtypes.EXTENDED, _dtypes.QUAD):
        return False
    threads = _threads.for_bytes(rows.nbytes)
    return are_canonical(rows, rule.width, Rule(*rule.part_rule(not equal_nan)), threads)


def have_one_form(items):
    """Have equal items equal bits, because no item is NaN or -0.0? For strings, complex numbers and
    long doubles of native byte order; False for complex numbers of long doubles, or with fields."""
    if items.dtype.kind == "f":
        # x87 numbers have a second form just below the smallest normal number.
        sizes, smallest = np.abs(items), 2 * np.finfo(items.dtype).tiny
        return bool(((sizes >= smallest) | ((sizes == 0) & ~np.signbit(items))).all())
    rule = _dtypes.key_rule(items.dtype)
    return rule is not None and _rows_are_canonical(np.ascontiguousarray(items), rule, False)


def _canonical(rows, rule, width, equal_nan):
    """Keys in new memory, for C-contiguous rows that are not canonical in memory, or whose width is
    3, 5, 6 or 7 bytes. Keys of less than 8 bytes are padded with zeros to 1, 2, 4 or 8 bytes."""
    padded = width if width > 8 else 1 << (width - 1).bit_length()
    out = np.empty((len(rows), padded), np.uint8)
    threads = _threads.for_bytes(rows.nbytes)
    part_rule = Rule(*rule.part_rule(not equal_nan))
    unequal = canonical_keys(rows, rule.kind, rule.width, part_rule, equal_nan, out, threads)
    return Keys(out, raw_rule(_characters_of(rows)), SEEDS, unequal)


def character_width(dtype):
    """The bytes of a character of native strings; 0 for other dtypes."""
    return (4 if dtype.kind == "U" else 1) if dtype.kind in "SU" and dtype.isnative else 0


def _characters_of(rows):
    """character_width of items; 0 for slices."""
    return character_width(rows.dtype) if rows.ndim == 1 else 0
