"""Quantiles of a sample divide the keys into parts of about equal size, for any distribution. Equal
keys are in one part, so a part with a frequent key is larger.

The quantiles are the limits between parts. A table gives the part of most keys without a search:
the distance of the key from the smallest limit, shifted, is the number of a cell of the table, and
the cell has the part. If a cell contains one limit, the limit moves to the start of the cell. Keys
in a cell that contains several limits are looked up in a search tree of all limits.

The table leaves out most of the widest gap between two limits. Floats of both signs have a wide gap
around zero, with most of the exponents but few keys; integers in two distant clusters have a wide
gap, too.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from fastsel._core.scratch cimport new_u16, new_u64, new_u8
from fastsel._simd.blocks cimport fs_cells_t, log2_width
from fastsel._simd.levels cimport level
from fastsel._unique.keys cimport BATCH, Keys
from fastsel._unique.ordered_keys cimport bit_length
from fastsel._unique.sample cimport draw
from fastsel._unique.scatter cimport MAX_PARTS, Scatter

cnp.import_array()

cdef enum:
    SAMPLED_PER_PART = 16   # keys: the standard deviation of the size of a part is 25 %
    CELLS_PER_LIMIT = 16    # about
    SEVERAL_LIMITS = MAX_PARTS  # of a cell, instead of a part
    AT_ONCE = 8             # keys that are looked up in the tree at once; divides BATCH


cdef class Quantiles:
    cdef readonly Py_ssize_t parts
    cdef uint64_t[::1] limits     # between the parts, ascending, with the gap closed
    cdef fs_cells_t cells
    cdef uint16_t[::1] part_of    # by cell: the part of its keys, or SEVERAL_LIMITS
    cdef uint64_t[MAX_PARTS] tree  # of the limits; node 1 is the root
    cdef int depth

    def __init__(self, const uint64_t[::1] sample not None, Py_ssize_t parts):
        """sample ascends, and has at least `parts` ordered keys. parts is from 2 to MAX_PARTS:
        otherwise there is no limit, or the numbers of parts do not fit a byte."""
        cdef Py_ssize_t n = parts - 1, k
        self.parts, self.limits = parts, new_u64(n)
        for k in range(n):
            self.limits[k] = sample[sample.shape[0] * (k + 1) // parts]
        # If several quantiles are the same key, all but the first become this key plus 1, so that
        # the part of the key has few other keys.
        for k in range(n - 1, 0, -1):
            if self.limits[k] == self.limits[k - 1] and self.limits[k] != <uint64_t>-1:
                self.limits[k] += 1
        self.close_gap()
        self.make_table()
        self.make_tree()

    cdef int close_gap(self) except -1:
        """Shorten the widest gap between limits to about the average of the other gaps, and write
        to `cells` what is left out. Fewer than 3 limits have no other gaps. Keys in the gap stay
        below the limit behind the gap: this limit may be NaN, or another frequent key."""
        cdef uint64_t[::1] limits = self.limits
        cdef Py_ssize_t n = limits.shape[0], widest = 0, k
        cdef uint64_t wide, usual
        self.cells = fs_cells_t(0, 1, <uint64_t>-1, <uint64_t>-1, 0, 0)
        if n < 3:
            return 0
        for k in range(1, n - 1):
            if limits[k + 1] - limits[k] > limits[widest + 1] - limits[widest]:
                widest = k
        wide = limits[widest + 1] - limits[widest]
        usual = (limits[n - 1] - limits[0] - wide) // (n - 2) + 1
        if wide > usual:
            self.cells.gap_low, self.cells.gap_high = limits[widest] + usual, limits[widest + 1]
            self.cells.gap = wide - usual - 1
            for k in range(widest + 1, n):
                limits[k] -= self.cells.gap
        return 0

    cdef int make_table(self) except -1:
        cdef const uint64_t[::1] limits = self.limits
        cdef Py_ssize_t n = limits.shape[0], k = 0, m, cell
        cdef uint64_t reach = limits[n - 1] - limits[0], low, width
        self.cells.low = limits[0]
        self.cells.shift = max(0, bit_length(reach) - bit_length(CELLS_PER_LIMIT * n))
        self.cells.last = (reach >> self.cells.shift) + 1
        width = <uint64_t>1 << self.cells.shift
        self.part_of = new_u16(self.cells.last + 1)
        self.part_of[0] = 0
        for cell in range(1, <Py_ssize_t>self.cells.last + 1):
            low = limits[0] + (<uint64_t>(cell - 1) << self.cells.shift)
            while k < n and limits[k] <= low:
                k += 1
            m = k
            # A limit at the start of the next cell counts, too: the limit before it may be a
            # frequent key, and would move away from it.
            while m < n and limits[m] - low < width + (m > k):
                m += 1
            self.part_of[cell] = <uint16_t>(m if m - k <= 1 else SEVERAL_LIMITS)
            k = m
        return 0

    cdef int make_tree(self) noexcept:
        """Write the limits to the search tree: below node k are nodes 2 k and 2 k + 1."""
        cdef Py_ssize_t n = self.limits.shape[0], node, rank
        cdef int depth
        self.depth = bit_length(n)
        for node in range(1, 1 << self.depth):
            depth = bit_length(node)
            rank = ((2 * (node - (1 << (depth - 1))) + 1) << (self.depth - depth)) - 1
            self.tree[node] = self.limits[rank] if rank < n else <uint64_t>-1
        return 0

    cdef void choose_parts(self, const uint64_t *keys, Py_ssize_t n, uint8_t *parts) noexcept nogil:
        """Write the parts of n <= BATCH ordered keys. The part of a key is the number of limits, as
        moved to the starts of cells, that are at most the key. So a greater key never has a lower
        part."""
        cdef const uint16_t[::1] part_of = self.part_of
        cdef const fs_cells_t *cells = &self.cells
        cdef uint32_t[BATCH] cell_of
        cdef uint64_t[BATCH] searched
        cdef uint8_t[BATCH] positions, found
        cdef uint16_t part
        cdef uint64_t key
        cdef Py_ssize_t j, m = 0
        level.cells_of(keys, n, cells, cell_of)
        for j in range(n):
            part = part_of[cell_of[j]]
            parts[j] = <uint8_t>part
            positions[m] = <uint8_t>j
            m += part == SEVERAL_LIMITS
        if m == 0:
            return
        for j in range(m):
            key = keys[positions[j]]
            searched[j] = key - cells.gap if key >= cells.gap_high else min(key, cells.gap_low)
        for j in range(m, (m + AT_ONCE - 1) // AT_ONCE * AT_ONCE):
            searched[j] = 0
        j = 0
        while j < m:
            self.search(searched + j, found + j)
            j += AT_ONCE
        for j in range(m):
            parts[positions[j]] = found[j]

    cdef inline void search(self, const uint64_t *keys, uint8_t *parts) noexcept nogil:
        """Write the parts of AT_ONCE keys, from which the caller has subtracted the gap: the number
        of limits that are at most the key."""
        cdef uint32_t[AT_ONCE] nodes
        cdef int j
        for j in range(AT_ONCE):
            nodes[j] = 1
        for _ in range(self.depth):
            for j in range(AT_ONCE):
                nodes[j] = 2 * nodes[j] + (self.tree[nodes[j]] <= keys[j])
        for j in range(AT_ONCE):
            parts[j] = <uint8_t>min(<Py_ssize_t>nodes[j] - (1 << self.depth), self.parts - 1)


# ---- the scatter ------------------------------------------------------------------------


cdef Scatter new_scatter_by_value(Keys keys, Py_ssize_t parts, bint positions, int threads):
    return ScatterByValue(keys, parts, positions, threads)


cdef class ScatterByValue(Scatter):
    """Words are ordered keys; a part has the words between two limits. There are at least two
    parts."""
    cdef Quantiles quantiles

    def __init__(self, Keys keys not None, Py_ssize_t parts, bint positions, int threads):
        self.keys, self.owner = keys.fields, keys
        self.quantiles = self.sampled_quantiles(parts)
        self.describe(parts, None, positions, threads)

    cdef Quantiles sampled_quantiles(self, Py_ssize_t parts):
        """The quantiles of a sample. The random factor of the hash chooses the sample, so that
        nobody can foresee it."""
        cdef Py_ssize_t n = parts * SAMPLED_PER_PART, width = self.keys.width, changes
        cdef uint8_t[::1] items
        cdef uint64_t[::1] sample
        items, sample = new_u8(n * width), new_u64(n)
        draw(self.keys.data, self.keys.size, width, n, <Py_ssize_t>(self.keys.factor >> 33),
             <char *>&items[0], &changes)
        level.ordered_keys[log2_width(width)](
            <char *>&items[0], n, &self.keys.rule.significant, self.keys.order_map, &sample[0])
        view = cnp.PyArray_SimpleNewFromData(1, <cnp.npy_intp *>&n, cnp.NPY_UINT64, &sample[0])
        cnp.PyArray_Sort(view, 0, cnp.NPY_QUICKSORT)
        return Quantiles(sample, parts)

    cdef void load(self, Py_ssize_t start, Py_ssize_t n, uint64_t *words) noexcept nogil:
        cdef Py_ssize_t width = self.keys.width
        level.ordered_keys[log2_width(width)](
            self.keys.data + start * width, n, &self.keys.rule.significant, self.keys.order_map,
            words)

    cdef void choose_parts(self, Py_ssize_t start, Py_ssize_t n, uint8_t *parts) noexcept nogil:
        cdef uint64_t[BATCH] keys
        self.load(start, n, keys)
        self.quantiles.choose_parts(keys, n, parts)
