// SPDX-License-Identifier: Apache-2.0
// In: sums of all requests, records of the slowest. Out: in what they differ, and how much of the
// excess each difference makes.
//
// A mean latency is the sum of the means of all contexts' times on the critical path; so the
// difference of two is the sum of the contexts' differences.
#include <math.h>
#include <string.h>

#include "diagnose/tail_parts.h"

#define SHARE_LEAST 0.01 // of the excess: what is less is not told, unless calls differ
// An extra call is in so many times more of the slowest: less than 2, as of two replicas one has
// half of the requests, give or take a few;
#define TIMES_MORE 1.5
#define SLOW_MORE 3.0 // and in so many more of them than by the others' share
#define REPEATED 1.5  // a repeated call comes so many times as often

// A group with its slowest.
typedef struct {
    const BbTail *tail;
    const BbTailGroup *group;
    guint32 n_slow;   // the first ones of group->slowest
    double scale;     // of the slow to all of the group
    double rest;      // the others
    BbTailSums *slow; // by context
} Comparison;

// One context in the slow and in the rest.
typedef struct {
    BbTailPair present, calls, errors; // shares of the requests; calls in those; shares
    BbTailPair gap_ns, own_ns, wire_ns;
} Contrast;

// A context whose calls may differ as such.
typedef struct Change Change;
struct Change {
    Change *above; // NULL: it is the first, or that one is not known
    Change *top;   // itself, or the one above that differs; NULL for neither
    Contrast contrast;
    BbTailKind kind;
    BbTailPair ns;  // of all that it leads to,
    double most_ns; // and what makes most of its excess
    BbTailKind most_kind;
    guint32 most;
};

