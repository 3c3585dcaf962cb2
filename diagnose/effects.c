// SPDX-License-Identifier: Apache-2.0
// In: the messages of a trace, and windows of an inference. Out: both causes of each message.
#include "diagnose/effects.h"

#include "data/keys.h"
#include "diagnose/causes.h"
#include "diagnose/forest.h"

// What an inference says of a message.
typedef struct {
    gint64 time_ns, stated_ns;
    guint32 sender, receiver, id;
    guint32 cause; // among the findings
    guint32 effect;
    float confidence;
} Finding;

BbEffects *bb_effects_new(void)
{
    BbEffects *effects = g_new0(BbEffects, 1);
    effects->effects = g_array_new(FALSE, FALSE, sizeof(BbEffect));
    effects->findings = g_array_new(FALSE, FALSE, sizeof(Finding));
    effects->numbers = g_hash_table_new_full(bb_id_key_hash, bb_id_key_equal, g_free, NULL);
    return effects;
}

void bb_effects_free(BbEffects *effects)
{
    if (!effects)
        return;
    g_array_unref(effects->effects);
    g_clear_pointer(&effects->findings, g_array_unref);
    g_clear_pointer(&effects->numbers, g_hash_table_unref);
    g_free(effects);
}

static Finding *finding_at(const BbEffects *effects, guint32 index)
{
    return &g_array_index(effects->findings, Finding, index);
}

// ---- collecting ---------------------------------------------------------------------------------

static guint32 number_of(BbEffects *effects, BbId id)
{
    if (id.form == BB_ID_ABSENT)
        return BB_EFFECT_NO_ID;
    if (id.form == BB_ID_DASH)
        return BB_EFFECT_ROOT_ID;
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(effects->numbers, &id));
    if (number == 0) {
        number = g_hash_table_size(effects->numbers) + 1;
        g_hash_table_insert(effects->numbers, g_memdup2(&id, sizeof id), GUINT_TO_POINTER(number));
    }
    return number;
}

void bb_effects_push(BbEffects *effects, const BbMessage *message)
{
    BbEffect effect = {
        .sent_ns = message->time_ns,
        .arrived_ns = message->recv_ns != BB_TIME_NONE ? message->recv_ns : message->time_ns,
        .stated_ns = BB_TIME_NONE,
        .sender = message->sender,
        .receiver = message->receiver,
        .id = number_of(effects, message->id),
        .path = number_of(effects, message->path),
        .parent = number_of(effects, message->parent),
        .real = BB_EFFECT_NONE,
        .found = BB_EFFECT_NONE,
        .confidence = BB_CONFIDENCE_NONE,
        .kind = (guint8)message->kind,
        .at_receiver = message->at_receiver,
    };
    g_array_append_val(effects->effects, effect);
}

void bb_effects_add(BbEffects *effects, const BbPaths *paths)
{
    guint32 first = effects->findings->len;
    for (guint32 i = 0; i < paths->n_calls; i++) {
        const BbCall *call = &paths->calls[i];
        bool has_mode = paths->mode && paths->mode[i] != BB_MODE_NONE;
        bool is_root = paths->parent[i] == BB_CALL_NO_PARENT;
        Finding finding = {
            .time_ns = call->call_ns,
            .stated_ns = has_mode ? paths->modes[paths->mode[i]].delay_ns : BB_TIME_NONE,
            .sender = call->caller,
            .receiver = call->callee,
            .id = number_of(effects, call->id),
            .cause = is_root ? BB_EFFECT_NONE : first + paths->parent[i],
            .effect = BB_EFFECT_NONE,
            .confidence = paths->confidence[i],
        };
        g_array_append_val(effects->findings, finding);
    }
}

// ---- sightings ----------------------------------------------------------------------------------

static int order_of(guint64 a, guint64 b)
{
    return (a > b) - (a < b);
}

static int compare_kinds(const BbEffect *a, const BbEffect *b)
{
    if (a->sender != b->sender)
        return order_of(a->sender, b->sender);
    if (a->receiver != b->receiver)
        return order_of(a->receiver, b->receiver);
    return a->kind != b->kind ? order_of(a->kind, b->kind) : order_of(a->id, b->id);
}

static int compare_sightings(gconstpointer a, gconstpointer b, gpointer user)
{
    guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
    const BbEffect *x = bb_effects_at(user, i), *y = bb_effects_at(user, j);
    int order = compare_kinds(x, y);
    if (order != 0)
        return order;
    if (x->at_receiver != y->at_receiver)
        return x->at_receiver ? 1 : -1;
    if (x->sent_ns != y->sent_ns)
        return x->sent_ns < y->sent_ns ? -1 : 1;
    return order_of(i, j);
}

// The caller frees.
static guint32 *sorted_indices(guint32 n, GCompareDataFunc compare, gpointer user)
{
    guint32 *sorted = g_new(guint32, n);
    for (guint32 i = 0; i < n; i++)
        sorted[i] = i;
    if (n > 1)
        g_qsort_with_data(sorted, (gint)n, sizeof *sorted, compare, user);
    return sorted;
}

