"""The algorithms that find groups of equal keys.

Each algorithm is a function ``(search: Search) -> Groups | None``. It returns None if it cannot
serve these keys, or if an estimate was wrong. Then `find_groups` calls another algorithm: after
`by_presorted`, the plan chooses it; after `by_dense`, a new plan; after the others,
`_plan.GIVES_WAY_TO` names it. `by_comparison` serves all keys.
"""

import functools

import numpy as np

from fastsel._core import _dtypes, _numpy, _threads, results
from fastsel._positions import bitmask, indices, selected_items
from fastsel._unique import _ascending, _estimate, _keys, _plan, partitions, tables
from fastsel._unique._groups import Groups
from fastsel._unique.dense import dense
from fastsel._unique.keys import canonical_keys
from fastsel._unique.presence import ascending_values
from fastsel._unique.presorted import group_runs, presorted
from fastsel._unique.sample import sampled_range
from fastsel._unique.sorting import sorted_groups, sorted_positions

FLAG_BITS = np.array([0xFF], np.uint64)  # the significant bits of a flag of one byte


class Search:
    """The arguments of an algorithm: at least one key, the items (`rows`) from which the keys were
    made, and the outputs that are wanted.

    `ascending` is True if ascending values are wanted and the keys have ordered keys. Then an
    algorithm may return ascending values; otherwise the caller sorts the values (Groups.direction).
    """

    def __init__(self, keys, rows, wanted, ascending):
        self.keys, self.rows, self.wanted = keys, rows, wanted
        self.ascending = bool(ascending and keys.order_map)
        self.nbytes = keys.size * keys.width
        # True if only the ascending values are wanted, and the words alone determine them.
        self.only_values = (
            self.ascending and not any(wanted) and rows.dtype.kind in "iumM" and rows.dtype.isnative
        )
        # (base, bits) of sampled_range: the first ordered key of a direct-address table, or None if
        # no such table is possible; and log2 of the number of entries.
        self.value_range = None, 64

    def find_range(self):
        """Set value_range from a sample of the keys, if they are words."""
        if self.keys.is_word:
            self.value_range = sampled_range(self.keys)

    @functools.cached_property
    def expected(self):
        """An estimate of the number of groups."""
        return _estimate.groups_of(self.keys, _keys.SEEDS)

    def plan(self):
        """The Plan for these keys, which `by_presorted` does not serve."""
        base, bits = self.value_range
        entries = 0
        if base is not None:
            entries = _plan.max_entries(
                *(self.keys.size, self.nbytes, _threads.for_bytes(self.nbytes)),
                first_positions=not self.only_values,
                group_ids=self.wanted.inverse or self.wanted.counts,
                counts=self.wanted.counts,
            )
        return _plan.plan(
            self.keys.size,
            self.keys.width,
            ascending=self.ascending and self.keys.width in (4, 8),
            extras=any(self.wanted),
            range_bits=bits,
            entries=entries,
            threads=_threads.for_bytes(self.nbytes, _plan.COST),
            groups=lambda: self.expected,
        )


def find_groups(keys, rows, wanted, ascending):
    """The Groups of at least one key.

    The first algorithm is the one that `_plan.FORCED` names. Without this name, `by_presorted`
    serves strings, and numbers of 4 or 8 bytes, that are in order already; the plan names the first
    algorithm for all other keys.
    """
    search = Search(keys, rows, wanted, ascending)
    forced = _plan.FORCED.get()
    if forced is None and (keys.character_width or (keys.order_map and keys.width in (4, 8))):
        groups = by_presorted(search)
        if groups is not None:
            _plan.note("presorted", "the keys are in order already")
            return groups
    search.find_range()
    chosen = _plan.Plan(forced, "forced") if forced else search.plan()
    while True:
        _plan.note(*chosen)
        groups = ALGORITHMS[chosen.algorithm](search)
        if groups is not None:
            return groups
        if chosen.algorithm == "dense":
            search.value_range = None, 64
            chosen = search.plan()._replace(reason="a key was beyond the range of the sample")
        else:
            chosen = _plan.GIVES_WAY_TO[chosen.algorithm]


