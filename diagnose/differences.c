// SPDX-License-Identifier: Apache-2.0
// In: what requests do in each context, on two sides. Out: in what they differ, and how much of the
// excess each difference makes.
#include "diagnose/differences.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// An extra call is in so many times more of the ones: less than 2, as of two replicas one has
// half of the requests, give or take a few;
#define TIMES_MORE 1.5
#define MORE 3.0     // and in so many more of them than by the others' share
#define REPEATED 1.5 // a repeated call comes so many times as often

// One context in the ones and in the others.
typedef struct {
    BbPair present, calls, errors; // shares of the requests; calls in those; shares
    BbPair ns[BB_REQUEST_TIMES];
} Contrast;

// A context whose calls may differ as such.
typedef struct Change Change;
struct Change {
    Change *above; // NULL: it is the first, or that one is not known
    Change *top;   // itself, or the one above that differs; NULL for neither
    Contrast contrast;
    BbDifferenceKind kind;
    BbPair ns;      // of all that it leads to,
    double most_ns; // and what makes most of its excess
    BbDifferenceKind most_kind;
    guint32 most;
};

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static Contrast contrast_at(const BbSides *sides, guint32 at)
{
    const BbContextMeans *one = &sides->one[at], *other = &sides->other[at];
    Contrast contrast = {
        .present = {one->present, other->present},
        .calls = {ratio(one->calls, one->present), ratio(other->calls, other->present)},
        .errors = {one->errors, other->errors},
    };
    for (guint i = 0; i < BB_REQUEST_TIMES; i++)
        contrast.ns[i] = (BbPair){one->ns[i], other->ns[i]};
    return contrast;
}

bool bb_differences_is_more(BbPair present, double requests)
{
    return present.one >= TIMES_MORE * present.other &&
           (present.one - present.other) * requests >= MORE;
}

// Whether the calls themselves differ; then in *kind, how.
static bool calls_differ(const BbSides *sides, const Contrast *contrast, BbDifferenceKind *kind)
{
    BbPair present = contrast->present;
    if (bb_differences_is_more(present, sides->requests))
        *kind = BB_DIFFERENCE_EXTRA;
    else if (bb_differences_is_more((BbPair){present.other, present.one}, sides->requests))
        *kind = BB_DIFFERENCE_MISSING;
    else if (present.one * sides->requests >= MORE &&
             contrast->calls.one >= REPEATED * contrast->calls.other)
        *kind = BB_DIFFERENCE_REPEATED;
    else if (present.other * sides->requests >= MORE &&
             contrast->calls.other >= REPEATED * contrast->calls.one)
        *kind = BB_DIFFERENCE_FEWER;
    else
        return false;
    return true;
}

static BbPair sum_pairs(BbPair a, BbPair b)
{
    return (BbPair){a.one + b.one, a.other + b.other};
}

// Nodes above the context, the client last; the caller frees.
static guint32 *callers_of(const BbSides *sides, guint32 context, guint *count)
{
    GArray *callers = g_array_new(FALSE, FALSE, sizeof(guint32));
    guint32 above = bb_contexts_at(sides->contexts, context)->above;
    while (above != BB_CONTEXT_NONE) {
        const BbContext *caller = bb_contexts_at(sides->contexts, above);
        g_array_append_val(callers, caller->node);
        above = caller->above;
    }
    *count = callers->len;
    return (guint32 *)(void *)g_array_free(callers, FALSE);
}

// Appends a cause and returns it; NULL where it is not worth a word.
static BbDifference *add_cause(const BbSides *sides, BbDifferences *differences, guint32 context,
                               BbDifferenceKind kind, const Contrast *contrast, BbPair ns)
{
    const BbContext *called = bb_contexts_at(sides->contexts, context);
    BbDifference cause = {.kind = kind,
                          .context = context,
                          .node = called->node,
                          .op = called->op,
                          .unanswered = called->unanswered,
                          .ns = ns,
                          .present = contrast->present,
                          .calls = contrast->calls,
                          .excess_ns = ns.one - ns.other};
    if (kind >= BB_DIFFERENCE_TIMES && fabs(cause.excess_ns) <= sides->least_ns)
        return NULL;
    cause.callers = callers_of(sides, context, &cause.n_callers);
    g_array_append_val(differences->causes, cause);
    return &g_array_index(differences->causes, BbDifference, differences->causes->len - 1);
}

static void add_errors(const BbSides *sides, BbDifferences *differences, guint32 context,
                       const Contrast *contrast)
{
    BbPair present = contrast->errors, turned = {present.other, present.one};
    if (!bb_differences_is_more(present, sides->requests) &&
        !(sides->fewer_errors && bb_differences_is_more(turned, sides->requests)))
        return;
    const BbContext *called = bb_contexts_at(sides->contexts, context);
    BbErrorDifference errors = {
        .context = context, .node = called->node, .op = called->op, .present = present};
    errors.callers = callers_of(sides, context, &errors.n_callers);
    g_array_append_val(differences->errors, errors);
}

// Of the times of a context that is under the change.
static void note_most(Change *change, guint32 context, const Contrast *contrast)
{
    for (guint i = 0; i < BB_REQUEST_TIMES; i++) {
        double excess_ns = bb_pair_gain(contrast->ns[i]);
        if (fabs(excess_ns) <= fabs(change->most_ns))
            continue;
        change->most_ns = excess_ns;
        change->most_kind = BB_DIFFERENCE_TIMES + i;
        change->most = context;
    }
}

