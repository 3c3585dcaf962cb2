// SPDX-License-Identifier: Apache-2.0
// In: the spans of one trace, some of them in parts. Out: whole spans.
#include "merge/span_parts.h"

#include "data/keys.h"

// Spans with one id that are looked at for each part; a hostile trace may have any number.
#define ALIKE_MAX 16u

static bool take_name(guint32 *name, guint32 new_name)
{
    if (*name != BB_NAME_NONE || new_name == BB_NAME_NONE)
        return false;
    *name = new_name;
    return true;
}

static bool take_time(gint64 *time_ns, gint64 new_ns)
{
    if (*time_ns != BB_TIME_NONE || new_ns == BB_TIME_NONE)
        return false;
    *time_ns = new_ns;
    return true;
}

// Puts into whole what it lacks. Returns whether there was something.
static bool take_in(BbSpan *whole, const BbSpan *part)
{
    bool is_new = false;
    bool ends_before = part->end_ns != BB_TIME_NONE && part->end_ns < whole->start_ns;
    is_new |= take_time(&whole->start_ns, part->start_ns);
    is_new |= !ends_before && take_time(&whole->end_ns, part->end_ns);
    is_new |= take_name(&whole->service, part->service);
    is_new |= take_name(&whole->peer, part->peer);
    is_new |= take_name(&whole->op, part->op);
    is_new |= take_name(&whole->status, part->status);
    is_new |= take_name(&whole->proto, part->proto);
    if (whole->kind == BB_SPAN_UNSET && part->kind != BB_SPAN_UNSET) {
        whole->kind = part->kind;
        is_new = true;
    }
    if (!bb_id_is_known(whole->parent) && bb_id_is_known(part->parent)) {
        whole->parent = part->parent;
        is_new = true;
    }
    return is_new;
}

// Whether both may be of one span.
static bool fits(const BbSpan *whole, const BbSpan *part)
{
    bool same_service = whole->service == part->service || whole->service == BB_NAME_NONE ||
                        part->service == BB_NAME_NONE;
    bool same_kind =
        whole->kind == part->kind || whole->kind == BB_SPAN_UNSET || part->kind == BB_SPAN_UNSET;
    return same_service && same_kind;
}

typedef struct Parts {
    BbSpan *spans;
    guint32 *before;   // of each span that stays: the one with its id before it, or NONE
    GHashTable *by_id; // BbId of a span that stays -> its index + 1, the last of that id
    guint32 count;     // of spans that stay
} Parts;

#define NONE G_MAXUINT32

// One of the same service, rather than one that names none.
static guint32 find_whole(const Parts *parts, const BbSpan *part, guint32 last)
{
    guint32 found = NONE, looked = 0;
    for (guint32 at = last; at != NONE && looked < ALIKE_MAX; at = parts->before[at], looked++) {
        const BbSpan *span = &parts->spans[at];
        bool better = found == NONE || span->service == part->service;
        if (fits(span, part) && better)
            found = at;
    }
    return found;
}

static void keep(Parts *parts, const BbSpan *span, guint32 last)
{
    guint32 index = parts->count++;
    parts->spans[index] = *span;
    parts->before[index] = last;
    g_hash_table_replace(parts->by_id, &parts->spans[index].id, GUINT_TO_POINTER(index + 1));
}

guint32 bb_span_parts_join(BbSpan *spans, guint32 count, BbCounters *counters)
{
    g_autofree guint32 *before = g_new(guint32, count);
    g_autoptr(GHashTable) by_id = g_hash_table_new(bb_id_key_hash, bb_id_key_equal);
    Parts parts = {spans, before, by_id, 0};
    for (guint32 i = 0; i < count; i++) {
        BbSpan span = spans[i]; // its place may be taken by one before
        guint32 found = GPOINTER_TO_UINT(g_hash_table_lookup(by_id, &span.id));
        guint32 last = found == 0 ? NONE : found - 1;
        guint32 whole = find_whole(&parts, &span, last);
        if (whole != NONE && take_in(&spans[whole], &span))
            bb_counters_add(counters, "spans_parts", 1);
        else
            keep(&parts, &span, last);
    }
    return parts.count;
}
