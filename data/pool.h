// SPDX-License-Identifier: Apache-2.0
// Objects of one size that come and go all the time: memory is kept for the next one.
#pragma once

#include <glib.h>

typedef struct BbPool {
    gsize size;       // of an object
    GPtrArray *slabs; // each of BB_POOL_SLAB objects
    gpointer vacant;  // the first one; each points to the next
    guint64 live;
} BbPool;

#define BB_POOL_SLAB 256u

void bb_pool_init(BbPool *pool, gsize size); // at least that of a pointer
void bb_pool_clear(BbPool *pool);            // all objects, whoever has them

// Zeroed.
gpointer bb_pool_take(BbPool *pool);
// The object may still be read: all of it is zero but for its first pointer.
void bb_pool_give(BbPool *pool, gpointer object);
