"""The cells of the tables of compare.py: operator x dtype x size x distribution, and others.

A cell describes one input of an operator completely. ``PARTS`` says which parts of a cell an
operator uses; ``MODEST``, ``KEY`` and ``FULL`` have grids of the values of these parts.
"""

import itertools
from dataclasses import dataclass, fields

import inputs
import numpy as np

NONZERO = ("nonzero", "flatnonzero", "argwhere", "count_nonzero", "nonzero_coordinates")
SELECTION = (
    *NONZERO,
    "nonzero_int32",
    "count_along",
    "first_nonzero",
    "compress",
    "extract",
    "boolean_mask",
)
UNIQUE_ITEMS = ("unique_sorted", "unique_first", "unique_counts", "unique_all")
UNIQUE_ROWS = ("unique_rows", "unique_rows_first")
UNIQUE = (*UNIQUE_ITEMS, *UNIQUE_ROWS)
GROUPED = ("group_indices", "group_indices_first")
SETS = ("isin", "index_in", "remap", "intersect1d", "union1d", "setdiff1d", "setxor1d")
SPARSE = ("sparse_coo", "sparse_csr", "sparse_csc")  # fastsel.sparse.from_dense to each format
IN_MEMORY = (*SELECTION, *UNIQUE, *GROUPED, *SETS, "isin_rows", "gather_nd", *SPARSE)
# The text of an operator's call in tables and pictures; operators that are not here are shown by
# their names.
CALLS = {
    "nonzero_int32": "nonzero(a, dtype=int32)",
    "count_along": "count_nonzero(a, axis)",
    "unique_sorted": "unique(a)",
    "unique_first": "unique(a, sorted=False)",
    "unique_counts": "unique(a, return_counts=True)",
    "unique_all": "unique(a, True, True, True)",
    "group_indices_first": "group_indices(a, sorted=False)",
    "unique_rows": "unique(a, axis=0)",
    "isin_rows": "isin(a, tests, axis=0)",
    "unique_rows_first": "unique(a, axis=0, sorted=False)",
    **{f"sparse_{format}": f'sparse.from_dense(a, "{format}")' for format in ("coo", "csr", "csc")},
}
DASK_NONZERO = ("dask_nonzero", "dask_flatnonzero", "dask_argwhere", "dask_count_nonzero")
DASK_MASKED = ("dask_compress", "dask_extract", "dask_boolean_mask")
DASK_UNIQUE = ("dask_unique", "dask_unique_index", "dask_unique_counts", "dask_unique_inverse")
DASK = (*DASK_NONZERO, *DASK_MASKED, *DASK_UNIQUE, "dask_gather_nd")
OPERATORS = (*IN_MEMORY, *DASK)
FAMILIES = {
    "selection": SELECTION,
    "unique": UNIQUE,
    "grouped": GROUPED,
    "sets": (*SETS, "isin_rows"),
    "sparse": SPARSE,
    "all": IN_MEMORY,
    "dask": DASK,
}


@dataclass(frozen=True)
class Cell:
    """One input of one operator; parts that the operator does not use have their defaults."""

    op: str
    dtype: str = "float64"
    size: int = 1_000_000  # items; of the output for gather_nd, of the input for all others
    ndim: int = 1
    width: int = 1  # items per row
    axis: int = 0
    density: float = 0.1
    first: float = 0.01  # position of the first non-zero item as a share of all items; 1: none
    groups: int = 1000
    tests: int = 1000  # number of test elements, or of items of the other set
    distribution: str = "random"
    layout: str = "C"
    batch_dims: int = 0
    index: str = "int64"

    @property
    def name(self):
        """The operator and the label."""
        return f"{self.op} {self.label}"

    @property
    def label(self):
        """The parts that the operator uses, as text; some parts are left out if they have their
        default."""
        words = [
            FORMATS.get(name, "{}").format(getattr(self, name))
            for name in PARTS[self.op]
            if name in ALWAYS_IN_LABEL or getattr(self, name) != DEFAULTS[name]
        ]
        return " ".join(words).replace("e+0", "e")


