"""Quantiles of a sample cut the keys into parts of about equal size, however they are spread.

A key's part is found without a search: its distance from the least quantile, shifted, is a cell of
a table, and a cell says the part. A cell with several quantiles in it leads to a table of its own,
for as many levels as it takes. A single quantile moves to the start of its cell.

The widest gap between two quantiles is left out of the table. Floats of both signs have one around
zero, where most of the exponents are, and few keys; and so have integers with a far outlier.
"""
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from fastsel._core.scratch cimport new_block, new_u16, new_u64
from fastsel._simd.blocks cimport fs_cells_t, fs_level_t
from fastsel._simd.levels cimport fs_level
from fastsel._unique.keys cimport BATCH
from fastsel._unique.ordered_numbers cimport bit_length
from fastsel._unique.scatter cimport MAX_PARTS

cdef const fs_level_t *level = fs_level()

cdef enum:
    CELLS_PER_LIMIT = 16
    MAX_LEVELS = 12         # each tells at least 5 of 64 bits apart


cdef class Quantiles:
    def __init__(self, const uint64_t[::1] sample not None, Py_ssize_t parts):
        """sample is in ascending order, and has at least as many keys as there are parts."""
        cdef Py_ssize_t n = parts - 1, k
        cdef fs_cells_t cells
        self.parts = parts
        if n == 0:
            return
        self.limits = new_u64(n)
        for k in range(n):
            self.limits[k] = sample[sample.shape[0] * (k + 1) // parts]
        # A key that is a quantile more than once has a part of its own.
        for k in range(n - 1, 0, -1):
            if self.limits[k] == self.limits[k - 1] and self.limits[k] != <uint64_t>-1:
                self.limits[k] += 1
        self.close_gap(&cells)
        self.node_block = new_block(MAX_LEVELS * n, sizeof(node_t), b"B")
        self.nodes = <node_t *>self.node_block.data
        self.part_of = new_u16(MAX_LEVELS * n * (2 * CELLS_PER_LIMIT + 2))
        self.build(0, n, cells)

    cdef int close_gap(self, fs_cells_t *cells) except -1:
        """The widest gap becomes as wide as the others are on average; `cells` say where it is."""
        cdef uint64_t[::1] limits = self.limits
        cdef Py_ssize_t n = limits.shape[0], widest = 0, k
        cdef uint64_t wide, usual
        cells[0] = fs_cells_t(0, 1, <uint64_t>-1, <uint64_t>-1, 0, 0)
        if n < 3:
            return 0
        for k in range(1, n - 1):
            if limits[k + 1] - limits[k] > limits[widest + 1] - limits[widest]:
                widest = k
        wide = limits[widest + 1] - limits[widest]
        usual = (limits[n - 1] - limits[0] - wide) // (n - 2) + 1
        if wide > usual:
            cells.gap_low, cells.gap_high = limits[widest] + usual, limits[widest + 1]
            cells.gap = wide - usual
            for k in range(widest + 1, n):
                limits[k] -= cells.gap
        return 0

    cdef Py_ssize_t build(self, Py_ssize_t first, Py_ssize_t stop, fs_cells_t cells) except -1:
        """The node of limits first to stop - 1, given where the gap is; returns its number."""
        cdef Py_ssize_t number = self.n_nodes, start = self.n_cells, k = first, m, cell
        cdef uint64_t span = self.limits[stop - 1] - self.limits[first], low
        cells.low = self.limits[first]
        cells.shift = max(0, bit_length(span) - bit_length(CELLS_PER_LIMIT * (stop - first)))
        cells.last = (span >> cells.shift) + 1
        self.nodes[number].cells, self.nodes[number].first = cells, start
        self.n_nodes += 1
        self.n_cells += cells.last + 1
        self.part_of[start] = <uint16_t>first
        for cell in range(1, <Py_ssize_t>cells.last + 1):
            low = cells.low + (<uint64_t>(cell - 1) << cells.shift)
            while k < stop and self.limits[k] <= low:
                k += 1
            m = k
            while m < stop and (self.limits[m] - low) >> cells.shift == 0:
                m += 1
            self.part_of[start + cell] = <uint16_t>(
                m if m - k <= 1 else MAX_PARTS + self.build(k, m, cells))
            k = m
        return number

    cdef void choose_parts(self, const uint64_t *keys, Py_ssize_t n, uint8_t *parts) noexcept nogil:
        """The parts of n <= BATCH keys: how many limits are not above them, more or less; of keys
        in ascending order, in ascending order."""
        cdef const uint16_t[::1] part_of = self.part_of
        cdef uint32_t[BATCH] cells
        cdef uint16_t found, most = 0
        cdef const fs_cells_t *root
        cdef uint64_t key
        cdef Py_ssize_t j
        if self.parts == 1:
            memset(parts, 0, n)
            return
        root = &self.nodes[0].cells
        level.cells_of(keys, n, root, cells)
        for j in range(n):
            found = part_of[cells[j]]
            parts[j] = <uint8_t>found
            most |= found
        if most < MAX_PARTS:
            return
        for j in range(n):
            found = part_of[cells[j]]
            if found >= MAX_PARTS:
                key = keys[j] - root.gap if keys[j] >= root.gap_high else min(keys[j], root.gap_low)
                while found >= MAX_PARTS:
                    found = part_of[cell_in(&self.nodes[found - MAX_PARTS], key)]
                parts[j] = <uint8_t>found


cdef inline Py_ssize_t cell_in(const node_t *node, uint64_t key) noexcept nogil:
    """The position in part_of of the cell of a key, behind the closed gap."""
    cdef uint64_t cell = min((key - node.cells.low) >> node.cells.shift, node.cells.last - 1) + 1
    return node.first + <Py_ssize_t>(cell if key >= node.cells.low else 0)
