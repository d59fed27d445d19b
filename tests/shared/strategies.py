"""A Hypothesis strategy: arrays of many dtypes, layouts and shapes, often of a size near LIMITS."""

import functools

import numpy as np
from arrays import (
    DTYPES,
    from_bits,
    grouped,
    in_a_row,
    make,
    ml_dtypes,
    padding_bytes,
    pools,
    scattered,
    take_items,
)
from hypothesis import strategies as st
from layouts import LAYOUTS, has_layout
from numpy.dtypes import StringDType
from odd_arguments import Plain

from fastsel._core import _gate, _threads, parallel
from fastsel._unique import _plan

NAN = float("nan")
UNITS = ("M8[Y]", "M8[25D]", "M8[us]", "M8", "m8[W]", "m8[7ps]", "m8")
STRINGS = {
    "StringDType_nan": StringDType(na_object=NAN),
    "StringDType_none": StringDType(na_object=None),
    "StringDType_text": StringDType(na_object="missing"),
    "StringDType_strict": StringDType(coerce=False),
}
STRUCTURES = {
    "structure_of_times": np.dtype([("a", "M8[D]"), ("b", "m8[s]")]),
    "structure_with_titles": np.dtype([(("title", "a"), ">f8"), ("b", "c8")]),
    "structure_that_overlaps": np.dtype(
        {"names": ["a", "b"], "formats": ["u4", "f2"], "offsets": [0, 1]}
    ),
    "structure_of_bool": np.dtype([("a", "?"), ("b", "?")]),
    "structure_of_objects": np.dtype([("a", "O"), ("b", "i2")]),
    "structure_without_fields": np.dtype([]),
    "structure_of_texts": np.dtype([("a", "U2"), ("b", "S0"), ("c", "V2")]),
    "structure_of_longdouble": np.dtype([("a", "g")]),
    "record": np.dtype((np.record, [("a", "i8"), ("b", "f4")])),
}
WITHOUT_BYTES = {name: np.dtype(name) for name in ("S0", "U0", "V0")}
RARE_ML_DTYPES = {
    name: np.dtype(getattr(ml_dtypes, name))
    for name in ("complex32", "bcomplex32", "int1", "uint1")
    if hasattr(ml_dtypes, name)
}
MIXED_OBJECTS = {
    "numbers": (0, 1, 1.0, True, -0.0, 2**70, 1.5, -3, np.int8(1), np.float64(1.5)),
    "numbers_with_nan": (0, 1.5, NAN, float("nan"), np.float32("nan"), -1, False),
    "times": tuple(np.array(["NaT", "2001-01-01", "1999-01-01"], "M8[D]")),
    "texts": ("", "a", "a\0", "a\0b", "é", "long" * 20, "\U0010ffff"),
    "texts_with_nan": ("", "b", "a", NAN, float("nan")),
    "bytes": (b"", b"a", b"a\0", b"\xff" * 20),
    "texts_and_bytes": ("", "a", b"", b"a"),
    "tuples": ((), (1,), (1, "a"), (0, 2)),
    "anything": (None, 0, "", NAN, (), b"x", 1j, "a", 2.0),
    "none": (None,),
    "lists": ([], [1], [2]),
}
NAMES = sorted(
    {
        *DTYPES,
        *UNITS,
        *STRINGS,
        *STRUCTURES,
        *WITHOUT_BYTES,
        *RARE_ML_DTYPES,
        *MIXED_OBJECTS,
        "StringDType_nul",
        "unnormal",
        "bool_bytes",
    }
)
LIMITS = (
    _plan.MAX_FOR_NUMPY,
    _gate.TINY_ITEMS,
    _plan.UNSAMPLED_ITEMS,
    _plan.SORTED_AT_ONCE * _plan.UNSAMPLED_ITEMS,
    4096,
    parallel.THRESHOLDS.small_items,
    2 * parallel.THRESHOLDS.small_items,
)


def from_pool(pool, size, seed):
    positions = np.random.default_rng([size, seed, 2]).integers(len(pool), size=size)
    return pool[positions] if pool.dtype.hasobject else take_items(pool, positions)