static void add_change(const BbSides *sides, BbDifferences *differences, guint32 context,
                       const Change *change)
{
    const BbContext *most = bb_contexts_at(sides->contexts, change->most);
    BbDifference *cause =
        add_cause(sides, differences, context, change->kind, &change->contrast, change->ns);
    cause->most_kind = change->most_kind;
    cause->most_node = most->node;
    cause->most_op = most->op;
    cause->most_unanswered = most->unanswered;
    cause->most_ns = change->most_ns;
}

// Contexts come after those above them; the first one is that of the group.
static void sum_up(const BbSides *sides, Change *changes)
{
    g_autoptr(GHashTable) place = g_hash_table_new(NULL, NULL);
    for (guint32 i = 0; i < sides->n; i++) {
        guint32 above = bb_contexts_at(sides->contexts, sides->list[i])->above;
        Contrast now = contrast_at(sides, i);
        changes[i] = (Change){.contrast = now,
                              .above = g_hash_table_lookup(place, GUINT_TO_POINTER(above)),
                              .most = sides->list[i]};
        for (guint time = 0; time < BB_REQUEST_TIMES; time++)
            changes[i].ns = sum_pairs(changes[i].ns, now.ns[time]);
        g_hash_table_insert(place, GUINT_TO_POINTER(sides->list[i]), &changes[i]);
    }
    for (guint32 i = sides->n; i-- > 0;)
        if (changes[i].above)
            changes[i].above->ns = sum_pairs(changes[i].above->ns, changes[i].ns);
}

// Whether it is the call as such that makes the difference: who is slow though it makes less of it
// is slow for what happens there.
static bool makes_it(const BbSides *sides, Change *change)
{
    if (!calls_differ(sides, &change->contrast, &change->kind))
        return false;
    bool less = change->kind == BB_DIFFERENCE_MISSING || change->kind == BB_DIFFERENCE_FEWER;
    return !less || change->ns.one <= change->ns.other;
}

// The times of a call that differs as such go together with those of all that it leads to.
static void find_causes(const BbSides *sides, BbDifferences *differences)
{
    g_autofree Change *changes = g_new0(Change, sides->n);
    sum_up(sides, changes);
    for (guint32 i = 0; i < sides->n; i++) {
        Change *change = &changes[i];
        const Contrast *now = &change->contrast;
        add_errors(sides, differences, sides->list[i], now);
        change->top = change->above ? change->above->top : NULL;
        if (!change->top && i > 0 && makes_it(sides, change))
            change->top = change;
        if (change->top) {
            note_most(change->top, sides->list[i], now);
            continue;
        }
        for (guint time = 0; time < BB_REQUEST_TIMES; time++)
            add_cause(sides, differences, sides->list[i], BB_DIFFERENCE_TIMES + time, now,
                      now->ns[time]);
    }
    for (guint32 i = 0; i < sides->n; i++)
        if (changes[i].top == &changes[i])
            add_change(sides, differences, sides->list[i], &changes[i]);
}

// ---- order -------------------------------------------------------------------------------------

static gint compare_callers(const BbNames *names, const guint32 *a, guint n_a, const guint32 *b,
                            guint n_b)
{
    gint order = 0;
    for (guint i = 0; !order && i < MIN(n_a, n_b); i++)
        order = bb_names_compare(names, a[i], b[i]);
    return order ? order : (n_a > n_b) - (n_a < n_b);
}

static gint by_excess(gconstpointer a, gconstpointer b, gpointer names)
{
    const BbDifference *x = a, *y = b;
    gint order = bb_compare_falling(x->excess_ns, y->excess_ns);
    order = order ? order : bb_names_compare(names, x->node, y->node);
    order = order ? order : bb_names_compare(names, x->op, y->op);
    order =
        order ? order : compare_callers(names, x->callers, x->n_callers, y->callers, y->n_callers);
    order = order ? order : x->unanswered - y->unanswered;
    return order ? order : (gint)x->kind - (gint)y->kind;
}

static gint by_errors(gconstpointer a, gconstpointer b, gpointer names)
{
    const BbErrorDifference *x = a, *y = b;
    gint order = bb_compare_falling(bb_pair_gain(x->present), bb_pair_gain(y->present));
    order = order ? order : bb_names_compare(names, x->node, y->node);
    order = order ? order : bb_names_compare(names, x->op, y->op);
    return order ? order
                 : compare_callers(names, x->callers, x->n_callers, y->callers, y->n_callers);
}

static void clear_cause(gpointer cause)
{
    g_free(((BbDifference *)cause)->callers);
}

static void clear_errors(gpointer errors)
{
    g_free(((BbErrorDifference *)errors)->callers);
}

BbDifferences bb_differences_find(const BbSides *sides)
{
    BbDifferences differences = {g_array_new(FALSE, FALSE, sizeof(BbDifference)),
                                 g_array_new(FALSE, FALSE, sizeof(BbErrorDifference))};
    g_array_set_clear_func(differences.causes, clear_cause);
    g_array_set_clear_func(differences.errors, clear_errors);
    find_causes(sides, &differences);
    g_array_sort_with_data(differences.causes, by_excess, (gpointer)sides->names);
    g_array_sort_with_data(differences.errors, by_errors, (gpointer)sides->names);
    return differences;
}

void bb_differences_clear(BbDifferences *differences)
{
    g_clear_pointer(&differences->causes, g_array_unref);
    g_clear_pointer(&differences->errors, g_array_unref);
}
