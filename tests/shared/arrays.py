"""Functions that make arrays of the dtypes of DTYPES for the tests.

The same arguments give the same array. Each dtype has two pools of items: some that are selected
(truthy), and some that are not (falsy). The pools contain the awkward values: negative zero, NaN
with several payloads, subnormals, NaT, items with a single bit set, bool bytes other than 1.
"""

import functools
import math

import numpy as np
from numpy.dtypes import StringDType

try:
    import ml_dtypes
except ImportError:  # ml_dtypes has no wheel for musl
    ml_dtypes = None

SIZES = tuple(range(68))
LARGE_SIZES = (1000, 4095, 4096, 4097, 100_000)
EDGE_SIZES = (0, 1, 2, 7, 63, 64, 65, 127, 128, 129, 449, 1000)
DENSITIES = (0, "one", 0.01, 0.5, 0.99, 1)

ML_NAMES = (
    "bfloat16",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float4_e2m1fn",
    "int4",
    "uint4",
    "int2",
    "uint2",
)
# Older releases of ml_dtypes lack some of the small dtypes.
ML_DTYPES = {
    name: np.dtype(getattr(ml_dtypes, name)) for name in ML_NAMES if hasattr(ml_dtypes, name)
}


def _dtypes_by_name(*names):
    return {name: np.dtype(name) for name in names}


INTEGER_DTYPES = _dtypes_by_name(
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"
)
FLOAT_DTYPES = _dtypes_by_name("float16", "float32", "float64", "longdouble")
COMPLEX_DTYPES = _dtypes_by_name("complex64", "complex128", "clongdouble")
TIME_DTYPES = {"datetime64": np.dtype("M8[s]"), "timedelta64": np.dtype("m8[ns]")}
STRING_DTYPES = _dtypes_by_name("S1", "S2", "S3", "S8", "S17", "U1", "U2", "U3", "U8")
VOID_DTYPES = _dtypes_by_name("V1", "V3", "V4", "V8", "V16")
STRUCT_DTYPES = {
    "struct_plain": np.dtype([("a", "i4"), ("b", "f4")]),
    "struct_padded": np.dtype([("a", "i1"), ("b", "f8"), ("c", "i2")], align=True),
    "struct_gaps": np.dtype(
        {"names": ["a", "b"], "formats": ["u1", ">i2"], "offsets": [2, 5], "itemsize": 11}
    ),
    "struct_nested": np.dtype([("a", "?"), ("b", [("x", "f2"), ("y", "S3")])]),
    "struct_subarray": np.dtype([("a", "i2", (2,)), ("b", "u1")]),
}
DTYPES = {
    "bool": np.dtype(bool),
    **INTEGER_DTYPES,
    **FLOAT_DTYPES,
    **COMPLEX_DTYPES,
    **TIME_DTYPES,
    **STRING_DTYPES,
    "StringDType": StringDType(),
    **VOID_DTYPES,
    **STRUCT_DTYPES,
    "object": np.dtype(object),
    **ML_DTYPES,
}
# Dtypes whose arrays can be viewed as bytes and mapped from a file.
BYTES_DTYPES = {
    name: dtype for name, dtype in DTYPES.items() if name not in ("StringDType", "object")
}
WORD_DTYPES = {
    name: DTYPES[name]
    for name in (
        "bool",
        "uint8",
        "int16",
        "int32",
        "int64",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
        "datetime64",
        "bfloat16",
    )
    if name in DTYPES
}
"""Dtypes of numbers and times, of 1, 2, 4, 8 and 16 bytes, for tests too slow for all of DTYPES."""


def values_for_dtype(name, values, parts=4):
    """All values if `name` is in WORD_DTYPES; otherwise every `parts`-th value. The position of the
    dtype in DTYPES decides which value is the first."""
    start = [*DTYPES].index(name) if name in DTYPES else 0
    return values if name in WORD_DTYPES else values[start % parts :: parts]


def from_bits(bits, unsigned, dtype):
    """Items of `dtype` with the given bit patterns."""
    return np.array(bits, unsigned).view(dtype)


