/* Notes regions that end late, and decides for how long no region begins afterwards. A region ends
   when its last thread has reached its end. If other programs keep the CPUs busy, this thread first
   waits for a CPU, and short calls are faster on one thread. benchmarks/README.md has figures. */
#ifndef FASTSEL_LATE_REGIONS_H
#define FASTSEL_LATE_REGIONS_H

#include "clock.h"
#include "openmp.h"

#if !defined(FS_MAX_LATE)
#define FS_MAX_LATE 2 /* after FS_MAX_LATE late regions in a row, no region begins for a while */
#endif

enum {
    /* A region is late if it waits at least this long, and at least as long as it works. */
    FS_LATE_MICROSECONDS = 1000,
    /* Each serial time is twice as long as the serial time before it, up to the maximum. After a
       region that is not late, the next serial time is FS_FIRST_SERIAL_MICROSECONDS. */
    FS_FIRST_SERIAL_MICROSECONDS = 50000,
    FS_MAX_SERIAL_MICROSECONDS = 1600000
};

static fs_atomic_t fs_late_regions; /* late regions in a row */
static fs_atomic_t fs_serial_until; /* when regions begin again */
static fs_atomic_t fs_serial_for;   /* the last serial time; 0 after a region that is not late */

/* Note a region that began at start and ends now. worked is how long its busiest thread worked. */
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

/* When regions begin again, or 0 if they may begin now. The clock may be set back, for example if a
   process continues on another machine: then regions may begin now if they would otherwise begin
   after more than FS_MAX_SERIAL_MICROSECONDS. */
static int64_t fs_serial_until_us(void)
{
    int64_t now = fs_microseconds();
    ptrdiff_t left = (ptrdiff_t)((size_t)fs_load(&fs_serial_until) - (size_t)now);
    return 0 < left && left <= FS_MAX_SERIAL_MICROSECONDS ? now + left : 0;
}

#endif
