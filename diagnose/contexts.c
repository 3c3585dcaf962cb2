// SPDX-License-Identifier: Apache-2.0
// In: calls, each below its caller's context. Out: the number of its context.
#include "diagnose/contexts.h"

#include "data/tally.h"

struct BbContexts {
    GArray *list;  // of BbContext
    BbTally index; // of the context -> number + 1
};

BbContexts *bb_contexts_new(void)
{
    BbContexts *contexts = g_new0(BbContexts, 1);
    contexts->list = g_array_new(FALSE, FALSE, sizeof(BbContext));
    bb_tally_init(&contexts->index);
    return contexts;
}

void bb_contexts_free(BbContexts *contexts)
{
    if (!contexts)
        return;
    g_array_unref(contexts->list);
    bb_tally_clear(&contexts->index);
    g_free(contexts);
}

// above is below 2^31, or BB_CONTEXT_NONE.
static BbTallyKey key_of(const BbContext *context)
{
    guint32 apart = context->unanswered ? 1u << 31 : 0;
    return (BbTallyKey){context->above ^ apart, context->node, context->op};
}

guint32 bb_contexts_intern(BbContexts *contexts, BbContext context)
{
    guint64 *number = bb_tally_at(&contexts->index, key_of(&context));
    if (*number == 0) {
        g_array_append_val(contexts->list, context);
        *number = contexts->list->len;
    }
    return (guint32)(*number - 1);
}

guint32 bb_contexts_find(const BbContexts *contexts, BbContext context)
{
    return (guint32)(bb_tally_get(&contexts->index, key_of(&context)) - 1);
}

guint32 bb_contexts_count(const BbContexts *contexts)
{
    return contexts->list->len;
}

const BbContext *bb_contexts_at(const BbContexts *contexts, guint32 context)
{
    return &g_array_index(contexts->list, BbContext, context);
}

guint32 *bb_contexts_keep(BbContexts *contexts, const bool *keep)
{
    guint32 count = contexts->list->len, kept = 0;
    guint32 *number = g_new0(guint32, (gsize)count + 1);
    for (guint32 i = count; i-- > 0;) { // 1: stays
        number[i] |= keep[i];
        guint32 above = bb_contexts_at(contexts, i)->above;
        if (number[i] && above != BB_CONTEXT_NONE)
            number[above] = 1;
    }
    bb_tally_reset(&contexts->index);
    for (guint32 i = 0; i < count; i++) {
        if (!number[i]) {
            number[i] = BB_CONTEXT_NONE;
            continue;
        }
        BbContext context = *bb_contexts_at(contexts, i);
        if (context.above != BB_CONTEXT_NONE)
            context.above = number[context.above];
        g_array_index(contexts->list, BbContext, kept) = context;
        number[i] = kept++;
        *bb_tally_at(&contexts->index, key_of(&context)) = kept;
    }
    g_array_set_size(contexts->list, kept);
    return number;
}
