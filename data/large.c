// SPDX-License-Identifier: Apache-2.0
// In: how much memory is needed. Out: that, in huge pages where the kernel has them.
#include "data/large.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static uintptr_t round_up(uintptr_t address, gsize to)
{
    return (address + to - 1) & ~(to - 1);
}

// All pages that memory has a part of: what realloc(3) got for it alone stays one mapping, else it
// could not be moved without a copy.
gpointer bb_large_advise(gpointer memory, gsize count, gsize size)
{
    gsize page = (gsize)sysconf(_SC_PAGESIZE);
    uintptr_t start = (uintptr_t)memory & ~(page - 1);
    uintptr_t end = round_up((uintptr_t)memory + count * size, page);
    if (count * size >= BB_LARGE_PAGE)
        (void)madvise((gpointer)start, end - start, MADV_HUGEPAGE); // refused: small pages
    return memory;
}

// Twice the size has a whole page in it; the rest goes back.
gpointer bb_large_page_new(void)
{
    void *room =
        mmap(NULL, 2 * BB_LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        g_error("no memory for %zu bytes more", BB_LARGE_PAGE);
    uintptr_t start = (uintptr_t)room, page = round_up(start, BB_LARGE_PAGE);
    if (page > start)
        munmap(room, page - start);
    munmap((gpointer)(page + BB_LARGE_PAGE), start + BB_LARGE_PAGE - page);
    return (gpointer)page;
}

void bb_large_page_free(gpointer page)
{
    if (page)
        munmap(page, BB_LARGE_PAGE);
}
