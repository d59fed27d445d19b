/* A library to be preloaded, for glibc only. After fm_arm(n, all_later), the n-th call of malloc,
   calloc or realloc fails, and if all_later is not 0, all later calls fail as well. fm_in_use()
   returns the number of bytes that are allocated. */
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void __libc_free(void *);

static atomic_long armed, later_fail, seen, in_use;

void fm_arm(long n, int all_later)
{
    atomic_store(&seen, 0);
    atomic_store(&later_fail, all_later);
    atomic_store(&armed, n);
}

/* Returns the number of calls of malloc, calloc and realloc since fm_arm. */
long fm_disarm(void)
{
    atomic_store(&armed, 0);
    return atomic_load(&seen);
}

long fm_in_use(void) { return atomic_load(&in_use); }

static int fails(void)
{
    long n = atomic_load(&armed);
    if (n == 0) return 0;
    long k = atomic_fetch_add(&seen, 1) + 1;
    if (k != n && !(k > n && atomic_load(&later_fail))) return 0;
    errno = ENOMEM;
    return 1;
}

static void *counted(void *p)
{
    if (p) atomic_fetch_add(&in_use, (long)malloc_usable_size(p));
    return p;
}

void *malloc(size_t n) { return fails() ? NULL : counted(__libc_malloc(n)); }
void *calloc(size_t m, size_t n) { return fails() ? NULL : counted(__libc_calloc(m, n)); }

void *realloc(void *p, size_t n)
{
    if (fails()) return NULL;
    long before = p ? (long)malloc_usable_size(p) : 0;
    void *q = __libc_realloc(p, n);
    if (q || n == 0) atomic_fetch_sub(&in_use, before);
    return counted(q);
}

void free(void *p)
{
    if (p) atomic_fetch_sub(&in_use, (long)malloc_usable_size(p));
    __libc_free(p);
}
