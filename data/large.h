// SPDX-License-Identifier: Apache-2.0
// Memory of arrays that are as long as a trace. Where the kernel has huge pages for whoever asks
// (madvise(2), MADV_HUGEPAGE), it clears and maps 2 MB at a time; of pages of 4 KB that is a fifth
// of what an inference costs.
#pragma once

#include <glib.h>

#define BB_LARGE_PAGE ((gsize)1 << 21)

// As g_new and g_new0, for what will be written from end to end. Free with g_free.
#define bb_large_new(type, count) \
    ((type *)bb_large_advise(g_new(type, count), (count), sizeof(type)))
#define bb_large_new0(type, count) \
    ((type *)bb_large_advise(g_new0(type, count), (count), sizeof(type)))

// Asks for huge pages; the kernel has them lie in memory as a whole, so that it takes no more than
// it would without. Returns memory. Where there are none, or it is small, nothing changes.
gpointer bb_large_advise(gpointer memory, gsize count, gsize size);

// BB_LARGE_PAGE bytes from the system, zero, which go back to it at once when they are freed.
// There is no way on without memory: a message, and the end. NULL may be freed.
gpointer bb_large_page_new(void);
void bb_large_page_free(gpointer page);
