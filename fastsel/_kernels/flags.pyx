"""First occurrences of words that have a place each, where neither inverse nor counts are wanted.

Each slice has flags of its own (flagset.pxd); what it found first is dropped where a slice before
it has met the same.
"""
cimport numpy as cnp
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from fastsel._kernels.blocks cimport blocks_of, fs_ctz, fs_level_t
from fastsel._kernels.flagset cimport flag_blocks, flags_t, place_of
from fastsel._kernels.keys cimport any_t, describe_keys, keys_t
from fastsel._kernels.levels cimport fs_level
from fastsel._kernels.results cimport new_result
from fastsel._kernels.scratch cimport Scratch
from fastsel._kernels.slices cimport (
    for_rounds, for_slices, round_start, scan, slice_count, slice_start)

cnp.import_array()

cdef const fs_level_t *level = fs_level()

ctypedef struct slice_t:
    flags_t flags
    Py_ssize_t status

ctypedef struct flags_task:
    keys_t keys
    Py_ssize_t blocks
    Py_ssize_t slices
    Py_ssize_t rounds
    Py_ssize_t drops            # parts, in which what others met is dropped
    slice_t *parts              # one per slice
    Py_ssize_t room             # bytes for each slice's flags, whole blocks
    uint64_t *bits
    # For sorted words: the blocks of places in spans,
    Py_ssize_t spans
    Py_ssize_t lowest           # the first of these blocks
    Py_ssize_t *offsets         # of each span's words in the answer
    char *out


def first_flags(cnp.ndarray data not None, Py_ssize_t size, tuple rule not None,
                tuple places not None, int threads):
    """The bitmask of the first occurrences of `size` > 0 words of 1 to 8 bytes, each of which
    equals itself; None if one has no place. places is (base, bits): words from base on, so many
    bits of them, have one."""
    cdef flags_task task
    cdef Py_ssize_t status
    cdef cnp.npy_intp blocks
    cdef Scratch scratch = Scratch()
    describe_task(&task, scratch, data, size, rule, places, threads)
    blocks = task.blocks
    bits = cnp.PyArray_EMPTY(1, &blocks, cnp.NPY_UINT64, 0)
    task.bits = <uint64_t *>cnp.PyArray_DATA(bits)
    with nogil:
        status = flag_all(&task, threads)
        if status == 0 and task.slices > 1:
            for_slices(drop_met, &task, task.drops, threads)
    return bits if status == 0 else None