def _float_bits(dtype):
    unsigned = {2: np.uint16, 4: np.uint32, 8: np.uint64}[dtype.itemsize]
    info = np.finfo(dtype)
    sign = 1 << (8 * dtype.itemsize - 1)
    inf = ((1 << info.nexp) - 1) << info.nmant
    quiet_nan = 1 << (info.nmant - 1)
    positive = [
        1,
        2,
        (1 << info.nmant) - 1,
        1 << info.nmant,
        inf - 1,
        inf,
        inf | 1,
        inf | quiet_nan,
        inf | quiet_nan | 5,
        sign - 1,
    ]
    positive += [1 << bit for bit in range(8 * dtype.itemsize - 1)]
    truthy = from_bits(positive + [sign | bits for bits in positive], unsigned, dtype)
    return from_bits([0, sign], unsigned, dtype), truthy


def _float_pools(dtype):
    if dtype.itemsize <= 8:
        return _float_bits(dtype)
    info = np.finfo(dtype)
    falsy = np.array([0.0, -0.0], dtype)
    truthy = np.array(
        [1, -1, info.max, info.min, info.smallest_subnormal, np.inf, -np.inf, np.nan, -np.nan],
        dtype,
    )
    if padding_bytes(dtype):
        for pool in (falsy, truthy):
            pool.view(np.uint8).reshape(-1, 16)[:, 10:] = 0xA5
    return falsy, truthy


LONG_DTYPES = (np.dtype("longdouble"), np.dtype("clongdouble"))


def padding_bytes(dtype):
    """The number of bytes without a value at the end of each long double: 6 if it has the format of
    x87 in 16 bytes, otherwise 0."""
    info = np.finfo(dtype)
    return 6 if info.dtype.itemsize == 16 and info.nmant == 63 else 0


def _complex_pools(dtype):
    part = np.dtype(dtype.type(0).real.dtype)
    falsy, truthy = _float_pools(part)
    pairs = [
        np.stack([truthy, np.resize(falsy, truthy.size)], axis=1),
        np.stack([np.resize(falsy, truthy.size), truthy], axis=1),
        np.stack([truthy, truthy[::-1]], axis=1),
    ]
    zeros = np.stack([np.repeat(falsy, 2), np.tile(falsy, 2)], axis=1)
    return (
        np.ascontiguousarray(zeros).view(dtype).ravel(),
        np.ascontiguousarray(np.concatenate(pairs)).view(dtype).ravel(),
    )


def _struct_pools(dtype):
    """One falsy item; truthy items in which a single field or sub-array item is truthy. The bytes
    of padding are not zero."""
    fields = [(name, *dtype.fields[name][:2]) for name in dtype.names]

    def falsy_items(count):
        items = np.full(count * dtype.itemsize, 0xA5, np.uint8).view(dtype)
        for name, _, _ in fields:
            items[name] = np.zeros((), dtype[name])
        return items

    truthy = []
    for name, field, _ in fields:
        if field.subdtype is not None:
            base, shape = field.subdtype
            items = falsy_items(int(np.prod(shape)))
            items[name].reshape(len(items), -1)[np.diag_indices(len(items))] = pools(base)[1][0]
        else:
            values = pools(field)[1][:8]
            items = falsy_items(len(values))
            items[name] = values
        truthy.append(items)
    return falsy_items(1), join(truthy)


def pools(dtype):
    """Falsy items and truthy items of `dtype`: two 1-d arrays."""
    dtype = np.dtype(dtype)
    if not dtype.isnative:
        return tuple(pool.astype(dtype) for pool in pools(dtype.newbyteorder()))
    if dtype.char == "T":
        return (
            np.array([""], dtype),
            np.array([" ", "0", "\0", "é", "sixteen bytes ...", "x" * 300], dtype),
        )
    if dtype.char == "O":
        falsy, truthy = [0, "", None, False, 0.0, (), b""], [1, "0", (0,), float("nan"), " ", -1]
        return objects(*falsy), objects(*truthy)
    if dtype.names is not None:
        return _struct_pools(dtype)
    if dtype in ML_DTYPES.values():
        everything = np.arange(256**dtype.itemsize, dtype=f"u{dtype.itemsize}").view(dtype)
        with np.errstate(invalid="ignore"):
            zero = everything.astype(np.float64) == 0
        return everything[zero], everything[~zero]
    if dtype.kind == "b":
        return from_bits([0], np.uint8, dtype), from_bits([1, 2, 128, 255], np.uint8, dtype)
    if dtype.kind in "iu":
        bits = [1 << bit for bit in range(8 * dtype.itemsize)] + [2 ** (8 * dtype.itemsize) - 1]
        return np.zeros(1, dtype), from_bits(bits, f"u{dtype.itemsize}", dtype)
    if dtype.kind in "mM":
        return np.zeros(1, dtype), from_bits([1, -1, 2**32, 2**62, -(2**63)], np.int64, dtype)
    if dtype.kind == "f":
        return _float_pools(dtype)
    if dtype.kind == "c":
        return _complex_pools(dtype)
    if dtype.kind in "SU":
        width = dtype.itemsize // np.dtype(dtype.kind + "1").itemsize
        texts = [" ", "0", "\0" * (width - 1) + "a", "ab"[:width], "z" * width]
        return np.zeros(1, dtype), np.array(texts, dtype)
    # Raw void: item k has one bit set, in byte k.
    one_bit = np.zeros((dtype.itemsize, dtype.itemsize), np.uint8)
    np.fill_diagonal(one_bit, [1 << (k % 8) for k in range(dtype.itemsize)])
    return np.zeros(1, dtype), one_bit.view(dtype).ravel()