class _Runs(Groups):
    """Groups of presorted keys: runs of equal keys. A bitmask marks the first key of each run."""

    def __init__(self, values, index, direction, mask, size, wanted):
        super().__init__(values, index, direction=direction)
        self.mask, self.size, self.wanted = mask, size, wanted

    def inverse_and_counts(self, ranks=None):
        inverse = counts = None
        threads = _threads.for_bytes(self.mask.bits.nbytes * 64)
        if self.wanted.inverse:
            inverse = group_runs(self.mask.bits, self.mask.offsets, self.size, ranks, threads)
        if self.wanted.counts:
            run_starts = indices.flat(self.mask, threads)
            counts = np.diff(run_starts, append=self.size)
        return inverse, counts

    def indices_and_offsets(self, ranks=None):
        if ranks is not None:
            return super().indices_and_offsets(ranks)
        run_starts = indices.flat(self.mask, _threads.for_bytes(self.mask.bits.nbytes * 64))
        return np.arange(self.size), np.append(run_starts, self.size)


def by_presorted(search):
    """For keys that ascend or descend already: equal keys lie side by side."""
    keys = search.keys
    threads = _threads.for_bytes(keys.data.nbytes)
    runs = presorted(keys, threads)
    if runs is None:
        return None
    bits, direction = runs
    mask = bitmask.from_bits(bits, keys.width, threads)
    values, index = _values_and_index(search, mask)
    return _Runs(values, index, direction, mask, keys.size, search.wanted)


def _values_and_index(search, mask):
    """Values and index of the groups in order of first occurrence; the set bits of the mask are the
    first occurrences. The index may be None if it is not wanted."""
    rows = search.rows
    threads = _threads.for_bytes(rows.nbytes)
    index = None
    if search.wanted.index or not _dtypes.movable(rows.dtype):
        index = indices.flat(mask, threads)
    if not _dtypes.movable(rows.dtype):
        return rows[index], index
    values = results.empty((mask.total, *rows.shape[1:]), rows.dtype)
    selected_items.compress(rows, 0, 1, mask, values, threads)
    return values, index


def by_dense(search):
    """For words of a narrow range: a direct-address table."""
    keys, rows, wanted = search.keys, search.rows, search.wanted
    base, bits = search.value_range
    # Only a forced algorithm returns here: the plan never chooses a table that is this large.
    if base is None or 1 << bits > _plan.CACHE_BYTES * (8 if search.only_values else 1):
        return None
    threads = _threads.for_bytes(keys.data.nbytes)
    if search.only_values:
        values = ascending_values(keys, search.value_range, threads)
        return None if values is None else Groups(values.view(rows.dtype), None, direction=1)
    outputs = search.ascending, wanted.inverse, wanted.counts
    result = dense(keys, search.value_range, *outputs, threads)
    if result is None:
        return None
    first_occurrences, *extras = result
    if search.ascending:
        return Groups(rows[first_occurrences], first_occurrences, *extras, direction=1)
    mask = bitmask.from_bits(first_occurrences, keys.width, threads)
    return Groups(*_values_and_index(search, mask), *extras)


def by_sorting(search):
    """For many groups in ascending order, of numbers of 4 or 8 bytes: all keys are sorted."""
    keys = search.keys
    if not search.ascending or keys.width not in (4, 8):
        return None
    threads = _threads.for_bytes(keys.data.nbytes, _plan.COST)
    if search.wanted.grouped:
        result = sorted_positions(keys, _keys.SEEDS, threads)
        return None if result is None else _Sorted(search.rows, *result)
    result = sorted_groups(keys, _keys.SEEDS, *search.wanted, True, threads)
    if result is None:
        return None
    words, index, *extras = result
    return Groups(_ascending.items_of(words, search.rows, index), index, *extras, direction=1)


