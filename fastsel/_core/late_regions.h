/* Regions that end late, and for how long none begins then. A region ends when all its threads have
   come. Where other programs keep the CPUs busy, that is when the last of them has been given one:
   calls of a few tenths of a millisecond are faster on one thread. docs/benchmarks.md has figures. */
#ifndef FASTSEL_LATE_REGIONS_H
#define FASTSEL_LATE_REGIONS_H

#include "clock.h"
#include "openmp.h"

#if !defined(FS_MAX_LATE)
#define FS_MAX_LATE 2 /* regions in a row, before none begins for a while */
#endif

enum {
    FS_LATE_MICROSECONDS = 1000, /* a late one takes so much longer than its work, and twice as long */
    FS_FIRST_SERIAL_MICROSECONDS = 50000,
    FS_MAX_SERIAL_MICROSECONDS = 1600000 /* twice as long each time, up to this */
};

static fs_atomic_t fs_late_regions; /* in a row */
static fs_atomic_t fs_serial_until; /* when regions begin again; on 32 bits, its last 32 */
static fs_atomic_t fs_serial_for;   /* how long they were put off */

/* A region has ended that began at start; its thread that had a CPU for longest worked for so long. */
static void fs_note_region(int64_t start, int64_t worked)
{
    int64_t now = fs_microseconds(), waited = now - start - worked, serial_for;
    if (waited < FS_LATE_MICROSECONDS || waited < worked) {
        fs_store(&fs_late_regions, 0);
        fs_store(&fs_serial_for, 0);
        return;
    }
    if (fs_fetch_add(&fs_late_regions, 1) < FS_MAX_LATE - 1) return;
    fs_store(&fs_late_regions, 0);
    serial_for = 2 * (int64_t)fs_load(&fs_serial_for);
    if (serial_for < FS_FIRST_SERIAL_MICROSECONDS) serial_for = FS_FIRST_SERIAL_MICROSECONDS;
    if (serial_for > FS_MAX_SERIAL_MICROSECONDS) serial_for = FS_MAX_SERIAL_MICROSECONDS;
    fs_store(&fs_serial_for, (ptrdiff_t)serial_for);
    fs_store(&fs_serial_until, (ptrdiff_t)((size_t)now + (size_t)serial_for));
}

/* When regions begin again, or 0 if they may begin now. A clock that was set back, as where a process
   continues on another machine, puts them off no longer than a late region does. */
static int64_t fs_put_off(void)
{
    int64_t now = fs_microseconds();
    ptrdiff_t left = (ptrdiff_t)((size_t)fs_load(&fs_serial_until) - (size_t)now);
    return 0 < left && left <= FS_MAX_SERIAL_MICROSECONDS ? now + left : 0;
}

#endif