static gint by_slowness(gconstpointer a, gconstpointer b)
{
    const BbTailRecord *x = *(BbTailRecord *const *)a, *y = *(BbTailRecord *const *)b;
    if (x->latency_ns != y->latency_ns)
        return x->latency_ns > y->latency_ns ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

// Mean of the slow, and of the others: all less the slow, as far as these stand for more.
static BbTailPair means(const Comparison *c, double slow, double all)
{
    double rest = all - slow * c->scale;
    return (BbTailPair){slow / c->n_slow, MAX(rest, 0) / c->rest};
}

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static Contrast contrast(const Comparison *c, guint32 context)
{
    const BbTailSums *slow = &c->slow[context];
    const BbTailSums *all = &g_array_index(c->tail->sums, BbTailContext, context).sums;
    Contrast contrast = {
        .present = means(c, (double)slow->present, (double)all->present),
        .errors = means(c, (double)slow->errors, (double)all->errors),
        .gap_ns = means(c, (double)slow->gap_ns, (double)all->gap_ns),
        .own_ns = means(c, (double)slow->own_ns, (double)all->own_ns),
        .wire_ns = means(c, (double)slow->wire_ns, (double)all->wire_ns),
    };
    BbTailPair calls = means(c, (double)slow->calls, (double)all->calls);
    contrast.calls.slow = ratio(calls.slow, contrast.present.slow);
    contrast.calls.rest = ratio(calls.rest, contrast.present.rest);
    return contrast;
}

static bool is_more(BbTailPair present, double n_slow)
{
    return present.slow >= TIMES_MORE * present.rest &&
           (present.slow - present.rest) * n_slow >= SLOW_MORE;
}

// Whether the calls themselves differ; then in *kind, how.
static bool calls_differ(const Comparison *c, const Contrast *contrast, BbTailKind *kind)
{
    BbTailPair present = contrast->present;
    if (is_more(present, c->n_slow))
        *kind = BB_TAIL_EXTRA;
    else if (is_more((BbTailPair){present.rest, present.slow}, c->n_slow))
        *kind = BB_TAIL_MISSING;
    else if (present.slow * c->n_slow >= SLOW_MORE &&
             contrast->calls.slow >= REPEATED * contrast->calls.rest)
        *kind = BB_TAIL_REPEATED;
    else
        return false;
    return true;
}

static BbTailPair sum_pairs(BbTailPair a, BbTailPair b)
{
    return (BbTailPair){a.slow + b.slow, a.rest + b.rest};
}

// Nodes above the context, the client last; the caller frees.
static guint32 *callers_of(const Comparison *c, guint32 context, guint *count)
{
    GArray *callers = g_array_new(FALSE, FALSE, sizeof(guint32));
    guint32 above = bb_contexts_at(c->tail->contexts, context)->above;
    while (above != BB_CONTEXT_NONE) {
        const BbContext *caller = bb_contexts_at(c->tail->contexts, above);
        g_array_append_val(callers, caller->node);
        above = caller->above;
    }
    *count = callers->len;
    return (guint32 *)(void *)g_array_free(callers, FALSE);
}

// Appends a cause and returns it; NULL where it is not worth a word.
static BbTailCause *add_cause(const Comparison *c, BbTailRoot *root, guint32 context,
                              BbTailKind kind, const Contrast *contrast, BbTailPair ns)
{
    const BbContext *called = bb_contexts_at(c->tail->contexts, context);
    double excess_ns = root->latency_ns.slow - root->latency_ns.rest;
    BbTailCause cause = {.kind = kind,
                         .node = called->node,
                         .op = called->op,
                         .unanswered = called->unanswered,
                         .ns = ns,
                         .present = contrast->present,
                         .calls = contrast->calls,
                         .excess_ns = ns.slow - ns.rest};
    if (kind >= BB_TAIL_GAP && fabs(cause.excess_ns) <= SHARE_LEAST * excess_ns)
        return NULL;
    cause.callers = callers_of(c, context, &cause.n_callers);
    g_array_append_val(root->causes, cause);
    return &g_array_index(root->causes, BbTailCause, root->causes->len - 1);
}

static void add_errors(const Comparison *c, BbTailRoot *root, guint32 context,
                       const Contrast *contrast)
{
    if (!is_more(contrast->errors, c->n_slow))
        return;
    const BbContext *called = bb_contexts_at(c->tail->contexts, context);
    BbTailErrors errors = {.node = called->node, .op = called->op, .present = contrast->errors};
    errors.callers = callers_of(c, context, &errors.n_callers);
    g_array_append_val(root->errors, errors);
}

// Of the times of a context that is under the change.
static void note_most(Change *change, guint32 context, const Contrast *contrast)
{
    const BbTailPair times[] = {contrast->gap_ns, contrast->own_ns, contrast->wire_ns};
    for (guint i = 0; i < G_N_ELEMENTS(times); i++) {
        double excess_ns = times[i].slow - times[i].rest;
        if (fabs(excess_ns) <= fabs(change->most_ns))
            continue;
        change->most_ns = excess_ns;
        change->most_kind = BB_TAIL_GAP + i;
        change->most = context;
    }
}

static void add_change(const Comparison *c, BbTailRoot *root, guint32 context, const Change *change)
{
    const BbContext *most = bb_contexts_at(c->tail->contexts, change->most);
    BbTailCause *cause = add_cause(c, root, context, change->kind, &change->contrast, change->ns);
    cause->most_kind = change->most_kind;
    cause->most_node = most->node;
    cause->most_op = most->op;
    cause->most_unanswered = most->unanswered;
    cause->most_ns = change->most_ns;
}

// Contexts come after those above them; the first one is that of the group.
static void sum_up(const Comparison *c, const guint32 *contexts, guint32 n_contexts,
                   Change *changes)
{
    g_autoptr(GHashTable) place = g_hash_table_new(NULL, NULL);
    for (guint32 i = 0; i < n_contexts; i++) {
        guint32 above = bb_contexts_at(c->tail->contexts, contexts[i])->above;
        Contrast now = contrast(c, contexts[i]);
        changes[i] = (Change){.contrast = now,
                              .above = g_hash_table_lookup(place, GUINT_TO_POINTER(above)),
                              .most = contexts[i],
                              .ns = sum_pairs(sum_pairs(now.gap_ns, now.own_ns), now.wire_ns)};
        g_hash_table_insert(place, GUINT_TO_POINTER(contexts[i]), &changes[i]);
    }
    for (guint32 i = n_contexts; i-- > 0;)
        if (changes[i].above)
            changes[i].above->ns = sum_pairs(changes[i].above->ns, changes[i].ns);
}

// Whether it is the call as such that makes the difference: who is slow though it makes less of it
// is slow for what happens there.
static bool makes_it(const Comparison *c, Change *change)
{
    return calls_differ(c, &change->contrast, &change->kind) &&
           !(change->kind == BB_TAIL_MISSING && change->ns.slow > change->ns.rest);
}

// The times of a call that differs as such go together with those of all that it leads to.
static void find_causes(const Comparison *c, BbTailRoot *root, const guint32 *contexts,
                        guint32 n_contexts)
{
    g_autofree Change *changes = g_new0(Change, n_contexts);
    sum_up(c, contexts, n_contexts, changes);
    for (guint32 i = 0; i < n_contexts; i++) {
        Change *change = &changes[i];
        const Contrast *now = &change->contrast;
        add_errors(c, root, contexts[i], now);
        change->top = change->above ? change->above->top : NULL;
        if (!change->top && i > 0 && makes_it(c, change))
            change->top = change;
        if (change->top) {
            note_most(change->top, contexts[i], now);
            continue;
        }
        add_cause(c, root, contexts[i], BB_TAIL_GAP, now, now->gap_ns);
        add_cause(c, root, contexts[i], BB_TAIL_OWN, now, now->own_ns);
        add_cause(c, root, contexts[i], BB_TAIL_WIRE, now, now->wire_ns);
    }
    for (guint32 i = 0; i < n_contexts; i++)
        if (changes[i].top == &changes[i])
            add_change(c, root, contexts[i], &changes[i]);
}

static gint by_number(gconstpointer a, gconstpointer b)
{
    guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
    return (x > y) - (x < y);
}

static void find_patterns(const Comparison *c, BbTailRoot *root)
{
    g_autoptr(GArray) seen = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 i = 0; i < c->n_slow; i++) {
        const BbTailRecord *record = g_ptr_array_index(c->group->slowest, i);
        if (record->pattern != BB_PATTERN_NONE)
            g_array_append_val(seen, record->pattern);
    }
    g_array_sort(seen, by_number);
    for (guint i = 0, end; i < seen->len; i = end) {
        guint32 pattern = g_array_index(seen, guint32, i);
        for (end = i + 1; end < seen->len && g_array_index(seen, guint32, end) == pattern;)
            end++;
        double all = (double)g_array_index(c->tail->patterns, guint64, pattern);
        BbTailPattern found = {pattern, means(c, end - i, all)};
        if (is_more(found.present, c->n_slow))
            g_array_append_val(root->patterns, found);
    }
}

