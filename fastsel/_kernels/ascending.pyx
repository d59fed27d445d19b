"""Keys in ascending order, and the distinct ones of them, by a radix sort.

The range of the keys is cut into cells, and neighbouring cells are joined into buckets whose sort
fits the cache. Keys are scattered into their buckets, each bucket is sorted from its lowest digit
up, and equal keys then lie side by side. No hash is involved, and no comparison.

The pass that counts the cells notes each key's cell: the pass that scatters must agree with it
even if another thread changes the keys meanwhile. The same numbers lead back: a key's entry in
its bucket is the next one of that bucket, in the order of the keys, so that index and inverse are
read from as many streams as there are buckets, and the positions of the keys are never stored.
What moves through a sort beside a key is its entry, which becomes the number of its group.
"""
cimport numpy as cnp
from libc.stdint cimport uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastsel._kernels.keys cimport canonical, describe_keys, keys_t
from fastsel._kernels.radix cimport number_t, sort_bucket
from fastsel._kernels.results cimport new_result
from fastsel._kernels.scratch cimport Scratch, give, take
from fastsel._kernels.slices cimport for_slices, scan, slice_count, slice_start

cnp.import_array()

cdef enum:
    CELL_BITS = 14            # at most
    KEYS_PER_CELL = 16        # at least, so that few keys do not have many cells to look through
    # With 12 bytes for each of 8192 keys, and as much again to sort them, a bucket fits the
    # second-level cache; beyond 2^22 keys buckets grow, because more streams than these cost more.
    BUCKET_KEYS = 8192
    BUCKETS = 512
    FIRST_BIT = 31            # set in an entry: the first key of its group

# How a word becomes a number of the same order: sign is flipped, in words that had it negative is
# flipped too, less is subtracted.
ctypedef struct order_t:
    uint64_t sign
    uint64_t negative
    uint64_t less

ctypedef struct ascending_task:
    keys_t keys
    order_t order
    bint merged               # equal keys are one group
    bint placed               # index or inverse are wanted
    Py_ssize_t slices         # of the keys
    uint64_t *limits          # [slice][2]: smallest and largest number
    uint64_t low              # of all
    int shift                 # (number - low) >> shift is the cell
    Py_ssize_t cells
    uint32_t *counts          # [slice][cell]
    uint16_t *bucket_of       # per cell
    uint16_t *homes           # per key: its cell, then its bucket
    Py_ssize_t buckets
    Py_ssize_t *starts        # [bucket][slice]: where that slice's keys of that bucket start
    char *numbers             # in buckets
    uint32_t *entries         # in buckets; then the numbers of groups
    Py_ssize_t cuts           # of the buckets
    Py_ssize_t *failed        # one per cut: it found no memory
    Py_ssize_t *groups        # per bucket: how many, then how many come before
    char *values
    Py_ssize_t *index         # or NULL
    Py_ssize_t *inverse       # or NULL
    Py_ssize_t *sizes         # counts of the groups, or NULL