DEFAULTS = {field.name: field.default for field in fields(Cell)}
ALWAYS_IN_LABEL = ("dtype", "size", "density", "first", "groups", "tests")
FORMATS = {
    "size": "{:.3g}",
    "ndim": "{}-D",
    "width": "rows of {}",
    "axis": "axis {}",
    "density": "density {:g}",
    "first": "first at {:g}",
    "groups": "{:.3g} groups",
    "tests": "{:.3g} tests",
    "batch_dims": "batch_dims {}",
    "index": "{} indices",
}
NONZERO_PARTS = ("dtype", "size", "ndim", "width", "layout", "density", "distribution")
VALUE_PARTS = ("dtype", "size", "groups", "distribution")
ROW_PARTS = ("dtype", "size", "width", "groups", "distribution")
PARTS = {
    **dict.fromkeys((*NONZERO, "nonzero_int32", *SPARSE), NONZERO_PARTS),
    "count_along": ("dtype", "size", "width", "axis", "layout", "density"),
    "first_nonzero": ("dtype", "size", "width", "layout", "first"),
    "compress": ("dtype", "size", "width", "axis", "layout", "density", "distribution"),
    "extract": ("dtype", "size", "layout", "density", "distribution"),
    "boolean_mask": ("dtype", "size", "width", "layout", "density", "distribution"),
    **dict.fromkeys((*UNIQUE_ITEMS, *GROUPED, *DASK_UNIQUE), VALUE_PARTS),
    **dict.fromkeys(UNIQUE_ROWS, ROW_PARTS),
    **dict.fromkeys(SETS, ("dtype", "size", "tests", "distribution")),
    "isin_rows": ("dtype", "size", "width", "tests"),
    "gather_nd": ("dtype", "size", "width", "batch_dims", "index", "distribution"),
    **dict.fromkeys(DASK_NONZERO, ("dtype", "size", "ndim", "density")),
    **dict.fromkeys(DASK_MASKED, ("dtype", "size", "density")),
    "dask_gather_nd": ("dtype", "size"),
}


def grid(operators, **values):
    """A grid: every combination of these values, for each operator that the text names."""
    return operators.split(), {k: v if isinstance(v, list) else [v] for k, v in values.items()}


# Cells of the README's picture.
SHOWN = (
    grid("nonzero argwhere", ndim=2, size=1e7),
    grid("count_nonzero boolean_mask", size=1e7),
    grid("unique_sorted", dtype="int64", size=1e7, groups="n/10"),
)

# Inputs that are common in programs, although the kernels were not made for them.
EVERYDAY = (
    grid("isin", dtype=["int32", "float32", "float64"], size=1e6, tests=[1, 3, 16]),
    grid("isin", dtype="object", size=2e4, tests=300),
    grid("isin intersect1d union1d setdiff1d setxor1d", size=1e5, tests=1e5, distribution="nan"),
    grid("unique_sorted unique_first", dtype="T", size=1e5, groups=[1000, "n"]),
    grid("unique_sorted", dtype=["complex128", "T", "U8"], size=10, groups=5),
    grid("unique_sorted", dtype=["complex128", "V16", "S16", "U4"], size=5e5, groups="n"),
    grid("unique_rows", dtype="int64", size=30, width=3, groups=5),
    grid(
        "unique_rows", dtype="float32", size=784_000, width=784, groups="n", distribution="coarse"
    ),
    grid("unique_all", dtype="int64", groups="n", distribution=["nearly", "halves"]),
    grid("boolean_mask compress", layout=["strided", "reversed"], density=0.99),
    grid("compress", dtype=["uint8", "float64", "complex128"], width=100, axis=1, density=0.9),
    grid("boolean_mask", dtype="complex128", density=0.5),
    grid("count_along", dtype="complex128", width=100, axis=[0, 1]),
    grid("isin", dtype=["S6", "U8", "complex128"], size=1e5, tests=[1, 3]),
    grid("unique_rows unique_rows_first", dtype="uint8", size=3e5, width=3, groups=1000),
)