// ---- order -------------------------------------------------------------------------------------

static gint compare_names(const BbNames *names, guint32 a, guint32 b)
{
    return a == b ? 0 : strcmp(bb_names_text(names, a), bb_names_text(names, b));
}

static gint compare_callers(const BbNames *names, const guint32 *a, guint n_a, const guint32 *b,
                            guint n_b)
{
    gint order = 0;
    for (guint i = 0; !order && i < MIN(n_a, n_b); i++)
        order = compare_names(names, a[i], b[i]);
    return order ? order : (n_a > n_b) - (n_a < n_b);
}

static gint falling(double a, double b)
{
    return (a < b) - (a > b);
}

static gint by_excess(gconstpointer a, gconstpointer b, gpointer names)
{
    const BbTailCause *x = a, *y = b;
    gint order = falling(x->excess_ns, y->excess_ns);
    order = order ? order : compare_names(names, x->node, y->node);
    order = order ? order : compare_names(names, x->op, y->op);
    order =
        order ? order : compare_callers(names, x->callers, x->n_callers, y->callers, y->n_callers);
    order = order ? order : x->unanswered - y->unanswered;
    return order ? order : (gint)x->kind - (gint)y->kind;
}

static double gain(BbTailPair present)
{
    return present.slow - present.rest;
}

static gint by_errors(gconstpointer a, gconstpointer b, gpointer names)
{
    const BbTailErrors *x = a, *y = b;
    gint order = falling(gain(x->present), gain(y->present));
    order = order ? order : compare_names(names, x->node, y->node);
    order = order ? order : compare_names(names, x->op, y->op);
    return order ? order
                 : compare_callers(names, x->callers, x->n_callers, y->callers, y->n_callers);
}

static gint by_gain(gconstpointer a, gconstpointer b)
{
    const BbTailPattern *x = a, *y = b;
    gint order = falling(gain(x->present), gain(y->present));
    return order ? order : (x->pattern > y->pattern) - (x->pattern < y->pattern);
}

static double cost(const BbTailRoot *root)
{
    return gain(root->latency_ns) * (double)root->slow / root->sampled;
}

static gint by_cost(gconstpointer a, gconstpointer b, gpointer names)
{
    const BbTailRoot *x = *(BbTailRoot *const *)a, *y = *(BbTailRoot *const *)b;
    gint order = falling(cost(x), cost(y));
    order = order ? order : compare_names(names, x->client, y->client);
    order = order ? order : compare_names(names, x->node, y->node);
    return order ? order : compare_names(names, x->op, y->op);
}

