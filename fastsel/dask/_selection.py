"""nonzero, flatnonzero, argwhere, count_nonzero, compress, extract, boolean_mask on dask arrays."""

import operator

import dask.array as da
import numpy as np
from dask.base import tokenize

import fastsel
from fastsel import _coordinates
from fastsel.dask._blocks import (
    bands,
    blocks,
    checked,
    layer,
    one_axis,
    one_thread,
    output,
    places,
    stand_in,
    task,
    unknown,
)


def nonzero(a):
    """Indices of the non-zero items of a dask array, one array per axis.

    Parameters
    ----------
    a : dask array, at least 1-d, any chunks
        Any dtype. Chunk sizes may be unknown if only the first axis has several chunks.

    Returns
    -------
    tuple of dask arrays of intp, each of shape (number of non-zero items,)
        Items in C order of their index in the whole array. Their number is unknown until
        computed, for each block.

    Raises
    ------
    ValueError
        If `a` is 0-d, or if its chunk sizes are unknown and matter, at once.
    TypeError
        If its blocks are not NumPy arrays, at once.

    Notes
    -----
    Equals ``fastsel.nonzero(a)``. Each block is read once, by one task, with no index grid. C
    order wants blocks that are as wide as the array: others are rechunked, to blocks of no more
    bytes than before, or of a megabyte.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> x = da.from_array([[3, 0, 0], [0, 4, 0], [5, 6, 0]], chunks=(2, 2))
    >>> [i.compute() for i in fastsel.dask.nonzero(x)]
    [array([0, 1, 2, 2]), array([0, 1, 0, 1])]
    """
    x = checked("a", a)
    if x.ndim == 0:
        np.nonzero(np.empty((), x.dtype))
    x, graph, name = _of_each_band(x, _nonzero_in_block)
    return tuple(
        output(
            graph,
            name,
            f"axis{axis}-{name}",
            {(f"axis{axis}-{name}", k): _picked(axis, name, k) for k in range(x.npartitions)},
            ((np.nan,) * x.npartitions,),
            np.intp,
        )
        for axis in range(x.ndim)
    )


def flatnonzero(a):
    """Indices of the non-zero items of the flattened dask array.

    Parameters
    ----------
    a : dask array, any shape, any chunks
        Any dtype. Chunk sizes may be unknown if only the first axis has several chunks.

    Returns
    -------
    dask array of intp, shape (number of non-zero items,)
        Ascending indices into the flattened array; their number is unknown until computed.

    Raises
    ------
    TypeError, ValueError
        As `nonzero`, but for 0-d arrays.

    Notes
    -----
    Equals ``fastsel.flatnonzero(a)``. As `nonzero`.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> fastsel.dask.flatnonzero(da.from_array([[0, 7], [8, 0]], chunks=1)).compute()
    array([1, 2])
    """
    x, graph, name = _of_each_band(checked("a", a), _flatnonzero_in_block)
    return _whole(x, graph, name, (), np.intp)


def argwhere(a):
    """Indices of the non-zero items of a dask array, one row per item.

    Parameters
    ----------
    a : dask array, any shape, any chunks
        Any dtype. Chunk sizes may be unknown if only the first axis has several chunks.

    Returns
    -------
    dask array of intp, shape (number of non-zero items, a.ndim)
        Rows in C order of their index; their number is unknown until computed.

    Raises
    ------
    TypeError, ValueError
        As `nonzero`, but for 0-d arrays.

    Notes
    -----
    Equals ``fastsel.argwhere(a)``. As `nonzero`.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> fastsel.dask.argwhere(da.from_array([[3, 0], [0, 4]], chunks=1)).compute()
    array([[0, 0],
           [1, 1]])
    """
    x, graph, name = _of_each_band(checked("a", a), _argwhere_in_block)
    return _whole(x, graph, name, (x.ndim,), np.intp)