MODEST = (
    *SHOWN,
    grid("nonzero", dtype=["bool", "int32", "float64"], size=[1e5, 1e7], density=[0.01, 0.5]),
    grid("nonzero", dtype="bool", size=1e7, density=0.5, distribution="runs"),
    grid("nonzero_int32", dtype=["bool", "float64"], size=[1e5, 1e7], density=[0.01, 0.5]),
    grid("nonzero_int32", ndim=2),
    grid("nonzero", ndim=2, layout=["C", "transposed"]),
    grid("nonzero", layout=["strided", "reversed"]),
    grid("nonzero", dtype=["complex128", "U5"], size=1e5),
    grid("argwhere", ndim=[2, 3]),
    grid("argwhere", width=3, density=0.5),
    grid("flatnonzero nonzero_coordinates", ndim=2),
    grid("count_nonzero", dtype=["bool", "float64"], size=1e7),
    grid(
        "first_nonzero", dtype=["bool", "int32", "float64"], size=[1e5, 1e7], first=[0.01, 0.5, 1]
    ),
    grid("first_nonzero", width=1000, layout=["transposed", "strided"], first=[0.01, 1]),
    grid("first_nonzero", dtype="complex128", size=1e5),
    grid("compress", dtype=["uint8", "float64"], size=[1e5, 1e7], density=[0.01, 0.5]),
    grid("count_along", dtype=["bool", "float64"], width=[4, 1000], axis=[0, 1]),
    grid("compress", width=100, axis=[0, 1]),
    grid("compress", width=4, layout="transposed", density=0.5),
    grid("compress", layout=["strided", "reversed"]),
    grid("compress", dtype=["complex128", "U8", "M8[s]"], size=1e5),
    grid("extract"),
    grid("boolean_mask", size=5e4, density=0.01),
    grid("boolean_mask", width=1000, density=0.5),
    grid("boolean_mask", dtype=["int32", "float64"], size=1e7, density=[0.1, 0.9]),
    grid("boolean_mask", width=10),
    grid("unique_sorted unique_first", dtype=["int64", "float64"], groups=[1000, "n/10"]),
    grid("unique_sorted unique_first", dtype="int64", distribution=["zipf", "runs", "reversed"]),
    grid("unique_sorted unique_first unique_all", dtype="int64", distribution=["narrow", "sorted"]),
    grid("unique_sorted", dtype=["int32", "int64"], groups=["n/10", "n"], distribution="gaps"),
    grid("unique_sorted unique_first", dtype=["int16", "float32"], groups=[2, "n/10"]),
    grid("unique_sorted unique_first", dtype="object", size=1e5, groups=[1000, "n"]),
    grid("unique_sorted unique_first", dtype=["uint8", "U8"], size=1e5, groups=25),
    grid("unique_all", dtype=["int64", "float64"], groups=[1000, "n"]),
    grid(
        "unique_sorted unique_first unique_counts unique_all",
        dtype="int64",
        size=[1e5, 1e6],
        groups=5e4,
        distribution=["tail", "sentinel"],
    ),
    grid("unique_counts", dtype=["int32", "float64"], groups=[100, 5e4], distribution="tail"),
    grid(
        "unique_sorted unique_first unique_counts unique_all",
        dtype="float64",
        size=[1e5, 1e6],
        groups=5e4,
        distribution=["narrow", "cents"],
    ),
    grid("isin index_in", dtype="float64", size=[1e5, 1e6], distribution="cents"),
    grid("unique_rows unique_rows_first", dtype="int64", size=1e5, width=[2, 8]),
    grid("unique_rows unique_rows_first", dtype="int64", size=1e6, width=8),
    grid("group_indices", dtype="int64", size=[1e5, 1e7], groups=[10, 1000, "n/10", "n"]),
    grid("group_indices_first", dtype="int64", size=1e6, groups=[1000, "n/10"]),
    grid("group_indices", dtype=["uint8", "float64", "U8"], groups=[10, 1000]),
    grid("group_indices", dtype="int64", distribution=["narrow", "sorted", "zipf"]),
    grid("isin", dtype=["int64", "float64"], size=[1e4, 1e6], tests=[10, 1000, 1e6]),
    grid("isin", dtype=["int32", "int64"], distribution="narrow", tests=[1000, 1e5]),
    grid("isin", dtype=["int32", "int64"], size=1e6, distribution="gaps", tests=[1000, 1e6]),
    grid("isin", dtype=["uint8", "U8"], size=1e5, tests=100),
    grid("isin", dtype="int64", size=1e7, tests=[1000, 1e7]),
    grid("index_in", dtype=["int64", "float64"], size=[1e4, 1e6], tests=[10, 1000, 1e6]),
    grid("index_in", dtype="int64", distribution=["narrow", "sorted"], tests=[1000, 1e5]),
    grid("index_in", dtype="U8", size=1e5, tests=100),
    grid("index_in", dtype="int64", size=1e7, tests=[1000, 1e7]),
    grid("remap", dtype=["int64", "float64"], size=[1e4, 1e6], tests=[10, 1000, 1e6]),
    grid("remap", dtype=["int32", "int64"], size=[1e4, 1e6, 1e7], distribution="labels"),
    grid("remap", dtype="int64", distribution=["narrow", "sorted"], tests=[1000, 1e5]),
    grid("remap", dtype="U8", size=1e5, tests=100),
    grid("intersect1d union1d setdiff1d setxor1d", dtype="int64", size=1e6, tests=[1000, 1e6]),
    grid("intersect1d union1d setdiff1d setxor1d", dtype="float64", size=1e5, tests=1e5),
    grid("isin_rows", dtype=["int64", "float64"], width=[2, 8], tests=[1000, 1e5]),
    *EVERYDAY,
    grid("gather_nd", dtype="float32", size=[1e5, 1e7], width=[1, 100]),
    grid("gather_nd", dtype="float32", size=1e4),
    grid("gather_nd", dtype="float32", batch_dims=[1, 2]),
    grid("gather_nd", dtype="float32", index="int32"),
    grid(" ".join(SPARSE), ndim=2, size=1e7, density=[0.01, 0.1]),
    grid(" ".join(DASK), dtype="int64", size=[1e6, 1e7]),
    grid(" ".join(DASK_NONZERO), ndim=2),
)

