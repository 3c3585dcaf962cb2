// SPDX-License-Identifier: Apache-2.0
// In: patterns. Out: folded stacks. Patterns are folded from their clients on: of calls below the
// same stack, those of one frame are one, and what they call is below that.
#include "viz/folded.h"

#include "data/caption.h"
#include "viz/chain.h"
#include "viz/ranking.h"

#include <string.h>

// A call, or message, of a pattern.
typedef struct {
    guint32 client; // of the pattern
    guint64 count;  // its instances, or paths
    const BbPatternNode *node;
} Entry;

typedef struct {
    const BbNames *names;
    bool chains;
    GString *frames, *scratch;
    FILE *out;
} Folding;

static gint compare_clients(gconstpointer left, gconstpointer right, gpointer user)
{
    return bb_names_compare(((const Folding *)user)->names, ((const Entry *)left)->client,
                            ((const Entry *)right)->client);
}

static gint compare_frames(gconstpointer left, gconstpointer right, gpointer user)
{
    const BbPatternNode *a = ((const Entry *)left)->node, *b = ((const Entry *)right)->node;
    int order = bb_names_compare(((const Folding *)user)->names, a->node, b->node);
    if (order == 0)
        order = bb_names_compare(((const Folding *)user)->names, a->op, b->op);
    return order ? order : a->unanswered - b->unanswered;
}

// Where those of the sorted entries end that equal the one at from.
static guint end_of_equals(const Folding *folding, const GArray *entries, guint from,
                           GCompareDataFunc compare)
{
    const Entry *first = &g_array_index(entries, Entry, from);
    guint end = from + 1;
    while (end < entries->len &&
           compare(first, &g_array_index(entries, Entry, end), (gpointer)folding) == 0)
        end++;
    return end;
}

// A name in a frame: a ';' would end it.
static void append_name(Folding *folding, guint32 name)
{
    g_string_truncate(folding->scratch, 0);
    bb_caption_append(folding->scratch, bb_names_text(folding->names, name), "?");
    g_string_replace(folding->scratch, ";", "%3B", 0);
    g_string_append(folding->frames, folding->scratch->str);
}

static void append_frame(Folding *folding, const BbPatternNode *node)
{
    g_string_append_c(folding->frames, ';');
    append_name(folding, node->node);
    if (node->op != BB_NAME_NONE) {
        g_string_append_c(folding->frames, ' ');
        append_name(folding, node->op);
    }
    if (node->unanswered)
        g_string_append(folding->frames, " (no return)");
}

// What a node of a chain took stands at the message that it sent then.
static guint64 own_work(const Folding *folding, const Entry *entry)
{
    if (!folding->chains)
        return entry->node->critical_total_ns;
    const BbPatternNode *next = bb_chain_next(entry->node);
    guint64 mean_ns = next ? (guint64)MAX(bb_chain_mean_delay(next), 0) : 0;
    return mean_ns > 0 && entry->count > G_MAXUINT64 / mean_ns ? G_MAXUINT64
                                                               : entry->count * mean_ns;
}

static guint64 add(guint64 sum_ns, guint64 ns)
{
    return ns > G_MAXUINT64 - sum_ns ? G_MAXUINT64 : sum_ns + ns;
}

static void put_line(const Folding *folding, const char *frame, guint64 ns)
{
    if (ns > 0)
        fprintf(folding->out, "%s%s %" G_GUINT64_FORMAT "\n", folding->frames->str, frame, ns);
}

static void fold_calls(Folding *folding, GArray *entries);

// entries[from .. end) are of one frame.
static void fold_frame(Folding *folding, const GArray *entries, guint from, guint end)
{
    gsize length = folding->frames->len;
    guint64 sum_ns = 0, queued_ns = 0, wire_ns = 0;
    g_autoptr(GArray) below = g_array_new(FALSE, FALSE, sizeof(Entry));
    for (guint i = from; i < end; i++) {
        const Entry *entry = &g_array_index(entries, Entry, i);
        guint64 ns = own_work(folding, entry);
        guint64 queued = bb_pattern_queued(entry->node);
        sum_ns = add(sum_ns, ns - queued);
        queued_ns = add(queued_ns, queued);
        wire_ns = add(wire_ns, entry->node->wire_total_ns);
        for (guint k = 0; k < entry->node->calls->len; k++) {
            Entry call = {entry->client, entry->count, g_ptr_array_index(entry->node->calls, k)};
            g_array_append_val(below, call);
        }
    }
    append_frame(folding, g_array_index(entries, Entry, from).node);
    put_line(folding, "", sum_ns);
    put_line(folding, ";(queued)", queued_ns);
    put_line(folding, ";(wire)", wire_ns);
    fold_calls(folding, below);
    g_string_truncate(folding->frames, length);
}

// Entries below one stack.
static void fold_calls(Folding *folding, GArray *entries)
{
    g_array_sort_with_data(entries, compare_frames, folding);
    for (guint from = 0, end; from < entries->len; from = end) {
        end = end_of_equals(folding, entries, from, compare_frames);
        fold_frame(folding, entries, from, end);
    }
}

static void fold_clients(Folding *folding, GArray *entries)
{
    g_array_sort_with_data(entries, compare_clients, folding);
    for (guint from = 0, end; from < entries->len; from = end) {
        end = end_of_equals(folding, entries, from, compare_clients);
        g_autoptr(GArray) calls = g_array_new(FALSE, FALSE, sizeof(Entry));
        g_array_append_vals(calls, &g_array_index(entries, Entry, from), end - from);
        g_string_truncate(folding->frames, 0);
        append_name(folding, g_array_index(entries, Entry, from).client);
        fold_calls(folding, calls);
    }
}

bool bb_folded_write(const BbView *view, FILE *out, GError **error)
{
    (void)error;
    g_autoptr(GArray) entries = g_array_new(FALSE, FALSE, sizeof(Entry));
    g_autoptr(GString) frames = g_string_new(NULL);
    g_autoptr(GString) scratch = g_string_new(NULL);
    Folding folding = {view->names, view->ranking->chains, frames, scratch, out};
    for (guint i = 0; i < view->ranking->n_shown; i++) {
        const BbPattern *pattern = view->ranking->shown[i];
        Entry entry = {pattern->client, pattern->count, pattern->root};
        if (!pattern->derived)
            g_array_append_val(entries, entry);
    }
    fold_clients(&folding, entries);
    return true;
}