def objects(*items):
    """A 1-d array of the given objects."""
    return np.fromiter(items, object, len(items))


def join(parts):
    """Concatenate arrays; the bytes of padding of structured items are copied, too."""
    if parts[0].dtype.names is None:
        return np.concatenate(parts)
    dtype = parts[0].dtype
    return np.concatenate([part.view(np.uint8) for part in parts]).view(dtype)


def take_items(pool, positions):
    """`pool[positions]`, with all bytes of each item, padding included."""
    if pool.dtype.char in "TO" or pool.dtype.itemsize == 0:
        return pool[positions]
    items = pool.view(np.uint8).reshape(len(pool), pool.dtype.itemsize)[positions]
    return np.ascontiguousarray(items).reshape(-1).view(pool.dtype)


def choose(size, density, rng):
    """A random bool array of `size` items. Each item is True with probability `density`; if
    `density` is "one", one item is True."""
    if density == "one":
        chosen = np.zeros(size, bool)
        if size:
            chosen[rng.integers(size)] = True
        return chosen
    return rng.random(size) < density


def make(dtype, shape, density=0.5, seed=0):
    """A random array of `dtype` (a dtype or a name of DTYPES). `choose` decides which items are
    truthy; if the dtype has no falsy items, all are truthy."""
    dtype = DTYPES[dtype] if isinstance(dtype, str) and dtype in DTYPES else np.dtype(dtype)
    size = math.prod(shape) if isinstance(shape, tuple) else int(np.prod(shape))
    pool, n_falsy = _pool(dtype)
    # Positions of small arrays are cached: the tests of all operators use the same small arrays.
    positions_of = _positions if size <= 5000 else _positions.__wrapped__
    positions = positions_of(size, density, seed, n_falsy, len(pool) - n_falsy)
    return take_items(pool, positions).reshape(shape)


@functools.cache
def _positions(size, density, seed, n_falsy, n_truthy):
    """Positions of random items in a pool that has its falsy items before its truthy items."""
    rng = np.random.default_rng([size, seed])
    chosen = choose(size, density, rng)
    if n_falsy == 0:
        chosen[:] = True
    return np.where(
        chosen,
        rng.integers(n_truthy, size=size) + n_falsy,
        rng.integers(max(n_falsy, 1), size=size),
    )


@functools.cache
def _pool(dtype):
    """Both pools in one array, falsy items first, and the number of falsy items."""
    falsy, truthy = pools(dtype)
    return join([falsy, truthy]), len(falsy)