# The cells that regress.py and bench_ratios.py of asv time from commit to commit.
KEY = (
    grid("nonzero", size=100),
    grid("nonzero", dtype=["bool", "float64"], size=[1e4, 1e6], density=[0.01, 0.5]),
    grid("nonzero", ndim=2, layout=["C", "transposed"]),
    grid("flatnonzero argwhere count_nonzero nonzero_coordinates", ndim=2),
    grid("compress", dtype=["uint8", "float64"], size=[1e4, 1e6], density=[0.01, 0.5]),
    grid("nonzero", width=3, density=0.5),
    grid("count_along", width=[4, 1000], axis=[0, 1]),
    grid("first_nonzero", size=[1e4, 1e6], first=[0.01, 1]),
    grid("compress", width=100, axis=[0, 1]),
    grid("compress", width=4, layout="transposed"),
    grid("boolean_mask", size=5e4, density=0.01),
    grid("extract boolean_mask"),
    grid("boolean_mask", width=10),
    grid("unique_sorted", dtype="int64", size=100, groups=25),
    grid("unique_sorted unique_first unique_all", dtype="int64", groups=[1000, "n/10", "n"]),
    grid("unique_sorted unique_first", dtype=["uint8", "U8", "object"], size=1e5, groups=25),
    grid("unique_rows", dtype="int64", size=1e5, width=8),
    grid("group_indices group_indices_first", dtype="int64", groups=[1000, "n/10"]),
    grid("isin", dtype="int64", size=[100, 1e6], tests=[10, 1e5, 1e6]),
    grid("unique_sorted", dtype="int64", groups="n", distribution="gaps"),
    grid("unique_first unique_all", dtype="int64", groups="n", distribution="narrow"),
    grid("unique_all", dtype="int16", size=1e4, groups=300, distribution="narrow"),
    grid("group_indices", dtype="uint8", size=100, groups=25),
    grid("unique_all", dtype="float64", size=1e5, groups="n"),
    grid("unique_counts", dtype="int64", groups=5e4, distribution=["tail", "sentinel"]),
    grid("isin index_in", dtype="int64", distribution="narrow"),
    grid("index_in remap", dtype="int64", tests=[10, 1e5]),
    grid("remap", dtype="int32", distribution="labels"),
    grid("isin", dtype="int64", size=1e6, distribution="gaps", tests=1e6),
    grid("intersect1d setxor1d", dtype="int64", tests=1e6),
    grid("gather_nd", dtype="float32", size=[1e4, 1e6], width=[1, 100]),
    grid("gather_nd", dtype="float32", batch_dims=1),
)