def nonzero_coordinates(x, *, n=None, dtype=np.uint32):
    """Count and coordinates of the non-zero items of a dask array.

    Parameters
    ----------
    x : dask array, any chunks of known sizes
        Any dtype.
    n : int or "effective", optional
        Coordinates per item, as in `fastsel.nonzero_coordinates`.
    dtype : dtype, optional
        uint32, int32, int64 or uint64.

    Returns
    -------
    NonzeroCoordinates
        Named tuple of ``count``, a 0-d dask array of `dtype`, and ``coordinates``, a dask array of
        `dtype` and shape (count, n), in C order of the items. There is no buffer with a row for
        every item of x, which would be larger than x: the rows are those in use, and their number
        is unknown until computed.

    Raises
    ------
    ValueError, TypeError
        If n or `dtype` is not one of those above, at once; as `nonzero`.
    OverflowError
        If a dimension or the size of x does not fit `dtype`, at once.

    Notes
    -----
    As `nonzero`. The parameters of `fastsel.nonzero_coordinates` that are about its buffer are
    not there.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> x = da.from_array([[1.0, 0.0], [-0.0, 3.5]], chunks=1)
    >>> count, coordinates = fastsel.dask.nonzero_coordinates(x)
    >>> int(count)
    2
    >>> coordinates.compute()
    array([[0, 0],
           [1, 1]], dtype=uint32)
    """
    x = checked("x", x)
    if any(map(unknown, x.chunks)):
        raise ValueError(f"x must have known chunk sizes, got {x.chunks}: compute_chunk_sizes()")
    dtype = _coordinates._checked_dtype(dtype)
    n = _coordinates._checked_n(n, x)
    _coordinates._check_range(x, dtype)
    rows = argwhere(x)[:, x.ndim - n :].astype(dtype)
    return fastsel.NonzeroCoordinates(count_nonzero(x).astype(dtype), rows)


def count_nonzero(a, axis=None, *, keepdims=False):
    """Number of non-zero items of a dask array, in all or along axes.

    Parameters
    ----------
    a : dask array, any shape, any chunks
        Any dtype; chunk sizes may be unknown.
    axis : int or tuple of int, optional
        Axes to count along; None counts all items.
    keepdims : bool, optional
        Keep the counted axes, with length 1.

    Returns
    -------
    dask array of intp
        The shape of `a` without the axes that were counted along.

    Raises
    ------
    AxisError, TypeError
        If an axis is out of range or not an integer, if `axis` is given for a structured dtype, or
        if the blocks are not NumPy arrays, at once.

    Notes
    -----
    Equals ``fastsel.count_nonzero(...)``. One pass, no copy of the blocks; the counts are summed
    as a tree.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> x = da.from_array([[0, 1, 7], [3, 0, 0]], chunks=2)
    >>> fastsel.dask.count_nonzero(x, axis=1).compute()
    array([2, 1])
    """
    x = checked("a", a)
    np.count_nonzero(stand_in(x), axis, keepdims=keepdims)
    every = axis is None or x.ndim == 0
    return da.reduction(
        x,
        chunk=_count_in_block if not every else _count_block,
        aggregate=np.sum,
        axis=None if every else axis,
        keepdims=bool(keepdims),
        dtype=np.intp,
        meta=np.empty((0,) * x.ndim, np.intp),
        name="fastsel-count_nonzero",
    )


def compress(condition, a, axis=None):
    """The slices of a dask array along an axis that a condition selects.

    Parameters
    ----------
    condition : dask array or array_like, shape (k,)
        Non-zero selects. May be shorter than the axis (the rest is dropped), or longer if what is
        beyond is zero. Where the chunk sizes of `a` along the axis are unknown: a dask array
        with chunks of the same sizes.
    a : dask array or array_like, any chunks
        Any dtype.
    axis : int, optional
        None selects items of the flattened array.

    Returns
    -------
    dask array of a's dtype
        Shape and chunks of `a` but for the axis, whose length is unknown until computed if
        `condition` is a dask array.

    Raises
    ------
    ValueError
        If `condition` is not 1-d, or if chunk sizes are unknown and matter, at once.
    AxisError, TypeError
        If `axis` is out of range or not an integer, at once.
    IndexError
        If `condition` selects beyond the end of the axis: at once, or when computed if it is a
        dask array.

    Notes
    -----
    Equals ``fastsel.compress(condition, a, axis)``. Each block is selected from where it lies;
    with axis=None blocks are rechunked as for `nonzero`.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> x = da.from_array([[1, 2, 3], [4, 5, 6]], chunks=2)
    >>> fastsel.dask.compress([0, 1, 1], x, axis=1).compute()
    array([[2, 3],
           [5, 6]])
    """
    x = checked("a", a)
    if not isinstance(condition, da.Array):
        condition = condition if isinstance(condition, np.ndarray) else np.array(condition, bool)
    if condition.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    if axis is None:
        return _selected(condition, one_axis("a", x), 0)
    x = x.reshape(1) if x.ndim == 0 else x
    np.compress([], stand_in(x), axis)
    return _selected(condition, x, operator.index(axis) % x.ndim)