def numbered(dtype, numbers):
    """An item of `dtype` for each of the numbers, which are >= 0. Different numbers give different
    items up to a limit of the dtype, such as 256 for uint8, 2048 for float16, 2**24 for float32."""
    dtype = DTYPES[dtype] if isinstance(dtype, str) and dtype in DTYPES else np.dtype(dtype)
    numbers = np.asarray(numbers, np.int64)
    if dtype.char == "O":
        return np.array([f"item {k}" for k in numbers.ravel()], object).reshape(numbers.shape)
    if dtype.names is not None:
        items = np.full((*numbers.shape, dtype.itemsize), 0xA5, np.uint8).view(dtype)[..., 0]
        for position, name in enumerate(dtype.names):
            field = dtype[name]
            if field.subdtype is None:
                items[name] = numbered(field, numbers >> (7 * position) if position else numbers)
            else:
                base, shape = field.subdtype
                expanded = numbers.reshape(numbers.shape + (1,) * len(shape))
                items[name] = numbered(base, np.broadcast_to(expanded, numbers.shape + shape))
        return items
    if dtype.char == "T" or dtype.kind in "SU":
        texts = [f"{k:x}"[::-1] for k in numbers.ravel()]
        return np.array(texts, dtype).reshape(numbers.shape)
    if dtype.kind == "V" and dtype not in ML_DTYPES.values():
        raw = np.zeros((*numbers.shape, max(dtype.itemsize, 8)), np.uint8)
        raw[..., :8] = numbers.astype("<i8")[..., None].view(np.uint8)
        raw = np.ascontiguousarray(raw[..., : dtype.itemsize])
        return raw.view(dtype)[..., 0]
    if dtype.kind == "b":
        return numbers % 2 == 1
    if dtype.kind == "c":
        return (numbers + 1j * (numbers % 7)).astype(dtype)
    if dtype.kind in "mM":
        return numbers.view(np.dtype(f"{dtype.kind}8{dtype.str[3:]}"))
    if dtype.itemsize == 1 and dtype in ML_DTYPES.values():
        return (numbers % 256).astype(np.uint8).view(dtype)
    if dtype.itemsize == 2 and dtype.kind not in "iu":
        # Not all greater integers are exact in these dtypes.
        numbers = numbers % (2048 if dtype == np.float16 else 256)
    return numbers.astype(dtype)


def _is_sub_byte(dtype):
    return dtype in ML_DTYPES.values() and dtype.itemsize == 1 and "float8" not in dtype.name


def scattered(dtype, count, seed=0):
    """`count` random items of `dtype`: random bytes, with an item of `pools` at up to an eighth of
    the positions.

    There are exceptions. bool items are True or False. Long doubles, StringDType and structures are
    drawn from `pools` and 64 items of `numbered`. The characters of dtype U are drawn from nine
    code points. Items narrower than a byte are not from `pools`. Object items are texts, because
    objects of different types have no order.
    """
    dtype = DTYPES[dtype] if isinstance(dtype, str) and dtype in DTYPES else np.dtype(dtype)
    rng = np.random.default_rng([count, seed, 1])
    if dtype.char == "O":
        return numbered(dtype, rng.integers(1 << 40, size=count))
    if dtype.kind == "b":
        return rng.random(count) < 0.5
    if dtype.kind == "U":
        points = rng.choice(
            [0, 0x20, 0x61, 0x7F, 0xE9, 0xD7FF, 0xFFFF, 0x10000, 0x10FFFF],
            (count, dtype.itemsize // 4),
        )
        return points.astype(np.uint32).view("U" + str(dtype.itemsize // 4))[:, 0].astype(dtype)
    if dtype.char in "gGT" or dtype.names is not None:
        items = join([*pools(dtype), numbered(dtype, rng.integers(1 << 20, size=64))])
        return take_items(items, rng.integers(len(items), size=count))
    items = rng.integers(256, size=(count, dtype.itemsize), dtype=np.uint8).view(dtype)[:, 0]
    if _is_sub_byte(dtype):
        return items.astype(np.float32).astype(dtype)  # clears the bits that carry no value
    awkward = join(list(pools(dtype)))
    positions = rng.integers(count, size=count // 8) if count else []
    items[positions] = awkward[rng.integers(len(awkward), size=len(positions))]
    return items


def grouped(dtype, size, groups, seed=0, make_items=scattered):
    """`size` items in random order, drawn from `groups` items of `make_items`; if `groups` >=
    `size`, `size` items of `make_items`, each of them once.

    `make_items` is `scattered`, or `in_a_row` for items in a narrow range.
    """
    pool = make_items(dtype, min(groups, size) if size else 0, seed)
    rng = np.random.default_rng([size, groups, seed])
    if groups >= size:
        return take_items(pool, rng.permutation(size))
    return take_items(pool, rng.integers(groups, size=size))


def in_a_row(dtype, count, seed=0):
    """The items of `numbered` for the numbers 0 to `count` - 1, with 0 for bits that carry no
    value."""
    items = numbered(dtype, np.arange(count) % 2048 if dtype == np.float16 else np.arange(count))
    return items.astype(np.float32).astype(items.dtype) if _is_sub_byte(items.dtype) else items