ANY_MASK = {
    "dtype": ["bool", "uint8", "int32", "int64", "float32", "float64"],
    "size": [1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8],
    "density": [0, 0.001, 0.01, 0.1, 0.5, 0.9, 1],
    "distribution": ["random", "runs"],
}
FULL = (
    grid(
        " ".join((*NONZERO, "nonzero_int32")),
        ndim=[1, 2, 3],
        layout=["C", "transposed", "strided", "reversed"],
        **ANY_MASK,
    ),
    grid(" ".join(NONZERO), width=[2, 3, 10, 60], **ANY_MASK),
    grid("count_along", width=[2, 10, 100, 1000], axis=[0, 1], **ANY_MASK),
    grid(
        "first_nonzero",
        dtype=["bool", "uint8", "int32", "int64", "float32", "float64"],
        size=[1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8],
        width=[1, 1000],
        layout=["C", "transposed", "strided", "reversed"],
        first=[0, 0.01, 0.1, 0.5, 0.99, 1],
    ),
    grid(
        "count_along compress extract boolean_mask",
        dtype=["float64", "complex128", "U8", "M8[s]"],
        size=[1e4, 1e5, 1e6],
        width=[1, 4, 1000],
        layout=["C", "transposed", "strided", "reversed"],
        density=[0.01, 0.5],
    ),
    grid(" ".join(SPARSE), ndim=2, layout=["C", "transposed", "strided"], **ANY_MASK),
    grid("compress extract boolean_mask", width=[1, 10, 100, 1000], axis=[0, 1], **ANY_MASK),
    grid(
        "unique_sorted unique_first unique_all",
        dtype=["uint8", "int16", "int32", "int64", "float32", "float64", "U8", "S8", "object"],
        size=[1e3, 1e5, 1e7],
        groups=[2, 25, 1000, 1e5, "n/10", "n"],
        distribution=["random", "zipf", "sorted", "reversed", "runs", "narrow", "gaps"],
    ),
    grid(
        "unique_rows unique_rows_first",
        dtype=["uint8", "int32", "int64", "float64"],
        size=[1e3, 1e5, 1e7],
        width=[2, 8, 100],
        groups=[10, 1000, "n/10", "n"],
    ),
    grid(
        " ".join(SETS),
        dtype=["uint8", "int32", "int64", "float64", "U8"],
        size=[1e4, 1e5, 1e6, 1e7],
        tests=[10, 1000, 1e5, 1e6, 1e7],
        distribution=["random", "sorted", "narrow", "gaps"],
    ),
    grid(
        "isin_rows",
        dtype=["uint8", "int32", "int64", "float64"],
        size=[1e4, 1e6, 1e7],
        width=[2, 8, 100],
        tests=[10, 1000, 1e5],
    ),
    grid(
        "gather_nd",
        dtype=["float32", "float64"],
        size=[1e3, 1e5, 1e6, 1e7],
        width=[1, 16, 100, 1000],
        batch_dims=[0, 1, 2],
        index=["int32", "int64"],
        distribution=["random", "sorted"],
    ),
    grid(
        " ".join(DASK),
        dtype=["int32", "int64", "float64", "U8"],
        size=[1e5, 1e6, 1e7, 1e8],
        groups=[25, 1000, 1e5, "n/10"],
    ),
)


