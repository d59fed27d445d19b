"""Sort the numbers of a bucket, and what goes with them, by their digits."""
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastsel._kernels.numbers cimport bit_length

cdef enum:
    DIGIT_BITS = 11        # at most
    SPARE_BITS = 2         # beyond log2 of a bucket's numbers, to tell nearly all of them apart
    MOVES_PER_NUMBER = 4   # of the insertion sort, before all digits are sorted instead

ctypedef fused number_t:
    uint32_t
    uint64_t


cdef inline void sort_bucket(number_t *numbers, uint32_t *entries, Py_ssize_t length,
                             number_t *spare_numbers, uint32_t *spare_entries) noexcept nogil:
    """Sort length > 0 numbers, stably. entries, if not NULL, becomes the order that did it; the
    spare arrays have room for as many.

    The top digits, enough to tell most of the numbers apart, leave little to an insertion sort.
    Where they leave much, all digits are sorted.
    """
    cdef number_t low = numbers[0], high = numbers[0]
    cdef Py_ssize_t j, falls = 0
    cdef int bits, enough
    if entries != NULL:
        for j in range(length):
            entries[j] = <uint32_t>j
    for j in range(1, length):
        low = min(low, numbers[j])
        high = max(high, numbers[j])
        falls += numbers[j] < numbers[j - 1]
    if falls == 0:
        return
    bits = bit_length(high - low)
    enough = min(bits, bit_length(length) + SPARE_BITS)
    sort_digits(numbers, entries, length, low, bits - enough, bits, spare_numbers, spare_entries)
    if enough < bits and not insertion_sort(numbers, entries, length):
        sort_digits(numbers, entries, length, low, 0, bits, spare_numbers, spare_entries)


cdef inline void sort_digits(number_t *numbers, uint32_t *entries, Py_ssize_t length,
                             number_t low, int shift, int stop, number_t *spare_numbers,
                             uint32_t *spare_entries) noexcept nogil:
    """Sort by the bits from shift to stop of number - low, in digits of equal width."""
    cdef int passes = (stop - shift + DIGIT_BITS - 1) // DIGIT_BITS
    cdef int width = (stop - shift + passes - 1) // passes
    cdef number_t *source = numbers
    cdef number_t *target = spare_numbers
    cdef uint32_t *from_entries = entries
    cdef uint32_t *to_entries = spare_entries if entries != NULL else NULL
    while shift < stop:
        sort_digit(source, from_entries, length, low, shift, width, target, to_entries)
        source, target = target, source
        from_entries, to_entries = to_entries, from_entries
        shift += width
    if source != numbers:
        memcpy(numbers, source, length * sizeof(number_t))
        if entries != NULL:
            memcpy(entries, from_entries, length * sizeof(uint32_t))


cdef inline void sort_digit(const number_t *numbers, const uint32_t *entries, Py_ssize_t length,
                            number_t low, int shift, int width, number_t *out,
                            uint32_t *out_entries) noexcept nogil:
    cdef uint32_t[1 << DIGIT_BITS] next_place
    cdef uint32_t count, total = 0, at
    cdef Py_ssize_t j, digit
    cdef number_t mask = (<number_t>1 << width) - 1
    memset(next_place, 0, sizeof(uint32_t) << width)
    for j in range(length):
        next_place[((numbers[j] - low) >> shift) & mask] += 1
    for digit in range(<Py_ssize_t>1 << width):
        count = next_place[digit]
        next_place[digit] = total
        total += count
    for j in range(length):
        digit = <Py_ssize_t>(((numbers[j] - low) >> shift) & mask)
        at = next_place[digit]
        next_place[digit] = at + 1
        out[at] = numbers[j]
        if entries != NULL:
            out_entries[at] = entries[j]


cdef inline bint insertion_sort(number_t *numbers, uint32_t *entries,
                                Py_ssize_t length) noexcept nogil:
    """Sort what is nearly sorted; False, and only partly sorted, if it is not."""
    cdef Py_ssize_t left = MOVES_PER_NUMBER * length, j, at
    cdef number_t moving
    cdef uint32_t entry = 0
    for j in range(1, length):
        if numbers[j] >= numbers[j - 1]:
            continue
        moving = numbers[j]
        if entries != NULL:
            entry = entries[j]
        at = j
        while at and numbers[at - 1] > moving:
            numbers[at] = numbers[at - 1]
            if entries != NULL:
                entries[at] = entries[at - 1]
            at -= 1
        numbers[at] = moving
        if entries != NULL:
            entries[at] = entry
        left -= j - at
        if left < 0:
            return False
    return True