class _Sorted(Groups):
    """Groups of keys that have been sorted with their positions."""

    def __init__(self, rows, words, indices, offsets):
        index = indices[offsets[:-1]]
        super().__init__(_ascending.items_of(words, rows, index), index, direction=1)
        self.indices, self.offsets = indices, offsets

    def indices_and_offsets(self, ranks=None):
        return self.indices, self.offsets


class _Hashed(Groups):
    """Groups that hash tables have found. With ranks, `Tables.finish` writes the rank of each key's
    group to the inverse, which then needs no pass of `relabel`."""

    def __init__(self, values, job):
        super().__init__(values, job.index)
        self.inverse_and_counts = job.finish


def by_tables(search):
    """For few groups: each thread fills a hash table, and the tables are merged."""
    keys, wanted, nbytes = search.keys, search.wanted, search.keys.data.nbytes
    threads = _plan.table_count(nbytes, search.expected, _threads.for_bytes(nbytes, _plan.COST))
    max_groups = 2 * max(search.expected, _plan.CACHE_BYTES // _plan.GROUP_BYTES // threads)
    outputs = wanted.inverse, wanted.counts
    job = tables.Tables(keys, _keys.SEEDS, max_groups, search.expected, *outputs, threads)
    if not job.find():
        return None
    return _Hashed(search.rows.take(job.index, axis=0, mode="clip"), job)


def by_partitions(search):
    """For many groups: keys are scattered by their hash, and each part has a table."""
    keys, wanted = search.keys, search.wanted
    if keys.size >= 1 << 32:  # positions have 32 bits, and so have the counts of 4-byte keys
        return None
    threads = _threads.for_bytes(keys.data.nbytes, _plan.COST)
    outputs = wanted.inverse, wanted.counts
    job = partitions.Partitions(keys, _keys.SEEDS, search.expected, *outputs, threads)
    if not job.find():
        return None
    mask = bitmask.pack(job.marks, 1, FLAG_BITS, keys.width, threads)
    extras = job.finish(mask.bits, mask.offsets)
    del job  # frees its memory before the values are allocated
    return Groups(*_values_and_index(search, mask), *extras)


def by_comparison(search):
    """For all keys: NumPy sorts their bytes by comparisons, and no choice of keys makes this slow.

    Eight more bytes follow each key: its position + 1 if the key has NaN or NaT, and these equal no
    other key; otherwise 0.
    """
    keys, width = search.keys, search.keys.width
    out = np.empty((keys.size, width + 8), np.uint8)
    kind = _dtypes.WORD if keys.is_word else _dtypes.RAW
    source = keys.data.reshape(keys.size, -1).view(f"u{width}" if keys.is_word else np.uint8)
    canonical_keys(source, keys.size, kind, width, keys.rule, False, out, None, 1)
    if keys.unequal is not None or keys.rule[3]:
        if keys.unequal is None:
            is_unequal = (
                np.ascontiguousarray(out[:, :width]).view(source.dtype).ravel() == keys.rule[2]
            )
        else:
            bits = keys.unequal.view(np.uint8)
            is_unequal = np.unpackbits(bits, bitorder="little", count=keys.size)
        out[:, width:] = (is_unequal * np.arange(1, keys.size + 1)).reshape(-1, 1).view(np.uint8)
    extra_outputs = iter(
        _numpy.unique(out.view(f"V{width + 8}").ravel(), True, *search.wanted[1:])[1:]
    )
    wanted = True, *search.wanted[1:]
    index, inverse, counts = (next(extra_outputs) if flag else None for flag in wanted)
    order, ranks = _ascending.argsort(index, True)
    index = index[order]
    inverse, _ = Groups(None, None, inverse).inverse_and_counts(ranks)
    return Groups(search.rows[index], index, inverse, None if counts is None else counts[order])


ALGORITHMS = {
    "dense": by_dense,
    "sorting": by_sorting,
    "tables": by_tables,
    "partitions": by_partitions,
    "comparison": by_comparison,
}
