"""Items become canonical keys: two items have the same key if they are equal, even if their bits
differ. NaN may have the same key without being equal (nan_unequal, Keys.unequal)."""

import os
import random
import warnings
from typing import NamedTuple

import numpy as np

from fastsel._core import _dtypes, _threads
from fastsel._unique.keys import are_canonical, canonical_keys

_RAW_RULE = _dtypes.KeyRule(_dtypes.RAW, 8).part_rule(False)


def _seeds():
    """(seed, factor) of the hash: random at each import, or made from FASTSEL_HASH_SEED. The factor
    is odd."""
    source, text = random.SystemRandom(), os.environ.get("FASTSEL_HASH_SEED", "").strip()
    if text.isdecimal():
        source = random.Random(int(text))
    elif text:
        warnings.warn(
            f"FASTSEL_HASH_SEED must be a whole number, got {text!r}; it is ignored",
            RuntimeWarning,
            stacklevel=2,
        )
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


class Keys(NamedTuple):
    """Canonical keys, or items that become canonical when they are loaded."""

    data: np.ndarray  # C-contiguous and aligned
    size: int
    width: int  # bytes of a key
    rule: tuple
    unequal: np.ndarray | None  # bitmask of keys with NaN or NaT, which equal no other
    order_map: tuple | None  # how words become ordered keys; None if there are no ordered keys
    character_width: int = 0  # bytes of a character; 0 unless the items are native 1-d strings

    @property
    def is_word(self):
        """Are the keys words, and is there no bitmask `unequal`?"""
        return self.width in (1, 2, 4, 8) and self.unequal is None


def keys_of(rows, equal_nan):
    """The Keys of items (1-d) or of slices along axis 0; None if NumPy decides which of them are
    equal."""
    foreign = _dtypes.small_foreign(rows.dtype)
    if foreign:
        rows = _dtypes.foreign_values(rows.dtype)[rows.view(f"u{rows.dtype.itemsize}")]
    if not rows.dtype.isnative and rows.dtype.kind in "fcmM":
        rows = rows.astype(rows.dtype.newbyteorder("="))
    size = len(rows)
    width = rows.nbytes // size
    rules = _dtypes.key_and_number_rules(rows.dtype, equal_nan) if rows.ndim == 1 else None
    if rules is None:
        rule = _dtypes.key_rule(rows.dtype)
        if rule is None:
            return None
        is_key = width > 8 or width in (1, 2, 4, 8)
        if not (is_key and _rows_are_canonical(rows, rule, equal_nan)):
            return _canonical(rows, rule, width, equal_nan)
        rules = _RAW_RULE, None
    rule, order_map = rules[0], None if foreign else rules[1]
    return Keys(_as_words(rows, width), size, width, rule, None, order_map, _character_width(rows))


def of_words(words):
    """The Keys of an array of words that are equal if, and only if, their bits are equal."""
    return Keys(words, len(words), words.itemsize, _RAW_RULE, None, None)


def _rows_are_canonical(rows, rule, equal_nan):
    """Are the bytes of rows, or of complex numbers, canonical keys? Nearly all are, and a check is
    faster than writing keys. RAW rows need no check. Returns False without a check for other rows
    that are not C-contiguous, and for extended and quad precision."""
    if rule.kind == _dtypes.RAW:
        return True
    if rule.kind in (_dtypes.EXTENDED, _dtypes.QUAD) or not rows.flags.c_contiguous:
        return False
    threads = _threads.for_bytes(rows.nbytes)
    return are_canonical(rows, rule.width, rule.part_rule(not equal_nan), threads)


def _as_words(rows, width):
    """The items, contiguous and aligned for words of this width (keys of other widths are bytes,
    which need no alignment)."""
    flags = rows.flags
    data = rows if flags.c_contiguous and flags.aligned else np.require(rows, requirements="CA")
    if data.dtype.alignment < width <= 8 and data.ctypes.data % width:
        return data.copy()
    return data


def _canonical(rows, rule, width, equal_nan):
    """Keys in new memory, for rows that are not canonical in memory, or whose width is 3, 5, 6 or 7
    bytes. Keys of less than 8 bytes are padded with zeros to 1, 2, 4 or 8 bytes."""
    padded = width if width > 8 else 1 << (width - 1).bit_length()
    out = np.empty((len(rows), padded), np.uint8)
    unequal = None
    if rule.has_nan and not equal_nan:
        unequal = np.empty((len(rows) + 63) // 64, np.uint64)
    threads = _threads.for_bytes(rows.nbytes)
    part_rule = rule.part_rule(not equal_nan)
    canonical_keys(
        *(rows, len(rows), rule.kind, rule.width, part_rule, equal_nan, out, unequal, threads)
    )
    return Keys(out, len(rows), padded, _RAW_RULE, unequal, None, _character_width(rows))


def _character_width(rows):
    """The bytes of a character, for 1-d strings in native byte order; 0 for other rows."""
    is_string = rows.ndim == 1 and rows.dtype.kind in "SU" and rows.dtype.isnative
    return (4 if rows.dtype.kind == "U" else 1) if is_string else 0
