"""Quantiles of a sample divide the keys into parts of about equal size, for any distribution. Equal
keys are in one part, so a part with a frequent key is larger.

The quantiles are the limits between parts. A table gives the part of a key without a search: the
distance of the key from the smallest limit, shifted, is the number of a cell of the table, and the
cell has the part. If a cell contains one limit, the limit moves to the start of the cell. If a cell
contains several limits, it has a table of its own, and so on. Each table is a node.

The table leaves out most of the widest gap between two limits. Floats of both signs have a wide gap
around zero, with most of the exponents but few keys; integers in two distant clusters have a wide
gap, too.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from fastsel._core.scratch cimport new_memory, new_u16, new_u64, new_u8
from fastsel._simd.blocks cimport fs_cells_t, log2_width
from fastsel._simd.levels cimport level
from fastsel._unique.keys cimport BATCH, Keys
from fastsel._unique.ordered_keys cimport bit_length
from fastsel._unique.sample cimport draw
from fastsel._unique.scatter cimport MAX_PARTS, Scatter

cnp.import_array()

cdef enum:
    SAMPLED_PER_PART = 16   # keys: the standard deviation of the size of a part is 25 %
    CELLS_PER_LIMIT = 16    # about; a node with a narrow range has fewer
    MAX_LEVELS = 12         # each level uses at least 5 of 64 bits


cdef class Quantiles:
    def __init__(self, const uint64_t[::1] sample not None, Py_ssize_t parts):
        """sample ascends, and has at least `parts` ordered keys. parts is from 1 to MAX_PARTS:
        otherwise the numbers of parts do not fit a byte."""
        cdef Py_ssize_t n = parts - 1, k
        cdef fs_cells_t cells
        self.parts = parts
        self.limits = self.part_of = None
        if n == 0:
            return
        self.limits = new_u64(n)
        for k in range(n):
            self.limits[k] = sample[sample.shape[0] * (k + 1) // parts]
        # If several quantiles are the same key, all but the first become this key plus 1, so that
        # the part of the key has few other keys.
        for k in range(n - 1, 0, -1):
            if self.limits[k] == self.limits[k - 1] and self.limits[k] != <uint64_t>-1:
                self.limits[k] += 1
        self.close_gap(&cells)
        self.node_memory = new_memory(MAX_LEVELS * n, sizeof(node_t), b"B")
        self.nodes = <node_t *>self.node_memory.data
        self.part_of = new_u16(MAX_LEVELS * n * (2 * CELLS_PER_LIMIT + 2))
        self.build(0, n, cells)

    cdef int close_gap(self, fs_cells_t *cells) except -1:
        """Shorten the widest gap between limits to about the average of the other gaps, and write
        to `cells` what is left out. Fewer than 3 limits have no other gaps."""
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
        """Build the node of the limits first to stop - 1, and the nodes of its cells; `cells` has
        the gap. Returns the index of the node of these limits."""
        cdef Py_ssize_t node = self.n_nodes, start = self.n_cells, k = first, m, cell
        cdef uint64_t value_range = self.limits[stop - 1] - self.limits[first], low
        cells.low = self.limits[first]
        cells.shift = max(0, bit_length(value_range) - bit_length(CELLS_PER_LIMIT * (stop - first)))
        cells.last = (value_range >> cells.shift) + 1
        self.nodes[node].cells, self.nodes[node].first = cells, start
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
        return node

    cdef void choose_parts(self, const uint64_t *keys, Py_ssize_t n, uint8_t *parts) noexcept nogil:
        """Write the parts of n <= BATCH ordered keys. The part of a key is the number of limits, as
        moved to the starts of cells, that are at most the key. So a greater key never has a lower
        part."""
        cdef const uint16_t[::1] part_of = self.part_of
        cdef uint32_t[BATCH] cells
        cdef uint16_t part_or_node, all_bits = 0
        cdef const fs_cells_t *root
        cdef uint64_t key
        cdef Py_ssize_t j
        if self.parts == 1:
            memset(parts, 0, n)
            return
        root = &self.nodes[0].cells
        level.cells_of(keys, n, root, cells)
        for j in range(n):
            part_or_node = part_of[cells[j]]
            parts[j] = <uint8_t>part_or_node
            all_bits |= part_or_node
        if all_bits < MAX_PARTS:
            return
        for j in range(n):
            part_or_node = part_of[cells[j]]
            if part_or_node >= MAX_PARTS:
                key = keys[j] - root.gap if keys[j] >= root.gap_high else min(keys[j], root.gap_low)
                while part_or_node >= MAX_PARTS:
                    part_or_node = part_of[cell_in(&self.nodes[part_or_node - MAX_PARTS], key)]
                parts[j] = <uint8_t>part_or_node


cdef inline Py_ssize_t cell_in(const node_t *node, uint64_t key) noexcept nogil:
    """The index in part_of of the cell of a key, from which the caller has subtracted the gap."""
    cdef uint64_t cell = min((key - node.cells.low) >> node.cells.shift, node.cells.last - 1) + 1
    return node.first + <Py_ssize_t>(cell if key >= node.cells.low else 0)


# ---- the scatter ------------------------------------------------------------------------


cdef class ScatterByValue(Scatter):
    """Words are ordered keys; a part has the words between two limits."""
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
        if parts == 1:
            return Quantiles(new_u64(1), 1)
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