def ascending(cnp.ndarray data not None, Py_ssize_t size, tuple rule not None,
              tuple order not None, bint merged, bint index, bint inverse, bint counts,
              int threads):
    """(values, index, inverse, counts) of 0 < size < 2^31 keys of 4 or 8 bytes, by group.

    A group is all equal keys, or without `merged` each key: then the values are the sorted keys,
    the index sorts them, stably, and the inverse says where each one went. values are canonical
    words; the others are None if not asked for. order is (sign, negative, less).
    """
    cdef ascending_task task
    cdef Py_ssize_t length
    cdef Scratch scratch = Scratch()
    describe_keys(&task.keys, data, size, rule, None, (0, 1))
    task.order.sign, task.order.negative, task.order.less = order
    task.merged = merged
    task.placed = index or inverse
    task.slices = slice_count(size, threads, 1)     # each has its own counts of all cells
    task.limits = <uint64_t *>scratch.take(2 * task.slices * sizeof(uint64_t))
    with nogil:
        for_slices(limits_slice, &task, task.slices, threads)
    choose_cells(&task)
    task.counts = <uint32_t *>scratch.take(task.slices * task.cells * sizeof(uint32_t))
    task.bucket_of = <uint16_t *>scratch.take(task.cells * sizeof(uint16_t))
    task.homes = <uint16_t *>scratch.take(size * sizeof(uint16_t))
    with nogil:
        for_slices(count_slice, &task, task.slices, threads)
        join_cells(&task)
    task.starts = <Py_ssize_t *>scratch.take(
        (task.buckets * task.slices + 1) * sizeof(Py_ssize_t))
    task.groups = <Py_ssize_t *>scratch.take((task.buckets + 1) * sizeof(Py_ssize_t))
    task.cuts = slice_count(task.buckets, threads, size // task.buckets)
    task.failed = <Py_ssize_t *>scratch.take(task.cuts * sizeof(Py_ssize_t))
    task.numbers = <char *>scratch.take(size * task.keys.width)
    task.entries = <uint32_t *>scratch.take(size * sizeof(uint32_t) if task.placed else 0)
    with nogil:
        scan_starts(&task)
        for_slices(scatter_slice, &task, task.slices, threads)
        for_slices(sort_slice, &task, task.cuts, threads)
        scan(task.groups, task.buckets)
    fail_if_any(&task)
    length = task.groups[task.buckets]
    outputs = []
    task.values = <char *>output(
        outputs, length, cnp.NPY_UINT32 if task.keys.width == 4 else cnp.NPY_UINT64)
    task.index = <Py_ssize_t *>output(outputs, length, cnp.NPY_INTP, index)
    task.inverse = <Py_ssize_t *>output(outputs, size, cnp.NPY_INTP, inverse)
    task.sizes = <Py_ssize_t *>output(outputs, length, cnp.NPY_INTP, counts)
    with nogil:
        for_slices(groups_slice, &task, task.cuts, threads)
        if task.placed:
            for_slices(places_slice, &task, task.slices, threads)
    fail_if_any(&task)
    return tuple(outputs)


cdef void *output(list outputs, cnp.npy_intp length, int typenum, bint wanted=True):
    """A new array at the end of outputs, or None, and its data."""
    cdef cnp.ndarray result
    if not wanted:
        outputs.append(None)
        return NULL
    result = new_result(1, &length, typenum)
    outputs.append(result)
    return cnp.PyArray_DATA(result)


cdef int fail_if_any(const ascending_task *task) except -1:
    for k in range(task.cuts):
        if task.failed[k]:
            raise MemoryError()
    return 0


cdef inline number_t number(const ascending_task *task, number_t word) noexcept nogil:
    """The place of a word in the order of its dtype."""
    cdef number_t sign = <number_t>task.order.sign
    word = <number_t>canonical(&task.keys.rule, word)
    word = word ^ sign ^ (<number_t>task.order.negative if word & sign else 0)
    return word - <number_t>task.order.less


cdef inline number_t word_of(const ascending_task *task, number_t key) noexcept nogil:
    """The word of a number."""
    cdef number_t sign = <number_t>task.order.sign
    key = key + <number_t>task.order.less
    return key ^ sign ^ (0 if key & sign else <number_t>task.order.negative)


# ---- cells ------------------------------------------------------------------------------


cdef void limits_slice(void *context, Py_ssize_t k) noexcept nogil:
    cdef ascending_task *task = <ascending_task *>context
    if task.keys.width == 4:
        find_limits(task, k, <const uint32_t *>task.keys.data)
    else:
        find_limits(task, k, <const uint64_t *>task.keys.data)


cdef void find_limits(const ascending_task *task, Py_ssize_t k,
                      const number_t *data) noexcept nogil:
    """The smallest and the largest number of slice k."""
    cdef Py_ssize_t start = slice_start(task.keys.size, task.slices, k), i
    cdef number_t low = number(task, data[start]), high = low, here
    for i in range(start, slice_start(task.keys.size, task.slices, k + 1)):
        here = number(task, data[i])
        low = here if here < low else low
        high = here if here > high else high
    task.limits[2 * k], task.limits[2 * k + 1] = low, high


cdef void choose_cells(ascending_task *task) noexcept:
    """As many cells as pay, two at least, of a power of two numbers each (2^63 at most)."""
    cdef uint64_t high = task.limits[1]
    cdef Py_ssize_t k, most = task.keys.size // KEYS_PER_CELL + 2
    task.low = task.limits[0]
    for k in range(1, task.slices):
        task.low = min(task.low, task.limits[2 * k])
        high = max(high, task.limits[2 * k + 1])
    most = min(most, <Py_ssize_t>1 << CELL_BITS)
    task.shift = 0
    while (high - task.low) >> task.shift >= <uint64_t>most:
        task.shift += 1
    task.cells = <Py_ssize_t>((high - task.low) >> task.shift) + 1


cdef void count_slice(void *context, Py_ssize_t k) noexcept nogil:
    cdef ascending_task *task = <ascending_task *>context
    if task.keys.width == 4:
        count_cells(task, k, <const uint32_t *>task.keys.data)
    else:
        count_cells(task, k, <const uint64_t *>task.keys.data)


cdef void count_cells(const ascending_task *task, Py_ssize_t k,
                      const number_t *data) noexcept nogil:
    """The cell of each key of slice k, and how many each cell gets."""
    cdef uint32_t *count = task.counts + k * task.cells
    cdef Py_ssize_t i
    cdef uint64_t cell
    memset(count, 0, task.cells * sizeof(uint32_t))
    for i in range(slice_start(task.keys.size, task.slices, k),
                   slice_start(task.keys.size, task.slices, k + 1)):
        cell = <uint64_t>(number(task, data[i]) - <number_t>task.low) >> task.shift
        cell = min(cell, <uint64_t>task.cells - 1)     # keys may have changed since the limits
        task.homes[i] = <uint16_t>cell
        count[cell] += 1


cdef void join_cells(ascending_task *task) noexcept nogil:
    """Neighbouring cells become a bucket as long as it is small enough."""
    cdef Py_ssize_t most = max(<Py_ssize_t>BUCKET_KEYS, task.keys.size // BUCKETS)
    cdef Py_ssize_t cell, k, keys, in_bucket = 0
    task.buckets = 1
    for cell in range(task.cells):
        keys = 0
        for k in range(task.slices):
            keys += task.counts[k * task.cells + cell]
        if in_bucket and keys and in_bucket + keys > most:     # so that no bucket is empty
            task.buckets += 1
            in_bucket = 0
        in_bucket += keys
        task.bucket_of[cell] = <uint16_t>(task.buckets - 1)


cdef void scan_starts(ascending_task *task) noexcept nogil:
    """Where each slice's keys of each bucket start: bucket by bucket, slice by slice."""
    cdef Py_ssize_t cell, k
    memset(task.starts, 0, (task.buckets * task.slices + 1) * sizeof(Py_ssize_t))
    for k in range(task.slices):
        for cell in range(task.cells):
            task.starts[task.bucket_of[cell] * task.slices + k] += (
                task.counts[k * task.cells + cell])
    scan(task.starts, task.buckets * task.slices)


# ---- buckets ----------------------------------------------------------------------------


cdef void scatter_slice(void *context, Py_ssize_t k) noexcept nogil:
    cdef ascending_task *task = <ascending_task *>context
    if task.keys.width == 4:
        scatter(task, k, <const uint32_t *>task.keys.data, <uint32_t *>task.numbers)
    else:
        scatter(task, k, <const uint64_t *>task.keys.data, <uint64_t *>task.numbers)


cdef inline void start_entries(const ascending_task *task, Py_ssize_t k,
                               Py_ssize_t *next_entry) noexcept nogil:
    """Where the entries of slice k start in each bucket."""
    cdef Py_ssize_t bucket
    for bucket in range(task.buckets):
        next_entry[bucket] = task.starts[bucket * task.slices + k]


cdef void scatter(const ascending_task *task, Py_ssize_t k, const number_t *data,
                  number_t *out) noexcept nogil:
    """The numbers of slice k, each to its bucket."""
    cdef Py_ssize_t[2 * BUCKETS + 2] next_entry
    cdef Py_ssize_t i, bucket
    start_entries(task, k, next_entry)
    for i in range(slice_start(task.keys.size, task.slices, k),
                   slice_start(task.keys.size, task.slices, k + 1)):
        bucket = task.bucket_of[task.homes[i]]
        task.homes[i] = <uint16_t>bucket
        out[next_entry[bucket]] = number(task, data[i])
        next_entry[bucket] += 1


cdef void sort_slice(void *context, Py_ssize_t k) noexcept nogil:
    """Sort the buckets of cut k, and count their groups."""
    cdef ascending_task *task = <ascending_task *>context
    cdef Py_ssize_t bucket, start, length
    cdef Py_ssize_t stop = slice_start(task.buckets, task.cuts, k + 1)
    cdef Py_ssize_t most = largest_bucket(task, k)
    cdef char *scratch = <char *>take(most * (task.keys.width + sizeof(uint32_t)))
    cdef uint32_t *entries = NULL
    task.failed[k] = scratch == NULL
    if scratch == NULL:
        return
    for bucket in range(slice_start(task.buckets, task.cuts, k), stop):
        start = task.starts[bucket * task.slices]
        length = task.starts[(bucket + 1) * task.slices] - start
        if task.placed:
            entries = task.entries + start
        if task.keys.width == 4:
            sort_bucket(<uint32_t *>task.numbers + start, entries, length, <uint32_t *>scratch,
                        <uint32_t *>(scratch + most * sizeof(uint32_t)))
            task.groups[bucket] = count_groups(task, <uint32_t *>task.numbers + start, length)
        else:
            sort_bucket(<uint64_t *>task.numbers + start, entries, length, <uint64_t *>scratch,
                        <uint32_t *>(scratch + most * sizeof(uint64_t)))
            task.groups[bucket] = count_groups(task, <uint64_t *>task.numbers + start, length)
    give(scratch)


cdef Py_ssize_t largest_bucket(const ascending_task *task, Py_ssize_t k) noexcept nogil:
    """Keys in the largest bucket of cut k."""
    cdef Py_ssize_t bucket, most = 0
    for bucket in range(slice_start(task.buckets, task.cuts, k),
                        slice_start(task.buckets, task.cuts, k + 1)):
        most = max(most, task.starts[(bucket + 1) * task.slices]
                   - task.starts[bucket * task.slices])
    return most


# ---- groups -----------------------------------------------------------------------------


cdef inline bint is_new(const ascending_task *task, const number_t *numbers, Py_ssize_t j,
                        number_t lonely) noexcept nogil:
    """Does number j > 0 of a sorted bucket start a group?"""
    if numbers[j] != numbers[j - 1] or not task.merged:
        return True
    return task.keys.rule.lonely and numbers[j] == lonely


cdef inline Py_ssize_t count_groups(const ascending_task *task, const number_t *numbers,
                                    Py_ssize_t length) noexcept nogil:
    cdef number_t lonely = number(task, <number_t>task.keys.rule.nan)
    cdef Py_ssize_t j, groups = length > 0
    for j in range(1, length):
        groups += is_new(task, numbers, j, lonely)
    return groups


cdef void groups_slice(void *context, Py_ssize_t k) noexcept nogil:
    """Values and counts of the groups of cut k; the entries of its buckets become numbers of
    groups, in the order in which the keys arrived."""
    cdef ascending_task *task = <ascending_task *>context
    cdef Py_ssize_t bucket, start, length
    cdef uint32_t *scratch = <uint32_t *>take(largest_bucket(task, k) * sizeof(uint32_t))
    task.failed[k] = scratch == NULL
    if scratch == NULL:
        return
    for bucket in range(slice_start(task.buckets, task.cuts, k),
                        slice_start(task.buckets, task.cuts, k + 1)):
        start = task.starts[bucket * task.slices]
        length = task.starts[(bucket + 1) * task.slices] - start
        if task.keys.width == 4:
            write_groups(task, bucket, <uint32_t *>task.numbers + start, start, length, scratch,
                         <uint32_t *>task.values)
        else:
            write_groups(task, bucket, <uint64_t *>task.numbers + start, start, length, scratch,
                         <uint64_t *>task.values)
    give(scratch)


cdef void write_groups(const ascending_task *task, Py_ssize_t bucket, const number_t *numbers,
                       Py_ssize_t start, Py_ssize_t length, uint32_t *scratch,
                       number_t *values) noexcept nogil:
    cdef number_t lonely = number(task, <number_t>task.keys.rule.nan)
    cdef Py_ssize_t group = task.groups[bucket] - 1, j, group_start = 0
    cdef uint32_t first
    for j in range(length):
        first = 0
        if j == 0 or is_new(task, numbers, j, lonely):
            if task.sizes != NULL and j:
                task.sizes[group] = j - group_start
            group_start = j
            group += 1
            values[group] = word_of(task, numbers[j])
            first = <uint32_t>1 << FIRST_BIT
        if task.placed:
            scratch[task.entries[start + j]] = <uint32_t>group | first
    if task.sizes != NULL and length:
        task.sizes[group] = length - group_start
    if task.placed:
        memcpy(task.entries + start, scratch, length * sizeof(uint32_t))


cdef void places_slice(void *context, Py_ssize_t k) noexcept nogil:
    """Index and inverse of the keys of slice k, each from the next entry of its bucket."""
    cdef ascending_task *task = <ascending_task *>context
    cdef Py_ssize_t[2 * BUCKETS + 2] next_entry
    cdef Py_ssize_t i
    cdef uint32_t entry, group
    start_entries(task, k, next_entry)
    for i in range(slice_start(task.keys.size, task.slices, k),
                   slice_start(task.keys.size, task.slices, k + 1)):
        entry = task.entries[next_entry[task.homes[i]]]
        next_entry[task.homes[i]] += 1
        group = entry & ~(<uint32_t>1 << FIRST_BIT)
        if task.index != NULL and entry != group:
            task.index[group] = i
        if task.inverse != NULL:
            task.inverse[i] = group