// ---- findings ----------------------------------------------------------------------------------

static void clear_cause(gpointer cause)
{
    g_free(((BbTailCause *)cause)->callers);
}

static void clear_errors(gpointer errors)
{
    g_free(((BbTailErrors *)errors)->callers);
}

static void free_root(gpointer data)
{
    BbTailRoot *root = data;
    g_array_unref(root->causes);
    g_array_unref(root->errors);
    g_array_unref(root->patterns);
    g_free(root);
}

// The slowest first; sums up those that are slow.
static void sum_slow(Comparison *c, BbTailRoot *root)
{
    double latency_ns = 0, open = 0;
    memcpy(root->slowest, c->group->named, sizeof root->slowest);
    g_ptr_array_sort(c->group->slowest, by_slowness);
    for (guint32 r = 0; r < c->n_slow; r++) {
        const BbTailRecord *record = g_ptr_array_index(c->group->slowest, r);
        latency_ns += (double)record->latency_ns;
        open += record->open;
        root->least_ns = record->latency_ns;
        for (guint32 i = 0; i < record->n_entries; i++)
            bb_tail_add_sums(&c->slow[record->entries[i].context], &record->entries[i].sums);
    }
    root->latency_ns = means(c, latency_ns, c->group->latency_ns);
    root->open = means(c, open, c->group->open);
}

static BbTailRoot *compare(Comparison *c, const guint32 *contexts, guint32 n_contexts)
{
    const BbContext *first = bb_contexts_at(c->tail->contexts, c->group->context);
    BbTailRoot *root = g_new0(BbTailRoot, 1);
    root->client = bb_contexts_at(c->tail->contexts, first->above)->node;
    root->node = first->node;
    root->op = first->op;
    root->instances = c->group->instances;
    root->slow = c->n_slow;
    root->sampled = 1 / c->scale;
    root->causes = g_array_new(FALSE, FALSE, sizeof(BbTailCause));
    root->errors = g_array_new(FALSE, FALSE, sizeof(BbTailErrors));
    root->patterns = g_array_new(FALSE, FALSE, sizeof(BbTailPattern));
    g_array_set_clear_func(root->causes, clear_cause);
    g_array_set_clear_func(root->errors, clear_errors);
    sum_slow(c, root);
    find_causes(c, root, contexts, n_contexts);
    find_patterns(c, root);
    g_array_sort_with_data(root->causes, by_excess, (gpointer)c->tail->names);
    g_array_sort_with_data(root->errors, by_errors, (gpointer)c->tail->names);
    g_array_sort(root->patterns, by_gain);
    return root;
}

static void compare_groups(const BbTail *tail, BbTailFindings *findings)
{
    guint32 count = bb_contexts_count(tail->contexts);
    g_auto(BbGroups) under = bb_tail_by_first_call(tail);
    g_autofree BbTailSums *slow = g_new0(BbTailSums, (gsize)count + 1);
    for (guint i = 0; i < tail->groups->len; i++) {
        const BbTailGroup *group = g_ptr_array_index(tail->groups, i);
        guint64 n_slow = MIN(bb_tail_slow(tail, group->taken), group->slowest->len);
        if (group->taken < 2 * n_slow || n_slow < BB_TAIL_LEAST)
            continue;
        double scale = (double)group->instances / (double)group->taken;
        Comparison c = {
            tail, group, (guint32)n_slow, scale, (double)group->instances - (double)n_slow * scale,
            slow};
        g_ptr_array_add(findings->compared, compare(&c, bb_groups_at(&under, group->context),
                                                    bb_groups_size(&under, group->context)));
    }
    g_ptr_array_sort_with_data(findings->compared, by_cost, (gpointer)tail->names);
}

BbTailFindings *bb_tail_finish(BbTail *tail)
{
    BbTailFindings *findings = g_new0(BbTailFindings, 1);
    findings->quantile = tail->options.quantile;
    findings->roots = tail->groups->len;
    findings->forgotten = tail->forgotten;
    findings->forgotten_instances = tail->forgotten_instances;
    findings->compared = g_ptr_array_new_with_free_func(free_root);
    compare_groups(tail, findings);
    return findings;
}

void bb_tail_findings_free(BbTailFindings *findings)
{
    if (!findings)
        return;
    g_ptr_array_unref(findings->compared);
    g_free(findings);
}
