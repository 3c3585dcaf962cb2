// SPDX-License-Identifier: Apache-2.0
// In: names, once. Out: whether a text is one of them, in any thread.
#include "capture/kept.h"

#include "data/keys.h"

struct BbKept {
    GHashTable *texts;
    gint told; // atomic: nothing changes texts any more
};

BbKept *bb_kept_new(void)
{
    BbKept *kept = g_new0(BbKept, 1);
    kept->texts = g_hash_table_new(bb_text_key_hash, g_str_equal);
    return kept;
}

void bb_kept_free(BbKept *kept)
{
    if (!kept)
        return;
    g_hash_table_unref(kept->texts);
    g_free(kept);
}

void bb_kept_tell(BbKept *kept, const BbNames *names, guint32 count)
{
    for (guint32 name = 1; name < count; name++)
        g_hash_table_add(kept->texts, (gpointer)bb_names_text(names, name));
    g_atomic_int_set(&kept->told, 1);
}

bool bb_kept_is_told(const BbKept *kept)
{
    return g_atomic_int_get(&kept->told);
}

bool bb_kept_has(const BbKept *kept, const char *text)
{
    return g_hash_table_contains(kept->texts, text);
}
