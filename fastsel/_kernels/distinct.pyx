"""First occurrences by one table per slice: for keys with few groups, or of a narrow range.

Every engine of fastsel.unique answers in two steps: a bitmask with a
bit at each first occurrence, so that a group's number in order of first occurrence is the rank of
its bit; then, when the caller has perhaps put the groups in another order, inverse and counts.

A slice is filled in rounds, so that signals are handled in time. The slices' tables are merged in
slice order. Until then the inverse holds each item's group in its own slice's table, or LONER.

Words of a narrow range need no hash: each has a place of its own in the table. Which range that is,
a sample says; a word beyond it ends the attempt.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from fastsel._kernels.blocks cimport blocks_of, fs_level_t
from fastsel._kernels.keys cimport (
    any_t, canonical, describe_keys, is_loner, is_plain, load_words, prefetch_keys)
from fastsel._kernels.levels cimport fs_level
from fastsel._kernels.ranks cimport rank, rank_blocks, ranks_t
from fastsel._kernels.results cimport new_result
from fastsel._kernels.scratch cimport give, take, take_zeros
from fastsel._kernels.slices cimport for_rounds, round_start, slice_count
from fastsel._kernels.table cimport (
    NO_MEMORY, TOO_MANY, confirm, find_direct, find_or_add, group_t, look_up, table_free,
    table_start, table_start_direct, table_t)

cnp.import_array()

cdef const fs_level_t *level = fs_level()

cdef enum:
    LONER = -1
    BATCH = 128     # words looked at together; they fit L1 and any stack
    # One of so many words is compared with the next one, 16 of a batch. Where there are no runs it
    # cannot be seen in the time of 1e4 keys; where there are runs of 10 they take 15 us, not 31.
    PROBE_STEP = 8

cdef class Tables:
    """The state between the two halves of the job; between them the groups may be put in order."""
    cdef tables_task task
    cdef object owned             # arrays that the task points to
    cdef readonly object bits     # set at each first occurrence
    cdef object inverse
    cdef int threads

    def __init__(self, cnp.ndarray data not None, Py_ssize_t size, tuple rule not None,
                 const uint64_t[::1] loners, tuple seeds not None, places, Py_ssize_t most,
                 Py_ssize_t expected, bint inverse, bint counts, int threads):
        """Of `size` > 0 keys. places is (base, bits): words from base on, so many bits of them,
        have a place each in the table; None: they are hashed. A slice has at most `most` groups;
        expected is a guess at them, or 0.
        """
        cdef tables_task *task = &self.task
        cdef cnp.npy_intp length
        describe_keys(&task.keys, data, size, rule, loners, seeds)
        self.threads = threads
        self.owned = (data, loners)
        task.base, task.place_bits = places if places is not None else (0, 0)
        task.plain = is_plain(&task.keys.rule)
        task.most = most
        task.expected = min(expected, most)
        task.counted = counts
        task.blocks = blocks_of(size)
        task.slices = min(task.blocks, max(1, threads))
        task.rounds = slice_count(task.blocks // task.slices, 1, 8 * max(8, task.keys.width))
        task.parts = <part_t *>take_zeros(task.slices * sizeof(part_t))
        if task.parts == NULL:
            raise MemoryError()
        length = task.blocks
        self.bits = cnp.PyArray_EMPTY(1, &length, cnp.NPY_UINT64, 0)
        task.bits = <uint64_t *>cnp.PyArray_DATA(self.bits)
        task.inverse = NULL
        if inverse:
            length = size
            self.inverse = new_result(1, &length, cnp.NPY_INTP)
            task.inverse = <Py_ssize_t *>cnp.PyArray_DATA(self.inverse)

    def find(self):
        """Set the bits; False if a word has no place, or a slice has too many groups or its table
        takes too many probes."""
        cdef tables_task *task = &self.task
        cdef Py_ssize_t k, status = 0
        with nogil:
            for_rounds(fill_slice, task, task.rounds, task.slices, self.threads)
            for k in range(task.slices):
                status = min(status, task.parts[k].status)
            if status == 0:
                status = merge(task)
        if status == NO_MEMORY:
            raise MemoryError()
        return status == 0

    def finish(self, const Py_ssize_t[::1] order=None):
        """(inverse, counts), None for what was not asked for: the counts by rank; the inverse as
        ranks, or where `order` says that each rank goes."""
        cdef tables_task *task = &self.task
        cdef Py_ssize_t k
        cdef cnp.npy_intp length
        cdef cnp.ndarray counts = None
        before = rank_blocks(&task.ranks, self.bits)
        task.order = &order[0] if order is not None else NULL
        if task.counted:
            length = before[task.blocks]
            counts = new_result(1, &length, cnp.NPY_INTP)
            write_counts(&task.parts[0].table, &task.ranks,
                         <Py_ssize_t *>cnp.PyArray_DATA(counts), length)
        if task.inverse != NULL:
            with nogil:
                for k in range(task.slices):
                    to_numbers(task, &task.parts[k])
                for_rounds(relabel_slice, task, task.rounds, task.slices, self.threads)
        return self.inverse, counts

    def __dealloc__(self):
        if self.task.parts == NULL:
            return
        for k in range(self.task.slices):
            table_free(&self.task.parts[k].table)
            give(self.task.parts[k].numbers)
        give(self.task.parts)


cdef void fill_slice(void *context, Py_ssize_t k) noexcept nogil:
    """The table of a slice, its loners' bits, and its part of the inverse, as far as round k."""
    cdef tables_task *task = <tables_task *>context
    cdef part_t *part = &task.parts[k % task.slices]
    cdef Py_ssize_t block = start_block(task, k), stop_block = start_block(task, k + task.slices)
    cdef Py_ssize_t start = block * 64, stop = min(stop_block * 64, task.keys.size)
    memset(task.bits + block, 0, (stop_block - block) * sizeof(uint64_t))
    if k < task.slices:
        part.first = start
        if task.place_bits:
            part.status = table_start_direct(&part.table, task.place_bits)
        else:
            part.status = table_start(&part.table, &task.keys, task.most, 0, task.expected)
    if part.status == 0:
        fill(task, part, start, stop)


