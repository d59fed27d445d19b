"""Seeded inputs, every page touched: the same arrays for asv and for compare.py.

Selection wants a density (the share of non-zero items), unique a number of groups, gather_nd index
rows. The distribution says how they lie: ``random``, ``runs`` of 1000, ``sorted``, ``nearly`` (one
of a hundred sorted items moved), ``halves`` (two sorted runs), ``zipf`` (few groups hold most
items), ``narrow`` (the groups are the integers from 0 on), ``gaps`` (every tenth of them), ``nan``
(nine of ten items are NaN), or ``coarse`` (floats rounded to integers, of which rows have few).
"""

import functools
import itertools
import math

import numpy as np

SEED = 20260101
RUN_ITEMS = 1000
WORD_LETTERS = 8
ORDERED = ("sorted", "reversed", "nearly", "halves")
STEPS = {"narrow": 1, "gaps": 10}  # from one group to the next


def mask(n, density, distribution="random"):
    """A bool array (n,) of which about ``density`` is True."""
    generator = np.random.default_rng(SEED)
    if distribution == "runs":
        flags = generator.random(n // RUN_ITEMS + 1) < density
        return np.repeat(flags, RUN_ITEMS)[:n]
    flags = generator.random(n) < density
    return np.sort(flags) if distribution == "sorted" else flags


def items(dtype, shape, density, distribution="random", layout="C"):
    """An array of which about ``density`` is non-zero; integers from 1 to 99 and zeros."""
    n = math.prod(np.atleast_1d(shape).tolist())
    values = np.random.default_rng(SEED + 1).integers(1, 100, n, dtype=np.uint8).astype(dtype)
    flags = mask(n, density, distribution)
    return lay_out(np.where(flags, values, np.zeros(1, dtype)).reshape(shape), layout)


def lay_out(a, layout):
    """The same array in memory as ``C``, ``transposed`` (Fortran order), ``strided``, ``reversed``.

    ``strided`` is every second item of a buffer of twice the length; all strides of ``reversed``
    are negative.
    """
    if layout == "transposed":
        return np.asfortranarray(a)
    if layout == "strided":
        buffer = np.repeat(a, 2, axis=-1)
        return buffer[..., ::2]
    if layout == "reversed":
        return np.flip(np.flip(a).copy())
    return a


def keys(dtype, n, groups, distribution="random"):
    """An array (n,) of about ``groups`` distinct values, spread over the range of the dtype."""
    if np.dtype(dtype).kind in "OT":  # objects: one str per item, as files are read
        return keys(f"U{WORD_LETTERS}", n, groups, distribution).astype(dtype)
    if distribution in STEPS:
        return (group_numbers(n, groups) * STEPS[distribution]).astype(dtype)
    distinct = labels(np.dtype(dtype), groups)
    if distribution in ORDERED:
        distinct = np.sort(distinct)
    return with_nan(distinct[group_numbers(n, groups, distribution)], distribution)


def rows(dtype, n, width, groups, distribution="random"):
    """An array (n, width) of about ``groups`` distinct rows."""
    distinct = labels(np.dtype(dtype), groups * width).reshape(groups, width)
    if distribution == "coarse":
        distinct = np.round(distinct)
    return distinct[group_numbers(n, groups, distribution)]


def two_sets(dtype, n, tests, distribution="random"):
    """Arrays (n,) and (tests,) of items, about half of which are in the other one. narrow: the
    integers up to twice the size; gaps: every tenth integer up to twenty times the size."""
    if np.dtype(dtype) == object:
        return tuple(a.astype(object) for a in two_sets(f"U{WORD_LETTERS}", n, tests))
    generator = np.random.default_rng(SEED + 5)
    groups = 2 * tests
    if distribution in STEPS:
        pool = (generator.permutation(groups) * STEPS[distribution]).astype(dtype)
    else:
        pool = labels(np.dtype(dtype), groups)
    x, others = pool[generator.integers(groups, size=n)], pool[:tests].copy()
    if distribution == "sorted":
        return np.sort(x), np.sort(others)
    return with_nan(x, distribution), with_nan(others, distribution)


def with_nan(a, distribution):
    """Most of the items are NaN, if the distribution is ``nan``."""
    if distribution == "nan":
        a[mask(a.size, 0.9)] = np.nan
    return a


def two_sets_of_rows(dtype, n, tests, width):
    """Arrays (n, width) and (tests, width) of rows, of which about half are in the other one."""
    pool = labels(np.dtype(dtype), 2 * tests * width).reshape(2 * tests, width)
    chosen = np.random.default_rng(SEED + 5).integers(2 * tests, size=n)
    return pool[chosen], pool[:tests].copy()


def labels(dtype, groups):
    """``groups`` random values of the dtype; some are equal where the dtype is narrow."""
    generator = np.random.default_rng(SEED + 2)
    if dtype.kind in "SU":
        letters = generator.integers(ord("a"), ord("z") + 1, (groups, WORD_LETTERS), dtype=np.uint8)
        return letters.view(f"S{WORD_LETTERS}")[:, 0].astype(dtype)
    if dtype.kind == "V":
        return np.frombuffer(generator.bytes(groups * dtype.itemsize), dtype)
    if dtype.kind == "c":
        return labels(dtype.type(0).real.dtype, 2 * groups).view(dtype)
    if dtype.kind == "f":
        return generator.standard_normal(groups).astype(dtype)
    limits = np.iinfo(dtype)
    return generator.integers(limits.min, limits.max, groups, dtype=dtype, endpoint=True)


def group_numbers(n, groups, distribution="random"):
    """An int64 array (n,) that says to which group each item belongs."""
    generator = np.random.default_rng(SEED + 3)
    if distribution == "zipf":  # the share of group k falls as 1 / k
        return np.power(float(groups), generator.random(n)).astype(np.int64) - 1
    if distribution == "runs":
        return np.repeat(generator.integers(groups, size=n // RUN_ITEMS + 1), RUN_ITEMS)[:n]
    numbers = generator.permutation(n) if groups >= n else generator.integers(groups, size=n)
    if distribution in ORDERED:
        numbers.sort()
    if distribution == "nearly":
        moved = np.flatnonzero(mask(n, 0.01))
        numbers[moved] = numbers[generator.permutation(moved)]
    if distribution == "halves":
        numbers = np.concatenate([numbers[::2], numbers[1::2]])
    return numbers[::-1].copy() if distribution == "reversed" else numbers


def index_rows(shape, lead, dtype="int64", distribution="random"):
    """Index rows (*lead, len(shape)) into an array of this shape, all within bounds."""
    offsets = np.random.default_rng(SEED + 4).integers(math.prod(shape), size=math.prod(lead))
    if distribution == "sorted":
        offsets.sort()
    axes = np.unravel_index(offsets.reshape(lead), shape)
    return np.stack(axes, axis=-1).astype(dtype)


def keep(make, *choices):
    """Write ``make(*arguments)`` for every combination of the choices: for asv's setup_cache."""
    for arguments in itertools.product(*choices):
        np.save(file_name(make, arguments), make(*arguments))


@functools.cache
def kept(make, *arguments, layout="C"):
    """What ``keep`` wrote for these arguments; the same array each time, so that it stays hot."""
    return lay_out(np.load(file_name(make, arguments)), layout)


def file_name(make, arguments):
    """A file of the working folder, which is asv's cache folder."""
    return "-".join([make.__name__, *map(str, arguments)]) + ".npy"