@functools.cache
def special_pool(name):
    """Items of a kind that tests/shared/arrays.py does not have."""
    if name in MIXED_OBJECTS:
        pool = np.empty(len(MIXED_OBJECTS[name]), object)
        for position, item in enumerate(MIXED_OBJECTS[name]):
            pool[position] = item
        return pool
    if name == "StringDType_nul":
        return np.array(["", "a", "a\0", "a\0a", "a\0b", "\0", "b" * 40 + "\0"], StringDType())
    if name in STRINGS:
        missing = getattr(STRINGS[name], "na_object", "")
        return np.array(["", "a", missing, "b\0", "missing", "long" * 20], dtype=STRINGS[name])
    if name == "bool_bytes":
        return from_bits(range(256), np.uint8, bool)
    if name == "unnormal":
        if not padding_bytes(np.dtype("longdouble")):
            return np.array([0.0, -0.0, NAN, 1.0], "longdouble")
        bits = np.zeros((64, 16), np.uint8)
        random = np.random.default_rng(5)
        bits[:, :8] = random.choice(np.array([0, 0, 1, 128], np.uint8), (64, 8))
        bits[:, 8:10] = random.choice(np.array([0, 1, 0x7F, 0xFF, 0x80], np.uint8), (64, 2))
        return bits.view("longdouble")[:, 0]
    if name in WITHOUT_BYTES:
        return np.zeros(1, WITHOUT_BYTES[name])
    if name in RARE_ML_DTYPES:
        dtype = RARE_ML_DTYPES[name]
        if dtype.itemsize == 1:
            return np.array([0, 1 if name == "uint1" else -1], dtype)
        return np.array([0, complex(-0.0, 0.0), 1, 2j, 1 + 1j], dtype)
    dtype = STRUCTURES[name]
    random = np.random.default_rng(7)
    if name == "structure_that_overlaps":
        return random.choice(np.array([0, 0, 1, 128], np.uint8), (40, dtype.itemsize)).view(dtype)[
            :, 0
        ]
    pool = np.zeros(40, dtype)
    for field in dtype.names or ():
        if dtype[field].hasobject:
            pool[field] = random.integers(3, size=40).tolist()
        elif dtype[field].itemsize:
            pool[field] = from_pool(np.concatenate(pools(dtype[field])), 40, 3)
    return pool


def items(name, size, groups, seed):
    """A 1-d array of the kind `name`."""
    make_items = in_a_row if seed % 2 else scattered
    if name in UNITS:
        return grouped("int64", size, groups, seed, make_items).view(np.dtype(name))
    if name in DTYPES and seed % 3 == 0:  # awkward items: NaN of any kind, negative zero
        return make(name, size, seed=seed)
    if name in DTYPES:
        return grouped(name, size, groups, seed, make_items)
    pool = special_pool(name)
    return from_pool(pool[: max(groups, 1)] if seed % 2 else pool, size, seed)


@st.composite
def arrays_of_any_kind(draw):
    """A tuple of the name of a kind, and an array or a list of this kind."""
    name = draw(st.sampled_from(NAMES))
    sizes = st.one_of(
        st.integers(0, 70),
        st.sampled_from([max(limit + step, 0) for limit in LIMITS for step in (-1, 0, 1)]),
        st.integers(0, 1200),
    )
    size = draw(sizes)
    if draw(st.integers(0, 30)) == 0 and name in DTYPES and DTYPES[name].char not in "OT":
        size = 2 * _threads.MIN_CHUNK_BYTES // DTYPES[name].itemsize + draw(st.integers(-1, 1))
    if size > 3000 and name not in DTYPES:
        size = size % 3000
    a = items(
        name, size, draw(st.sampled_from([1, 2, 5, 30, 1000, 10**6])), draw(st.integers(0, 99))
    )
    shape = draw(st.sampled_from(["1-d", "1-d", "2-d", "2-d", "3-d", "0-d", "empty"]))
    if shape == "0-d":
        a = items(name, 1, 1, draw(st.integers(0, 99))).reshape(())
    elif shape == "empty":
        a = a[:0].reshape(draw(st.sampled_from([(0,), (0, 3), (3, 0), (2, 0, 2)])))
    elif shape != "1-d" and size:
        columns = draw(st.sampled_from([1, 2, 3, 7]))
        a = a[: size // columns * columns].reshape(-1, columns)
        if a.shape[0] % 2 == 0 and shape == "3-d":
            a = a.reshape(2, -1, columns)
        if draw(st.booleans()):
            a = a.reshape(a.shape[::-1])
    usable = [
        layout
        for layout in LAYOUTS
        if has_layout(a.dtype, layout)
        and not (layout == "swapped" and name in RARE_ML_DTYPES)
        and not (a.dtype.names and a.dtype.hasobject and layout not in ("C", "F", "strided"))
        and not (a.dtype.itemsize == 0 and layout in ("offset", "unaligned", "swapped"))
    ]
    a = LAYOUTS[draw(st.sampled_from(usable))](a)
    if draw(st.integers(0, 25)) == 0:
        a = a.view(Plain)
    elif (
        a.ndim > 0
        and a.size < 200
        and draw(st.integers(0, 25)) == 0
        and name in DTYPES
        and a.dtype.kind not in "VO"
    ):
        a = a.tolist()
    return name, a