def extract(condition, arr):
    """The items of a dask array where a condition of any shape is non-zero.

    Parameters
    ----------
    condition : dask array or array_like, any shape
        Non-zero selects; condition and `arr` are both taken in C order.
    arr : dask array or array_like, any chunks
        Any dtype.

    Returns
    -------
    dask array of arr's dtype, shape (number of selected items,)
        The number is unknown until computed if `condition` is a dask array.

    Raises
    ------
    IndexError
        If `condition` selects beyond the last item of `arr`: at once, or when computed if it is a
        dask array.
    TypeError, ValueError
        As `compress`.

    Notes
    -----
    Equals ``fastsel.extract(condition, arr)``. As `compress`.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> x = da.from_array([[1, 2], [3, 4]], chunks=1)
    >>> fastsel.dask.extract(x % 2 == 1, x).compute()
    array([1, 3])
    """
    if isinstance(condition, da.Array):
        condition = one_axis("condition", condition)
    else:
        condition = np.ravel(condition)
    return _selected(condition, one_axis("arr", checked("arr", arr)), 0)


def boolean_mask(a, mask):
    """The items, or rows, of a dask array where a boolean mask is True; ``a[mask]``.

    Parameters
    ----------
    a : dask array or array_like, shape (n, m, ...), any chunks
        Any dtype.
    mask : dask array or array_like of bool, shape of the leading axes of `a`
        Where chunk sizes of `a` are unknown, in chunks of the same sizes.

    Returns
    -------
    dask array of a's dtype, shape (number of True items, remaining axes of `a` ...)
        The number is unknown until computed if `mask` is a dask array.

    Raises
    ------
    IndexError
        If `mask` is not boolean, or its shape differs from that of a's leading axes: at once, or
        when computed where chunk sizes are unknown.
    TypeError, ValueError
        As `compress`.

    Notes
    -----
    Equals ``fastsel.boolean_mask(a, mask)``. The axes that the mask covers, if they are several,
    are rechunked as for `nonzero`; the others keep their chunks.

    Examples
    --------
    >>> import dask.array as da, fastsel.dask
    >>> x = da.from_array([[1, 2], [3, 4], [5, 6]], chunks=2)
    >>> fastsel.dask.boolean_mask(x, x > 2).compute()
    array([3, 4, 5, 6])
    >>> fastsel.dask.boolean_mask(x, [True, False, True]).compute()
    array([[1, 2],
           [5, 6]])
    """
    x = checked("a", a)
    if not isinstance(mask, da.Array):
        mask = np.array(mask, bool) if isinstance(mask, list) and not mask else np.asarray(mask)
    if mask.dtype != bool:
        raise IndexError(f"mask must be a boolean array, got dtype {mask.dtype}")
    if mask.ndim == 0:
        x, mask = x[np.newaxis], mask.reshape(1)
    _check_mask_shape(x, mask)
    axes = mask.ndim
    if isinstance(mask, da.Array):
        if axes > 1 and mask.shape == x.shape[:axes]:
            mask = mask.rechunk(x.chunks[:axes])
        mask = one_axis("mask", mask)
    else:
        mask = mask.ravel()
    return _selected(mask, one_axis("a", x, axes), 0)


def _nonzero_in_block(block, place):
    found = fastsel.nonzero(block)
    return [k + start if start else k for k, start in zip(found, place.start, strict=True)]


def _flatnonzero_in_block(block, place):
    return place.flat(fastsel.flatnonzero(block), block.shape)


def _argwhere_in_block(block, place):
    found = fastsel.argwhere(block)
    found += np.array(place.start, np.intp)
    return found


def _of_each_band(x, function):
    """The bands of `x`, and a graph with a result of the function for each of them."""
    x = bands("a", x)
    name = f"fastsel{function.__name__}-{tokenize(x.name)}"
    where, tasks = places(x, name)
    for k, (block, key) in enumerate(blocks(x).items()):
        tasks[name, k] = task(function, key, where[block])
    return x, layer(name, tasks, x), name


def _picked(axis, name, k):
    return (operator.itemgetter(axis), (name, k))


