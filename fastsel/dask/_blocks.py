"""Blocks of a dask array: their locations in it, rechunking for C order, and tasks on blocks."""

import functools
import math
from dataclasses import dataclass
from typing import TypeAlias

import dask.array as da
import numpy as np
from dask._task_spec import Task, convert_legacy_graph
from dask.array.core import normalize_chunks
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph
from numpy.typing import ArrayLike

import fastsel
from fastsel._core import _gate

# The type of array arguments.
DaskArrayLike: TypeAlias = da.Array | ArrayLike

# Blocks that are rechunked for C order may have MIN_BAND_BYTES even if the original blocks were
# smaller: a task costs the scheduler up to a millisecond (docs.dask.org, "Best Practices"), and a
# core reads more bytes in this time.
MIN_BAND_BYTES = 1 << 20


@dataclass(frozen=True)
class Location:
    """Where a block lies: its first index along each axis, and the shape of the whole array."""

    start: tuple
    shape: tuple

    def flat(self, index, block_shape):
        """Positions in the flattened block as positions in the flattened array."""
        first = int(np.ravel_multi_index(self.start, self.shape)) if index.size else 0
        if is_contiguous(block_shape, self.shape):
            return index + first
        local = np.unravel_index(index, block_shape)
        steps = np.cumprod((1, *self.shape[:0:-1]))[::-1]
        return first + sum(k * step for k, step in zip(local, steps.tolist(), strict=True))


def is_contiguous(block_shape, shape):
    """Are the items of a block of this shape contiguous in the flattened array?"""
    first_long_axis = next((axis for axis, size in enumerate(block_shape) if size != 1), len(shape))
    return block_shape[first_long_axis + 1 :] == shape[first_long_axis + 1 :]


def serves(x):
    """Are the blocks of a dask array NumPy arrays? If not, `_gate.library` returns numpy."""
    return type(x._meta) is np.ndarray


def checked_array(name, a):
    """`a` as a dask array; TypeError if its blocks are not NumPy arrays."""
    x = _as_dask(a)
    if not serves(x):
        raise TypeError(
            f"{name} must be a dask array with blocks of type numpy.ndarray, got blocks of type "
            f"{type(x._meta).__name__}"
        )
    return x


def _as_dask(a):
    """``dask.array.asarray(a)``, also for object dtypes and arrays without items. dask does not
    choose chunks for objects, because it does not know their size; here the size of the references
    decides. For arrays without items that have a long axis, dask would divide by zero."""
    try:
        return da.asarray(a)
    except (NotImplementedError, ZeroDivisionError):
        array = np.asanyarray(a)
    if array.size == 0:
        name = False if array.dtype.hasobject else None
        return da.from_array(array, chunks=-1, name=name)
    chunks = normalize_chunks("auto", array.shape, dtype=np.dtype((np.void, array.itemsize)))
    # By default, dask would derive the name from the strings joined by "-", so that different
    # arrays could have the same name.
    return da.from_array(array, chunks, name=False)


def one_block(name, a):
    """`a` as a dask array of one block."""
    if isinstance(a, da.Array):
        return rechunked(checked_array(name, a), -1)
    array = _gate.as_array(name, a)
    return da.from_array(array, chunks=-1, name=False if array.dtype.hasobject else None)


def rechunked(x, chunks):
    """``x.rechunk(chunks)``; dask would return an array without items as it is."""
    return empty(x, x.shape, chunks) if x.size == 0 else x.rechunk(chunks)


def empty(x, shape, chunks):
    """An array without items of x's dtype. dask's own name for it would be the same for different
    structured dtypes."""
    name = f"fastsel-empty-{tokenize(x.name, shape, chunks)}"
    return da.empty(shape, dtype=x.dtype, chunks=chunks, name=name)


def stand_in(x):
    """A NumPy array of one item with the number of dimensions and the dtype of `x`. Called with
    this array, NumPy's function raises its errors before anything is computed."""
    return np.zeros((1,) * x.ndim, x.dtype)


def unknown(sizes):
    """Is one of the chunk sizes of an axis unknown until computed?"""
    return any(math.isnan(size) for size in sizes)