def sorted_words(cnp.ndarray data not None, Py_ssize_t size, tuple rule not None,
                 tuple places not None, Py_ssize_t lowest, int threads):
    """The distinct ones of such words, in the order of their places from the one `lowest` on, which
    is 0 or half of them; None if one has no place."""
    cdef flags_task task
    cdef Scratch scratch = Scratch()
    cdef cnp.npy_intp length
    cdef cnp.ndarray out
    cdef Py_ssize_t status
    describe_task(&task, scratch, data, size, rule, places, threads)
    task.bits = <uint64_t *>scratch.take(task.blocks * sizeof(uint64_t))    # nobody reads them
    task.lowest = lowest // 64
    task.spans = slice_count(task.room // 64, threads)
    task.offsets = <Py_ssize_t *>scratch.take((task.spans + 1) * sizeof(Py_ssize_t))
    with nogil:
        status = flag_all(&task, threads)
        if status == 0:
            for_slices(count_span, &task, task.spans, threads)
            scan(task.offsets, task.spans)
    if status:
        return None
    length = task.offsets[task.spans]
    out = new_result(1, &length, cnp.PyArray_TYPE(data))
    task.out = <char *>cnp.PyArray_DATA(out)
    with nogil:
        for_slices(write_span, &task, task.spans, threads)
    return out


cdef void describe_task(flags_task *task, Scratch scratch, cnp.ndarray data, Py_ssize_t size,
                        tuple rule, tuple places, int threads) except *:
    cdef uint64_t base = places[0]
    cdef int place_bits = places[1]
    cdef uint8_t *met
    cdef Py_ssize_t k
    describe_keys(&task.keys, data, size, rule, None, (0, 1))
    task.blocks = blocks_of(size)
    task.slices = min(task.blocks, max(1, threads))
    task.rounds = slice_count(task.blocks // task.slices, 1, 8 * max(8, task.keys.width))
    task.drops = slice_count(task.blocks - slice_start(task.blocks, task.slices, 1), threads)
    task.room = max(64, <Py_ssize_t>1 << place_bits)
    task.parts = <slice_t *>scratch.take(task.slices * sizeof(slice_t))
    met = <uint8_t *>scratch.take(task.slices * task.room)
    memset(task.parts, 0, task.slices * sizeof(slice_t))
    for k in range(task.slices):
        task.parts[k].flags.base, task.parts[k].flags.place_bits = base, place_bits
        task.parts[k].flags.met = met + k * task.room


cdef Py_ssize_t flag_all(flags_task *task, int threads) except 1 nogil:
    """Each slice's flags and bits; 0 or a status, which is negative."""
    cdef Py_ssize_t k, status = 0
    for_rounds(flag_slice, task, task.rounds, task.slices, threads)
    for k in range(task.slices):
        status = min(status, task.parts[k].status)
    return status


cdef inline Py_ssize_t start_block(const flags_task *task, Py_ssize_t k) noexcept nogil:
    return round_start(task.blocks, task.slices, task.rounds, k)


cdef void flag_slice(void *context, Py_ssize_t k) noexcept nogil:
    cdef flags_task *task = <flags_task *>context
    cdef slice_t *part = &task.parts[k % task.slices]
    if k < task.slices:
        memset(part.flags.met, 0, task.room)
    if part.status == 0:
        part.status = flag_blocks(&part.flags, &task.keys, level, start_block(task, k),
                                  start_block(task, k + task.slices), task.bits)


cdef void drop_met(void *context, Py_ssize_t k) noexcept nogil:
    """Clear the bits of keys that slices before their own have met, in part k of all slices but the
    first."""
    cdef flags_task *task = <flags_task *>context
    cdef Py_ssize_t second = slice_start(task.blocks, task.slices, 1)
    cdef Py_ssize_t block = second + slice_start(task.blocks - second, task.drops, k)
    cdef Py_ssize_t stop = second + slice_start(task.blocks - second, task.drops, k + 1)
    cdef Py_ssize_t own = 1, earlier, place
    cdef uint64_t word
    while block < stop:
        while slice_start(task.blocks, task.slices, own + 1) <= block:
            own += 1
        word = task.bits[block]
        while word:
            place = place_of(&task.parts[0].flags, &task.keys, block * 64 + fs_ctz(word))
            for earlier in range(own):
                if task.parts[earlier].flags.met[place]:
                    task.bits[block] ^= <uint64_t>1 << fs_ctz(word)
                    break
            word &= word - 1
        block += 1


cdef void count_span(void *context, Py_ssize_t k) noexcept nogil:
    """All slices' flags into those of the first, and how many there are."""
    cdef flags_task *task = <flags_task *>context
    cdef uint8_t *met
    cdef const uint8_t *other
    cdef Py_ssize_t block, j, slice, found = 0
    cdef uint64_t word
    for block in range(slice_start(task.room // 64, task.spans, k),
                       slice_start(task.room // 64, task.spans, k + 1)):
        met = place_block(task, 0, block)
        for slice in range(1, task.slices):
            other = place_block(task, slice, block)
            for j in range(64):
                met[j] |= other[j]
        found += level.pack[0](<const char *>met, 0xff, &word, 1)
    task.offsets[k] = found


cdef inline uint8_t *place_block(const flags_task *task, Py_ssize_t slice,
                                 Py_ssize_t block) noexcept nogil:
    """The flags of a block of places, in their order."""
    return task.parts[slice].flags.met + (task.lowest + block) * 64 % task.room


cdef void write_span(void *context, Py_ssize_t k) noexcept nogil:
    cdef flags_task *task = <flags_task *>context
    if task.keys.width == 1:
        write_words(task, k, <uint8_t *>task.out)
    elif task.keys.width == 2:
        write_words(task, k, <uint16_t *>task.out)
    elif task.keys.width == 4:
        write_words(task, k, <uint32_t *>task.out)
    else:
        write_words(task, k, <uint64_t *>task.out)


cdef void write_words(const flags_task *task, Py_ssize_t k, any_t *out) noexcept nogil:
    cdef const flags_t *flags = &task.parts[0].flags
    cdef Py_ssize_t n = task.offsets[k], block
    cdef const uint8_t *met
    cdef uint64_t word
    for block in range(slice_start(task.room // 64, task.spans, k),
                       slice_start(task.room // 64, task.spans, k + 1)):
        met = place_block(task, 0, block)
        level.pack[0](<const char *>met, 0xff, &word, 1)
        while word:
            out[n] = <any_t>(flags.base + (met - flags.met) + fs_ctz(word))
            n += 1
            word &= word - 1