// Of sightings that nothing tells apart but their times, the k-th at either side are one message.
static void join_run(BbEffects *effects, const guint32 *run, guint32 count, bool *gone)
{
    guint32 sent = 0;
    while (sent < count && !bb_effects_at(effects, run[sent])->at_receiver)
        sent++;
    for (guint32 k = 0; k < sent && sent + k < count; k++) {
        BbEffect *message = bb_effects_at(effects, run[k]);
        const BbEffect *second = bb_effects_at(effects, run[sent + k]);
        message->arrived_ns = second->sent_ns;
        if (message->path == BB_EFFECT_NO_ID)
            message->path = second->path;
        if (message->parent == BB_EFFECT_NO_ID)
            message->parent = second->parent;
        gone[run[sent + k]] = true;
    }
}

static bool any_at_receiver(const BbEffects *effects)
{
    for (guint32 i = 0; i < effects->effects->len; i++)
        if (bb_effects_at(effects, i)->at_receiver)
            return true;
    return false;
}

static void join_sightings(BbEffects *effects)
{
    if (!any_at_receiver(effects))
        return;
    guint32 n = effects->effects->len, kept = 0;
    g_autofree guint32 *sorted = sorted_indices(n, compare_sightings, effects);
    g_autofree bool *gone = g_new0(bool, n);
    for (guint32 i = 0, end; i < n; i = end) {
        const BbEffect *first = bb_effects_at(effects, sorted[i]);
        for (end = i + 1;
             end < n && compare_kinds(first, bb_effects_at(effects, sorted[end])) == 0;)
            end++;
        join_run(effects, sorted + i, end - i, gone);
    }
    for (guint32 i = 0; i < n; i++)
        if (!gone[i])
            *bb_effects_at(effects, kept++) = *bb_effects_at(effects, i);
    g_array_set_size(effects->effects, kept);
}

// ---- findings -----------------------------------------------------------------------------------

static Finding key_of(const BbEffect *effect)
{
    return (Finding){.time_ns = effect->sent_ns,
                     .sender = effect->sender,
                     .receiver = effect->receiver,
                     .id = effect->id};
}

static int compare_keys(const Finding *a, const Finding *b)
{
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    if (a->sender != b->sender)
        return order_of(a->sender, b->sender);
    return a->receiver != b->receiver ? order_of(a->receiver, b->receiver) : order_of(a->id, b->id);
}

static int compare_effects(gconstpointer a, gconstpointer b, gpointer user)
{
    guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
    Finding x = key_of(bb_effects_at(user, i)), y = key_of(bb_effects_at(user, j));
    int order = compare_keys(&x, &y);
    return order ? order : order_of(i, j);
}

static int compare_findings(gconstpointer a, gconstpointer b, gpointer user)
{
    guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
    int order = compare_keys(finding_at(user, i), finding_at(user, j));
    return order ? order : order_of(i, j);
}

static void match(BbEffects *effects)
{
    guint32 n = effects->effects->len, n_findings = effects->findings->len;
    g_autofree guint32 *by_key = sorted_indices(n, compare_effects, effects);
    g_autofree guint32 *found = sorted_indices(n_findings, compare_findings, effects);
    for (guint32 i = 0, k = 0; i < n && k < n_findings;) {
        Finding key = key_of(bb_effects_at(effects, by_key[i]));
        Finding *finding = finding_at(effects, found[k]);
        int order = compare_keys(&key, finding);
        if (order == 0)
            finding->effect = by_key[i];
        i += order <= 0;
        k += order >= 0;
    }
}

static void take_findings(BbEffects *effects)
{
    match(effects);
    for (guint32 k = 0; k < effects->findings->len; k++) {
        const Finding *finding = finding_at(effects, k);
        if (finding->effect == BB_EFFECT_NONE)
            continue;
        BbEffect *effect = bb_effects_at(effects, finding->effect);
        effect->confidence = finding->confidence;
        if (finding->cause == BB_EFFECT_NONE)
            continue;
        effect->stated_ns = finding->stated_ns;
        effect->found = finding_at(effects, finding->cause)->effect;
    }
}

// ---- the whole ----------------------------------------------------------------------------------

// Truth that goes round in circles is none.
static void leave_out_circles(BbEffects *effects)
{
    guint32 n = effects->effects->len;
    g_autofree guint32 *cause = g_new(guint32, n), *order = g_new(guint32, n);
    for (guint32 i = 0; i < n; i++)
        cause[i] = bb_effects_at(effects, i)->real;
    for (guint32 k = bb_forest_order(cause, n, order); k < n; k++) {
        BbEffect *effect = bb_effects_at(effects, order[k]);
        effect->truth = BB_EFFECT_UNTOLD;
        effect->real = BB_EFFECT_NONE;
        effects->circular++;
    }
}

void bb_effects_settle(BbEffects *effects)
{
    join_sightings(effects);
    take_findings(effects);
    g_clear_pointer(&effects->findings, g_array_unref);
    g_clear_pointer(&effects->numbers, g_hash_table_unref);
    bb_causes_find(effects);
    leave_out_circles(effects);
    for (guint32 i = 0; i < effects->effects->len; i++)
        effects->untold += bb_effects_at(effects, i)->truth == BB_EFFECT_UNTOLD;
}