def check_known(name, x, axes=None):
    """Raise ValueError if chunk sizes along these axes, by default along any axis, are unknown."""
    for axis in range(x.ndim) if axes is None else axes:
        if unknown(x.chunks[axis]):
            raise ValueError(
                f"{name} must have known chunk sizes along axis {axis}: "
                f"{name}.compute_chunk_sizes() finds them"
            )


def bands(name, x, axes=None, whole_rows=False):
    """`x` in bands: blocks that follow one another in C order along the first `axes` axes. `x` is
    rechunked if its blocks do not.

    A band may be longer than a block of `x` along the last of these axes, and shorter along the
    first. Along these axes a band has at most as many items as the largest block of `x`, or as many
    items as fit into MIN_BAND_BYTES, whichever number is larger. With `whole_rows`, only the first
    axis is divided, and bands may be larger.
    """
    axes = x.ndim if axes is None else axes
    chunks = x.chunks[:axes]
    divided_axis = next(
        (k for k, sizes in enumerate(chunks) if any(size != 1 for size in sizes)), 0
    )
    if whole_rows:
        divided_axis = 0
    if all(len(sizes) == 1 for sizes in chunks[divided_axis + 1 :]):
        return x
    if any(map(unknown, chunks)):
        raise ValueError(
            f"{name} has several blocks along later axes and unknown chunk sizes: "
            f"{name}.compute_chunk_sizes() finds them"
        )
    max_items = max(math.prod(map(max, chunks)), MIN_BAND_BYTES // max(x.dtype.itemsize, 1), 1)
    widths = [max(math.prod(x.shape[k + 1 : axes]), 1) for k in range(axes)]
    if not whole_rows:
        divided_axis = next(k for k, width in enumerate(widths) if width <= max_items)
    max_length = max(max_items // widths[divided_axis], 1)
    pieces = tuple(
        piece for size in chunks[divided_axis] for piece in even_pieces(size, max_length)
    )
    whole = {k: (x.shape[k],) for k in range(divided_axis + 1, axes)}
    ones = {k: (1,) * x.shape[k] or (0,) for k in range(divided_axis)}
    changed = {**ones, divided_axis: pieces, **whole}
    return rechunked(x, tuple(changed.get(k, sizes) for k, sizes in enumerate(x.chunks)))


def even_pieces(size, max_size):
    """Integers of at most max_size whose sum is `size`, and which differ by at most 1."""
    count = max(-(-size // max_size), 1)
    return [size * (k + 1) // count - size * k // count for k in range(count)]


def one_axis(name, x, axes=None):
    """`x` with its first `axes` axes flattened to one, in C order."""
    axes = x.ndim if axes is None else axes
    if axes == 1:
        return x
    x = bands(name, x, axes)
    flat_name = f"fastsel-flat-{tokenize(x.name, axes)}"
    flatten = functools.partial(_flatten, axes)
    leading = [*np.ndindex(x.numblocks[:axes])]
    tasks = {
        (flat_name, k, *rest): (flatten, (x.name, *lead, *rest))
        for k, lead in enumerate(leading)
        for rest in np.ndindex(x.numblocks[axes:])
    }
    sizes = tuple(
        math.prod(sizes[k] for sizes, k in zip(x.chunks, lead, strict=False)) for lead in leading
    )
    return array_of(flat_name, tasks, (sizes, *x.chunks[axes:]), x.dtype, x)


def _flatten(axes, block):
    return block.reshape(math.prod(block.shape[:axes]), *block.shape[axes:])


def blocks(x):
    """The dask keys of the blocks of `x`, in C order: a dict by block numbers along the axes."""
    return {block: (x.name, *block) for block in np.ndindex(x.numblocks)}


def locations(x, name):
    """Returns (locations, tasks). `locations` has the Location of each block or, if sizes are
    unknown, the key of the task that computes it. `tasks` has these tasks."""
    if not any(map(unknown, x.chunks)):
        starts = [np.cumsum((0, *sizes)).tolist() for sizes in x.chunks]
        known_locations = {
            block: Location(tuple(s[k] for s, k in zip(starts, block, strict=True)), x.shape)
            for block in np.ndindex(x.numblocks)
        }
        return known_locations, {}
    graph, sizes_of_axes = {}, []
    for axis, sizes in enumerate(x.chunks):
        keys = [(f"size-{name}", axis, k) for k in range(len(sizes))]
        for k, key in enumerate(keys):
            block = (0,) * axis + (k,) + (0,) * (x.ndim - axis - 1)
            graph[key] = (functools.partial(_length, axis), (x.name, *block))
        sizes_of_axes.append(keys)
    location_keys = {block: (f"location-{name}", *block) for block in np.ndindex(x.numblocks)}
    graph |= {
        key: (functools.partial(_location, b), sizes_of_axes) for b, key in location_keys.items()
    }
    return location_keys, graph


def _length(axis, block):
    return block.shape[axis]


def _location(block, sizes_of_axes):
    pairs = zip(sizes_of_axes, block, strict=True)
    return Location(
        tuple(sum(sizes[:k]) for sizes, k in pairs), tuple(sum(sizes) for sizes in sizes_of_axes)
    )


def task(function, *arguments, **literals):
    """A task that calls the function on one thread; dask replaces arguments that are keys by their
    results."""
    return (functools.partial(call_on_one_thread, function, **literals), *arguments)


def call_on_one_thread(function, *arguments, **literals):
    """Call the function on one thread: dask's scheduler runs tasks in parallel already."""
    with fastsel.threads(1):
        return function(*arguments, **literals)


def shared_dtype(arrays):
    """The common dtype of several blocks. If all have the same dtype, this dtype is returned
    unchanged: NumPy would make it native, and remove the padding between its fields. Otherwise
    NumPy promotes the dtypes: blocks of one dask array may have strings of different lengths."""
    dtypes = {array.dtype for array in arrays}
    return dtypes.pop() if len(dtypes) == 1 else np.result_type(*dtypes)


class Unfused(Task):
    """A task that dask does not fuse with others.

    dask fuses a chain of tasks into one, if no other computed result needs the inner tasks. So the
    task of a key would depend on the other computed results, and the scheduler of a cluster warns
    if a key has another task than before.
    """

    __slots__ = ()
    block_fusion = True


def unfused(tasks, known_keys):
    """The tasks as Unfused, except for literals and aliases, which remain as dask converts them.
    dask replaces arguments that are among known_keys by their results."""
    nodes = convert_legacy_graph(tasks, known_keys)
    return {
        key: Unfused(key, node.func, *node.args, **node.kwargs) if type(node) is Task else node
        for key, node in nodes.items()
    }


def layer(name, tasks, *sources):
    """A graph with the graphs of `sources` and a layer of these tasks. The arguments of the tasks
    may be keys of the blocks of `sources`."""
    known_keys = {*tasks, *(key for source in sources for key in blocks(source).values())}
    return HighLevelGraph.from_collections(name, unfused(tasks, known_keys), dependencies=sources)


def array_of(name, tasks, chunks, dtype, *sources):
    """A dask array of these tasks, a dict by key. Their arguments may be keys of the blocks of
    `sources`."""
    return _array(layer(name, tasks, *sources), name, chunks, dtype)


def output(graph, base, part, tasks, chunks, dtype):
    """A dask array of these tasks, one for each of its blocks in C order. Their arguments may be
    keys of the layer `base` of the graph. The array is named for the layer and its `part`."""
    name = f"{part}-{base}"
    keys = [(name, *block) for block in np.ndindex(*map(len, chunks))]
    tasks = unfused(dict(zip(keys, tasks, strict=True)), graph.layers[base])
    graph = HighLevelGraph({**graph.layers, name: tasks}, {**graph.dependencies, name: {base}})
    return _array(graph, name, chunks, dtype)


def _array(graph, name, chunks, dtype):
    # Zeros: dask makes names of later steps from the meta, which has an item if the array is 0-d.
    return da.Array(graph, name, chunks, meta=np.zeros((0,) * len(chunks), dtype))