cdef inline Py_ssize_t start_block(const tables_task *task, Py_ssize_t k) noexcept nogil:
    return round_start(task.blocks, task.slices, task.rounds, k)


cdef void fill(tables_task *task, part_t *part, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    if task.place_bits == 0 and task.keys.is_word:
        fill_words(task, part, start, stop)
    elif task.place_bits == 0:
        fill_bytes(task, part, start, stop)
    elif task.keys.width == 1:
        fill_direct(task, part, start, stop, <const uint8_t *>task.keys.data)
    elif task.keys.width == 2:
        fill_direct(task, part, start, stop, <const uint16_t *>task.keys.data)
    elif task.keys.width == 4:
        fill_direct(task, part, start, stop, <const uint32_t *>task.keys.data)
    else:
        fill_direct(task, part, start, stop, <const uint64_t *>task.keys.data)


cdef void fill_words(const tables_task *task, part_t *part, Py_ssize_t start,
                     Py_ssize_t stop) noexcept nogil:
    """Keys that are words, most of which are in the first slot that is looked at. Of equal words
    side by side only the first one is looked up, where there seem to be many."""
    cdef uint64_t[BATCH] words
    cdef uint32_t[BATCH] numbers
    cdef uint16_t[BATCH] late
    cdef uint16_t[BATCH + 1] starts       # of the runs of equal words
    cdef bint noted = task.counted or task.inverse != NULL, in_runs
    cdef Py_ssize_t n, heads, i, j, k, lates, group
    while start < stop:
        n = heads = min(stop - start, BATCH)
        prefetch_keys(&task.keys, start + n, BATCH)
        load_words(&task.keys, start, n, words)
        in_runs = seems_in_runs(words, n)
        if in_runs:
            heads = squeeze(words, n, starts)
        lates = look_up(&part.table, &task.keys, level, words, heads, late,
                        numbers if noted else NULL)
        for k in range(lates):
            j = late[k]
            i = start + (starts[j] if in_runs else j)
            if is_loner(&task.keys, i, words[j]):     # it is in no slot
                mark_run(task, i, i + (starts[j + 1] - starts[j] if in_runs else 1))
                numbers[j] = 0
                continue
            part.table.lookups = i - part.first
            group = find_or_add(&part.table, &task.keys, i, words[j])
            if group < 0:
                part.status = group
                return
            numbers[j] = <uint32_t>(group + 1)
        if in_runs:
            note_runs(task, &part.table, start, heads, starts, numbers)
        else:
            note_batch(task, &part.table, start, n, numbers)
        start += n


cdef inline bint seems_in_runs(const uint64_t *words, Py_ssize_t n) noexcept nogil:
    """Are half of some words equal to the next one?"""
    cdef Py_ssize_t j = 0, looked = 0, equal = 0
    while j < n - 1:
        equal += words[j] == words[j + 1]
        looked += 1
        j += PROBE_STEP
    return 2 * equal >= looked and looked > 0


cdef inline Py_ssize_t squeeze(uint64_t *words, Py_ssize_t n, uint16_t *starts) noexcept nogil:
    """Leave of each run of equal words one; returns how many runs there are. starts has room for
    one more than there are words."""
    cdef Py_ssize_t j, heads = 1
    cdef uint64_t word, last = words[0]
    starts[0] = 0
    for j in range(1, n):
        word = words[j]
        words[heads] = word
        starts[heads] = <uint16_t>j
        heads += word != last
        last = word
    starts[heads] = <uint16_t>n
    return heads


cdef inline void note_batch(const tables_task *task, table_t *table, Py_ssize_t start,
                            Py_ssize_t n, const uint32_t *numbers) noexcept nogil:
    """Counts and inverse of n keys, given their groups' numbers plus one, 0 for loners."""
    cdef Py_ssize_t j
    cdef group_t *groups = table.groups
    cdef Py_ssize_t *inverse
    if task.counted:
        for j in range(n):
            if numbers[j]:
                groups[numbers[j] - 1].count += 1
    if task.inverse != NULL:
        inverse = task.inverse + start
        for j in range(n):
            inverse[j] = <Py_ssize_t>numbers[j] - 1


cdef inline void note_runs(const tables_task *task, table_t *table, Py_ssize_t start,
                           Py_ssize_t heads, const uint16_t *starts,
                           const uint32_t *numbers) noexcept nogil:
    """The same of runs."""
    cdef Py_ssize_t i, j
    if task.counted:
        for j in range(heads):
            if numbers[j]:
                table.groups[numbers[j] - 1].count += starts[j + 1] - starts[j]
    if task.inverse != NULL:
        for j in range(heads):
            for i in range(starts[j], starts[j + 1]):
                task.inverse[start + i] = <Py_ssize_t>numbers[j] - 1


cdef void fill_bytes(const tables_task *task, part_t *part, Py_ssize_t start,
                     Py_ssize_t stop) noexcept nogil:
    """Longer keys: their hashes are looked up, and then their bytes are compared."""
    cdef uint64_t[BATCH] hashes
    cdef uint32_t[BATCH] numbers
    cdef uint16_t[BATCH] late
    cdef Py_ssize_t n, j, k, lates, group
    while start < stop:
        n = min(stop - start, BATCH)
        load_words(&task.keys, start, n, hashes)
        lates = look_up(&part.table, &task.keys, level, hashes, n, late, numbers)
        lates = confirm(&part.table, &task.keys, start, NULL, n, numbers, late, lates)
        for k in range(lates):
            j = late[k]
            if is_loner(&task.keys, start + j, 0):    # it is in no slot
                mark(task, start + j)
                numbers[j] = 0
                continue
            part.table.lookups = start + j - part.first
            group = find_or_add(&part.table, &task.keys, start + j, hashes[j])
            if group < 0:
                part.status = group
                return
            numbers[j] = <uint32_t>(group + 1)
        note_batch(task, &part.table, start, n, numbers)
        start += n


cdef void fill_direct(const tables_task *task, part_t *part, Py_ssize_t start, Py_ssize_t stop,
                      const any_t *data) noexcept nogil:
    """Words that have a place each. In a batch that holds no new word, and few do, nothing is
    decided item by item."""
    cdef uint32_t[BATCH] places
    cdef uint32_t *direct = part.table.numbers
    cdef any_t place, all_bits
    cdef Py_ssize_t n, j
    cdef bint is_new
    while start < stop:
        n = min(stop - start, BATCH)
        all_bits = 0
        if task.plain:
            for j in range(n):
                place = <any_t>(data[start + j] - <any_t>task.base)
                places[j] = <uint32_t>place
                all_bits |= place
        else:
            for j in range(n):
                places[j] = <uint32_t>canonical(&task.keys.rule, data[start + j])
        if <uint64_t>all_bits >> task.place_bits:
            part.status = TOO_MANY
            return
        is_new = task.keys.rule.lonely or task.keys.loners != NULL
        for j in range(n):
            is_new |= direct[places[j]] == 0
        if is_new:
            add_new(task, &part.table, start, n, places)
        if task.counted or task.inverse != NULL:
            for j in range(n):
                places[j] = direct[places[j]]
            note_batch(task, &part.table, start, n, places)
        start += n


cdef void add_new(const tables_task *task, table_t *table, Py_ssize_t start, Py_ssize_t n,
                  const uint32_t *places) noexcept nogil:
    """The new groups of a batch, and its loners, which get no group."""
    cdef Py_ssize_t j
    for j in range(n):
        if is_loner(&task.keys, start + j, places[j]):
            mark(task, start + j)
        else:
            find_direct(table, start + j, places[j])


cdef inline void mark(const tables_task *task, Py_ssize_t i) noexcept nogil:
    """Key i is the first of its kind."""
    task.bits[i >> 6] |= <uint64_t>1 << (i & 63)


cdef inline void mark_run(const tables_task *task, Py_ssize_t start,
                          Py_ssize_t stop) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(start, stop):
        mark(task, i)


cdef Py_ssize_t merge(tables_task *task) noexcept nogil:
    """All groups into the table of slice 0, in slice order; their bits; the numbers of each part's
    groups in that table. Returns 0 or a status."""
    cdef table_t *whole = &task.parts[0].table
    cdef part_t *part
    cdef Py_ssize_t k, g, group
    whole.most = task.slices * task.most
    for k in range(task.slices):
        part = &task.parts[k]
        part.length = part.table.length
        part.numbers = <Py_ssize_t *>take(part.length * sizeof(Py_ssize_t))
        if part.numbers == NULL:
            return NO_MEMORY
        for g in range(part.length):
            if k == 0:
                part.numbers[g] = g
                continue
            if task.place_bits:
                group = find_direct(whole, part.table.groups[g].first, part.table.groups[g].word)
            else:
                group = find_or_add(whole, &task.keys, part.table.groups[g].first,
                                    part.table.groups[g].word)
            if group < 0:
                return group
            whole.groups[group].count += part.table.groups[g].count
            part.numbers[g] = group
    for g in range(whole.length):
        mark(task, whole.groups[g].first)
    return 0


cdef void write_counts(const table_t *table, const ranks_t *ranks, Py_ssize_t *out,
                       Py_ssize_t length) noexcept nogil:
    cdef Py_ssize_t g
    for g in range(length):
        out[g] = 1                # a loner, unless a group says otherwise
    for g in range(table.length):
        out[rank(ranks, table.groups[g].first)] = table.groups[g].count


cdef void to_numbers(const tables_task *task, part_t *part) noexcept nogil:
    """From numbers of groups in the table of slice 0 to those of the answer."""
    cdef const table_t *whole = &task.parts[0].table
    cdef Py_ssize_t g
    part.settled = whole.length == task.ranks.before[task.blocks]      # no loners
    for g in range(part.length):
        part.numbers[g] = number_at(task, whole.groups[part.numbers[g]].first)
        part.settled &= part.numbers[g] == g


cdef inline Py_ssize_t number_at(const tables_task *task, Py_ssize_t first) noexcept nogil:
    """The number of the group whose first item is there."""
    cdef Py_ssize_t number = rank(&task.ranks, first)
    return number if task.order == NULL else task.order[number]


cdef void relabel_slice(void *context, Py_ssize_t k) noexcept nogil:
    cdef tables_task *task = <tables_task *>context
    cdef Py_ssize_t start = start_block(task, k) * 64
    cdef Py_ssize_t stop = min(start_block(task, k + task.slices) * 64, task.keys.size)
    cdef const part_t *part = &task.parts[k % task.slices]
    cdef Py_ssize_t i
    if part.settled:
        return
    for i in range(start, stop):
        if task.inverse[i] == LONER:
            task.inverse[i] = number_at(task, i)
        else:
            task.inverse[i] = part.numbers[task.inverse[i]]
