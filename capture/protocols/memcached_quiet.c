// SPDX-License-Identifier: Apache-2.0
// In: quiet commands in order, and which of them are answered. Out: calls and one-way messages.
#include "capture/protocols/memcached_quiet.h"

guint bb_memcached_quiets_count(const BbMemcachedQuiets *quiets)
{
    return quiets->array ? quiets->array->len : 0;
}

static const BbMemcachedQuiet *at(const BbMemcachedQuiets *quiets, guint index)
{
    return &g_array_index(quiets->array, BbMemcachedQuiet, index);
}

const BbMemcachedQuiet *bb_memcached_quiets_oldest(const BbMemcachedQuiets *quiets)
{
    return bb_memcached_quiets_count(quiets) ? at(quiets, 0) : NULL;
}

static void drop(BbMemcachedQuiets *quiets, guint count)
{
    if (count && count == bb_memcached_quiets_count(quiets))
        g_clear_pointer(&quiets->array, g_array_unref);
    else if (count)
        g_array_remove_range(quiets->array, 0, count);
}

void bb_memcached_quiets_end(BbMemcachedQuiets *quiets, BbDialog *dialog, guint count)
{
    for (guint i = 0; i < count; i++)
        bb_dialog_one_way(dialog, at(quiets, i)->call, &at(quiets, i)->request);
    drop(quiets, count);
}

void bb_memcached_quiets_add(BbMemcachedQuiets *quiets, BbDialog *dialog,
                             const BbMemcachedQuiet *quiet)
{
    if (!quiets->array)
        quiets->array = g_array_new(FALSE, FALSE, sizeof(BbMemcachedQuiet));
    if (quiets->array->len == BB_MEMCACHED_QUIET_MAX)
        bb_memcached_quiets_end(quiets, dialog, 1);
    g_array_append_vals(quiets->array, quiet, 1);
}

guint bb_memcached_quiets_find(const BbMemcachedQuiets *quiets, guint64 call)
{
    guint i = 0;
    while (i < bb_memcached_quiets_count(quiets) && at(quiets, i)->call != call)
        i++;
    return i;
}

guint64 bb_memcached_quiets_answer(BbMemcachedQuiets *quiets, BbDialog *dialog)
{
    guint64 call = at(quiets, 0)->call;
    bb_dialog_sent(dialog, call, &at(quiets, 0)->request);
    drop(quiets, 1);
    return call;
}