# With more objects, NumPy takes minutes for a cell.
MAX_OBJECTS = 1_000_000


def choose(operators, replaced, grids):
    """The cells of these operators or families; ``replaced`` (part -> values) replaces values of
    the grids."""
    operators = [op for name in operators for op in FAMILIES.get(name, (name,))]
    cells = {
        cell: None
        for op in dict.fromkeys(operators)
        for members, values in grids
        if op in members
        for cell in combine(op, {**values, **replaced})
    }
    return list(cells)


def combine(op, values):
    """Every possible cell of the operator with these values of its parts."""
    choices = [values.get(part, [DEFAULTS[part]]) for part in PARTS[op]]
    for combination in itertools.product(*choices):
        cell = cell_of(op, dict(zip(PARTS[op], combination, strict=True)))
        if is_possible(cell):
            yield cell


def cell_of(op, parts):
    """A cell whose sizes are integers, also if the parts have a size of 1e7 and groups of n/10."""
    size = int(parts["size"])
    parts["size"] = size
    if "tests" in parts:
        parts["tests"] = int(parts["tests"])
    if "groups" in parts:
        shares = {"n": size, "n/10": size // 10}
        parts["groups"] = int(shares.get(parts["groups"]) or float(parts["groups"]))
    if "width" in parts and "groups" in parts:  # n is the number of rows
        parts["groups"] = min(parts["groups"], size // parts["width"])
    return Cell(op, **parts)


def is_possible(cell):
    """Whether the input exists, is neither too small nor too large, and differs from the input of
    each simpler cell."""
    if cell.dtype == "object" and cell.size > MAX_OBJECTS:
        return False
    if cell.op in (*UNIQUE, *GROUPED, *DASK_UNIQUE):
        return 0 < cell.groups <= min(cell.size, max_groups(cell)) and cell.width <= cell.size
    if cell.distribution == "nan" and np.dtype(cell.dtype).kind != "f":
        return False
    if cell.op in SETS:
        return cell.distribution in (
            *("random", "sorted", "narrow", "gaps", "cents", "labels", "nan"),
        )
    if cell.op in ("gather_nd", "dask_gather_nd"):
        large_enough = cell.size >= 64 * cell.width  # for some index rows in every batch
        return large_enough and cell.distribution in ("random", "sorted")
    flat = cell.ndim == 1 and cell.width == 1
    if (flat and (cell.layout == "transposed" or cell.axis)) or (cell.ndim > 1 and cell.width > 1):
        return False
    return cell.width <= cell.size and cell.distribution not in (
        *("zipf", "narrow", "gaps", "cents", "tail", "sentinel"),
    )


def max_groups(cell):
    """An upper limit of the number of groups that the items of the cell can have."""
    dtype = np.dtype(cell.dtype)
    if dtype.kind == "b":
        return 0  # unique has no cells of bool: their number of groups cannot be chosen
    step = inputs.STEPS.get(cell.distribution, 1)
    return 256 ** (dtype.itemsize * cell.width) // step if dtype.kind in "iu" else cell.size