def _whole(x, graph, name, row_shape, dtype):
    """The results of all bands as one dask array."""
    own = f"all-{name}"
    tasks = {(own, k) + (0,) * len(row_shape): (name, k) for k in range(x.npartitions)}
    chunks = ((np.nan,) * x.npartitions, *((size,) for size in row_shape))
    return output(graph, name, own, tasks, chunks, dtype)


def _count_in_block(block, axis, keepdims):
    return one_thread(fastsel.count_nonzero, block, axis, keepdims=keepdims)


def _count_block(block, axis, keepdims):
    return np.full((1,) * block.ndim, one_thread(fastsel.count_nonzero, block))


def _check_mask_shape(x, mask):
    """NumPy's rules: a mask axis of length 0 fits any length."""
    if mask.ndim > x.ndim:
        raise IndexError(
            f"too many indices for array: array is {x.ndim}-dimensional, but {mask.ndim} were "
            "indexed"
        )
    for axis, (size, covers) in enumerate(zip(x.shape, mask.shape, strict=False)):
        if covers not in (0, size) and not np.isnan(size) and not np.isnan(covers):
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis}; size of axis is "
                f"{size} but size of corresponding boolean axis is {covers}"
            )


def _selected(condition, x, axis):
    """What a 1-d condition selects along an axis."""
    sizes, size = x.chunks[axis], x.shape[axis]
    if isinstance(condition, da.Array):
        condition, lengths = _fitted(condition, sizes, size, axis), np.nan
    else:
        if unknown(sizes):
            raise ValueError(
                f"the chunk sizes of the array along axis {axis} are unknown, where the condition "
                "is not a dask array: compute_chunk_sizes() finds them"
            )
        condition = _as_mask(condition, size, axis)
        ends = np.cumsum((0, *sizes)).tolist()
        pairs = zip(ends, ends[1:], strict=False)
        lengths = tuple(int(fastsel.count_nonzero(condition[a:b])) for a, b in pairs)
        condition = da.from_array(condition, chunks=(sizes,))
    axes = tuple(range(x.ndim))
    return da.blockwise(
        _compress_block, axes, x, axes, condition, (axis,), axis=axis,
        adjust_chunks={axis: lengths if isinstance(lengths, tuple) else lambda _: np.nan},
        align_arrays=False, dtype=x.dtype, meta=stand_in(x), name=None,
        token="fastsel-compress",
    )  # fmt: skip


def _compress_block(block, mask, axis):
    if len(mask) != block.shape[axis]:
        raise IndexError(
            f"boolean index did not match indexed array along axis {axis}; size of axis is "
            f"{block.shape[axis]} but size of corresponding boolean axis is {len(mask)}, in one "
            "of the blocks"
        )
    return one_thread(fastsel.compress, mask, block, axis)


def _as_mask(condition, size, axis):
    """A condition in memory as a mask of the axis."""
    found = fastsel.flatnonzero(condition)
    if len(found) and found[-1] >= size:
        beyond = found[np.searchsorted(found, size)]
        raise IndexError(f"index {beyond} is out of bounds for axis {axis} with size {size}")
    mask = np.zeros(size, bool)
    mask[found] = True
    return mask


def _fitted(condition, sizes, size, axis):
    """A condition that is a dask array in the chunks of the axis."""
    condition = checked("condition", condition)
    own = condition.chunks[0]
    if unknown(sizes) or unknown(own):
        if len(sizes) != len(own):
            raise ValueError(
                f"condition must have the same chunks as axis {axis}, where sizes are unknown: "
                f"got {len(own)} and {len(sizes)} chunks; compute_chunk_sizes() finds the sizes"
            )
        return condition
    beyond = condition.shape[0] - size
    if beyond < 0:
        rest = da.zeros(-beyond, dtype=condition.dtype, chunks=max(sizes))
        condition = da.concatenate([condition, rest])
    elif beyond > 0:
        none_beyond = count_nonzero(condition[size:])
        condition = da.blockwise(
            _refuse_beyond, "i", condition[:size], "i", none_beyond, "", axis=axis, size=size,
            dtype=condition.dtype, meta=stand_in(condition),
        )  # fmt: skip
    return condition.rechunk((sizes,))


def _refuse_beyond(block, beyond, axis, size):
    if beyond:
        raise IndexError(f"condition selects beyond the end of axis {axis} with size {size}")
    return block
