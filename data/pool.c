// SPDX-License-Identifier: Apache-2.0
// In: requests for objects of one size. Out: zeroed objects, in memory that was used before.
#include "data/pool.h"

#include <string.h>

void bb_pool_init(BbPool *pool, gsize size)
{
    *pool = (BbPool){.size = size, .slabs = g_ptr_array_new_with_free_func(g_free)};
}

void bb_pool_clear(BbPool *pool)
{
    g_ptr_array_unref(pool->slabs);
    *pool = (BbPool){0};
}

static void add_slab(BbPool *pool)
{
    char *slab = g_malloc0(pool->size * BB_POOL_SLAB);
    g_ptr_array_add(pool->slabs, slab);
    for (gsize i = BB_POOL_SLAB; i-- > 0;) {
        gpointer object = slab + i * pool->size;
        *(gpointer *)object = pool->vacant;
        pool->vacant = object;
    }
}

gpointer bb_pool_take(BbPool *pool)
{
    if (!pool->vacant)
        add_slab(pool);
    gpointer object = pool->vacant;
    pool->vacant = *(gpointer *)object;
    pool->live++;
    return memset(object, 0, pool->size);
}

void bb_pool_give(BbPool *pool, gpointer object)
{
    memset(object, 0, pool->size);
    *(gpointer *)object = pool->vacant;
    pool->vacant = object;
    pool->live--;
}
