"""Inputs from fixed seeds, the same arrays for asv and for compare.py. Every page of their memory
has been written to.

Inputs of positions and selection have a density, the share of non-zero items. Inputs of unique have
a number of groups, and inputs of gather_nd have index rows. The distribution is the order of the
items or groups: ``random``, ``runs`` of 1000, ``sorted``, ``reversed``, ``nearly`` (one of a
hundred sorted items is moved) or ``halves`` (two sorted runs). Other distributions choose values:
``zipf`` (few groups have most items), ``narrow`` (the groups are the integers from 0 on), ``gaps``
(every tenth integer), ``cents`` (every hundredth), ``tail`` (ids below the number of groups, of
which few are frequent), ``sentinel`` (ids of a narrow range, 2 % of which are -1), ``nan`` (nine of
ten items are NaN) and ``coarse`` (floats are rounded to integers, so that rows have few different
items).
"""

import functools
import itertools
import math

import numpy as np

SEED = 20260101
RUN_ITEMS = 1000
STRING_LENGTH = 8
ORDERED = ("sorted", "reversed", "nearly", "halves")
STEPS = {"narrow": 1, "gaps": 10, "cents": 0.01}  # from one group to the next


def mask(n, density, distribution="random"):
    """A bool array (n,); about a share of ``density`` is True."""
    generator = np.random.default_rng(SEED)
    if distribution == "runs":
        flags = generator.random(n // RUN_ITEMS + 1) < density
        return np.repeat(flags, RUN_ITEMS)[:n]
    flags = generator.random(n) < density
    return np.sort(flags) if distribution == "sorted" else flags


def items(dtype, shape, density, distribution="random", layout="C"):
    """An array in which about a share of ``density`` of the items are integers from 1 to 99, in
    this dtype; the other items are zero."""
    n = math.prod(np.atleast_1d(shape).tolist())
    values = np.random.default_rng(SEED + 1).integers(1, 100, n, dtype=np.uint8).astype(dtype)
    flags = mask(n, density, distribution)
    return lay_out(np.where(flags, values, np.zeros(1, dtype)).reshape(shape), layout)


def lay_out(a, layout):
    """The same items in a layout: ``C``, ``transposed`` (Fortran order), ``strided`` (every second
    item of the last axis of a buffer), or ``reversed`` (all strides are negative).
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
    """An array (n,) of about ``groups`` distinct values: integers for ``narrow``, ``gaps``,
    ``tail`` and ``sentinel``, prices for ``cents``, otherwise random values of the dtype."""
    if np.dtype(dtype).kind in "OT":  # each object is its own str, as after reading a file
        return keys(f"U{STRING_LENGTH}", n, groups, distribution).astype(dtype)
    if distribution in STEPS:
        return in_steps(group_numbers(n, groups), distribution).astype(dtype)
    if distribution == "tail":
        return (np.random.default_rng(SEED + 6).zipf(1.3, n) % groups).astype(dtype)
    if distribution == "sentinel":
        ids = 1_000_000 + group_numbers(n, groups)
        return np.where(mask(n, 0.02), -1, ids).astype(dtype)
    distinct = random_values(np.dtype(dtype), groups)
    if distribution in ORDERED:
        distinct = np.sort(distinct)
    return with_nan(distinct[group_numbers(n, groups, distribution)], distribution)


def rows(dtype, n, width, groups, distribution="random"):
    """An array (n, width) of about ``groups`` distinct rows."""
    distinct = random_values(np.dtype(dtype), groups * width).reshape(groups, width)
    if distribution == "coarse":
        distinct = np.round(distinct)
    return distinct[group_numbers(n, groups, distribution)]


def two_sets(dtype, n, tests, distribution="random"):
    """Arrays (n,) and (tests,); about half of the items of the first array are in the second array,
    or more if the dtype has few values. The distribution ``narrow`` has the integers below
    2 * tests, and ``gaps`` every tenth integer below 20 * tests. In ``labels``, all items are in
    the second array, whose items are the integers below tests."""
    if distribution == "labels":
        numbers = np.random.default_rng(SEED + 5)
        return numbers.integers(tests, size=n, dtype=dtype), numbers.permutation(tests).astype(
            dtype
        )
    if np.dtype(dtype) == object:
        return tuple(a.astype(object) for a in two_sets(f"U{STRING_LENGTH}", n, tests))
    generator = np.random.default_rng(SEED + 5)
    groups = 2 * tests
    if distribution in STEPS:
        pool = in_steps(generator.permutation(groups), distribution).astype(dtype)
    else:
        pool = random_values(np.dtype(dtype), groups)
    x, test_elements = pool[generator.integers(groups, size=n)], pool[:tests].copy()
    if distribution == "sorted":
        return np.sort(x), np.sort(test_elements)
    return with_nan(x, distribution), with_nan(test_elements, distribution)


def in_steps(numbers, distribution):
    """The groups of these numbers; hundredths are rounded."""
    return np.round(numbers * STEPS[distribution], 2)


def with_nan(a, distribution):
    """The array; if the distribution is ``nan``, nine of ten of its items are set to NaN."""
    if distribution == "nan":
        a[mask(a.size, 0.9)] = np.nan
    return a


def two_sets_of_rows(dtype, n, tests, width):
    """Arrays (n, width) and (tests, width); about half of the rows of the first array are in the
    second array."""
    pool = random_values(np.dtype(dtype), 2 * tests * width).reshape(2 * tests, width)
    chosen = np.random.default_rng(SEED + 5).integers(2 * tests, size=n)
    return pool[chosen], pool[:tests].copy()


def random_values(dtype, groups):
    """``groups`` random values of the dtype; some are equal if the dtype has few values."""
    generator = np.random.default_rng(SEED + 2)
    if dtype.kind in "SU":
        shape = (groups, STRING_LENGTH)
        letters = generator.integers(ord("a"), ord("z") + 1, shape, dtype=np.uint8)
        return letters.view(f"S{STRING_LENGTH}")[:, 0].astype(dtype)
    if dtype.kind == "V":
        return np.frombuffer(generator.bytes(groups * dtype.itemsize), dtype)
    if dtype.kind == "c":
        return random_values(dtype.type(0).real.dtype, 2 * groups).view(dtype)
    if dtype.kind == "f":
        return generator.standard_normal(groups).astype(dtype)
    limits = np.iinfo(dtype)
    return generator.integers(limits.min, limits.max, groups, dtype=dtype, endpoint=True)


def group_numbers(n, groups, distribution="random"):
    """An int64 array (n,) with the group of each item, a number from 0 to ``groups`` - 1."""
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
    """The array that ``keep`` wrote for these arguments, in the layout. Each call returns the same
    array, so that it stays in the cache of the CPU."""
    return lay_out(np.load(file_name(make, arguments)), layout)


def file_name(make, arguments):
    """The name of a file in the working folder, which is asv's cache folder."""
    return "-".join([make.__name__, *map(str, arguments)]) + ".npy"
