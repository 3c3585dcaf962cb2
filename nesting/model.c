// SPDX-License-Identifier: Apache-2.0
// In: a site with an assignment. Out: how likely a parent is to have some children.
#include "nesting/model.h"

#include "nesting/copula.h"
#include "nesting/onset.h"
#include "nesting/own.h"
#include "nesting/signatures.h"

#include <math.h>
#include <string.h>

enum { FROM_START, FROM_LATEST, FROM_EVENT, FROM_CALL, REFERENCES };

#define ORDERS 3u
#define COUNT_MAX 8u
#define RARE 0.1 // imagined samples of each event that a slot could count from

// What a gap is measured from: when, and which kind of event (0: the parent's arrival; then
// returns by type of child, then calls by type of child; then that all is there, at a join; last
// the parent's own return).
typedef struct {
    gint64 at;
    guint what;
} Event;

typedef struct {
    guint16 number;                  // of all slots, from 1
    guint reference;                 // the model in use
    double n;                        // samples
    double spread;                   // samples and imagined ones, of all events
    double late;                     // of them, children that outlast their parent
    float on_time, overdue;          // logs of the two shares
    BbDensity **density[REFERENCES]; // [what], NULL where never seen
    const BbDensity **used;          // [what], of the model in use
    float **normal;                  // [what]: quantiles of its bins, NULL where not used
    float *bias;                     // [what]: log of the event's probability
    float unseen;                    // the same for events never seen
} Slot;

struct BbModel {
    const BbGapScale *scale;
    bool is_join;
    guint np, nc, n_what; // types of parents, of children; of events
    Slot **slots;         // [(p * nc + c) * ORDERS + order], NULL where never seen
    Slot **ends;          // [p]
    double *n;            // [p] parents
    float *count;         // [(p * nc + c) * (COUNT_MAX + 1) + k]: log P(k children of type c)
    float *nothing;       // [p]: log P(no child of any type)
    float *more;          // like count: log P(one more of type c, when there are k)
    float *lone;          // [c]
    double *seen;         // [(p * nc + c) * (COUNT_MAX + 1) + k]: parents with k children of type c
    double *alone;        // [c]: children without parent
    BbSignatures *signatures;
    guint64 signature[BB_SITE_TYPES]; // of one child of each type
    BbCopula **copula;                // [p], NULL where gaps are independent
    BbCopula **made;                  // [p], NULL until wanted
    BbOwn *own;                       // what is left out of scores; NULL: nothing
};

BbModel *bb_model_new(const BbSite *site, const BbGapScale *scale)
{
    BbModel *model = g_new0(BbModel, 1);
    model->scale = scale;
    model->np = site->n_parent_types;
    model->nc = site->n_child_types;
    model->n_what = 2 * model->nc + 3;
    model->is_join = site->is_join;
    model->slots = g_new0(Slot *, model->np * model->nc * ORDERS);
    model->ends = g_new0(Slot *, model->np);
    model->n = g_new0(double, model->np);
    model->count = g_new0(float, model->np * model->nc * (COUNT_MAX + 1));
    model->more = g_new0(float, model->np * model->nc * (COUNT_MAX + 1));
    model->nothing = g_new0(float, model->np);
    model->lone = g_new0(float, model->nc);
    model->seen = g_new0(double, model->np * model->nc * (COUNT_MAX + 1));
    model->alone = g_new0(double, model->nc);
    model->signatures = bb_signatures_new();
    bb_signatures_reset(model->signatures, model->np);
    for (guint c = 0; c < model->nc; c++)
        model->signature[c] = bb_signature_with(0, c);
    model->copula = g_new0(BbCopula *, model->np);
    model->made = g_new0(BbCopula *, model->np);
    return model;
}

static void slot_free(Slot *slot, guint n_what)
{
    if (!slot)
        return;
    for (guint r = 0; r < REFERENCES; r++) {
        for (guint w = 0; w < n_what; w++)
            g_free(slot->density[r][w]);
        g_free(slot->density[r]);
    }
    for (guint w = 0; w < n_what; w++)
        g_free(slot->normal[w]);
    g_free(slot->normal);
    g_free(slot->used);
    g_free(slot->bias);
    g_free(slot);
}

void bb_model_free(BbModel *model)
{
    if (!model)
        return;
    for (guint i = 0; i < model->np * model->nc * ORDERS; i++)
        slot_free(model->slots[i], model->n_what);
    for (guint p = 0; p < model->np; p++) {
        slot_free(model->ends[p], model->n_what);
        bb_copula_free(model->made[p]);
    }
    g_free(model->copula);
    g_free(model->made);
    g_free(model->slots);
    g_free(model->ends);
    g_free(model->n);
    g_free(model->count);
    g_free(model->nothing);
    g_free(model->more);
    g_free(model->lone);
    g_free(model->seen);
    g_free(model->alone);
    bb_signatures_free(model->signatures);
    bb_own_free(model->own);
    g_free(model);
}

void bb_model_leave_out(BbModel *model, const BbSite *site, bool gaps)
{
    bb_own_free(model->own);
    model->own = bb_own_new(site, gaps);
}

static Slot *slot_at(BbModel *model, Slot **place, guint number)
{
    if (!*place) {
        Slot *slot = *place = g_new0(Slot, 1);
        slot->number = (guint16)(1 + number);
        for (guint r = 0; r < REFERENCES; r++)
            slot->density[r] = g_new0(BbDensity *, model->n_what);
        slot->used = g_new0(const BbDensity *, model->n_what);
        slot->normal = g_new0(float *, model->n_what);
        slot->bias = g_new0(float, model->n_what);
    }
    return *place;
}

static guint slot_index(const BbModel *model, guint p, guint c, guint order)
{
    return (p * model->nc + c) * ORDERS + MIN(order, ORDERS - 1);
}

static Slot *kid_slot(BbModel *model, guint p, guint c, guint order)
{
    guint index = slot_index(model, p, c, order);
    return slot_at(model, &model->slots[index], index);
}

static Slot *end_slot(BbModel *model, guint p)
{
    return slot_at(model, &model->ends[p], model->np * model->nc * ORDERS + p);
}

// ---- events ------------------------------------------------------------------------------------

// The latest of the parent's arrival and the returns, up to time `at`, of the kids before the n-th.
// A call made after its parent's return (write-behind) counts from that. At a join, all being
// there is such an event.
static inline Event latest_return(const BbModel *model, const BbSite *site,
                                  const BbSiteParent *parent, const guint32 *kids, guint32 n,
                                  gint64 at)
{
    Event event = {parent->s, 0};
    if (model->is_join && at >= parent->ready && parent->ready > parent->s)
        event = (Event){parent->ready, model->n_what - 2};
    for (guint32 j = 0; j < n; j++) {
        const BbSiteChild *y = &site->children[kids[j]];
        if (y->e <= at && y->e >= event.at)
            event = (Event){y->e, 1u + y->type};
    }
    if (G_UNLIKELY(at > parent->e) && parent->e >= event.at)
        event = (Event){parent->e, model->n_what - 1};
    return event;
}

static inline Event latest_event(const BbModel *model, const BbSite *site, Event latest,
                                 const guint32 *kids, guint32 n)
{
    if (n == 0)
        return latest;
    const BbSiteChild *y = &site->children[kids[n - 1]];
    return y->s >= latest.at ? (Event){y->s, 1u + model->nc + y->type} : latest;
}

static inline Event latest_call(const BbModel *model, const BbSite *site,
                                const BbSiteParent *parent, const guint32 *kids, guint32 n,
                                gint64 at)
{
    return latest_event(model, site, latest_return(model, site, parent, NULL, 0, at), kids, n);
}

// ---- scoring -----------------------------------------------------------------------------------

// A gap: where it stands, what it is measured from, and when it ends.
typedef struct {
    const Slot *slot; // NULL where never seen
    guint16 number;   // of the slot among those of its type of parent
    Event from;
    gint64 at;
    const BbOwnGap *own; // what it gave the model; NULL: nothing
} Gap;

// Where a gap under a reference stands in BbOwnGap: no slot knows both starts and calls.
static inline guint way_of(guint reference)
{
    return reference % BB_OWN_WAYS;
}

// Without what the gap gave the slot itself.
static double gap_log_without(const BbModel *model, const Gap *gap, guint bin)
{
    const Slot *slot = gap->slot;
    const BbDensity *density = slot->used[gap->from.what];
    guint16 bins[BB_OWN_SAMPLES];
    guint way = way_of(slot->reference), of_slot = 0, n = 0;
    for (guint i = 0; i < model->own->n; i++) {
        const BbOwnGap *own = &gap->own[i];
        of_slot += own->slot == slot->number;
        if (own->slot == slot->number && own->what[way] == gap->from.what)
            bins[n++] = own->bin[way];
    }
    double weight = model->own->weight, spread = slot->spread - of_slot * weight;
    if (!density)
        return (double)model->scale->floor_log[bin] + log(RARE / spread);
    if (of_slot == 0)
        return (double)(density->log[bin] + slot->bias[gap->from.what]);
    double like_it = MAX(density->n - n * weight, 0) + RARE;
    return log(bb_density_without(density, model->scale, bin, bins, n, weight) * like_it / spread);
}

static inline double gap_log(const BbModel *model, const Gap *gap)
{
    guint bin = bb_gap_bin(model->scale, gap->at - gap->from.at);
    if (!gap->slot)
        return (double)model->scale->floor_log[bin] - 5;
    const BbDensity *density = gap->slot->used[gap->from.what];
    if (gap->own && gap->slot->n >= BB_OWN_LEAST && (!density || density->few[bin] > 0))
        return gap_log_without(model, gap, bin);
    return density ? (double)(density->log[bin] + gap->slot->bias[gap->from.what])
                   : (double)(model->scale->floor_log[bin] + gap->slot->unseen);
}

// Whether a child outlasts its parent, or is even made after it: rare or usual in its slot.
static inline double late_log(const Slot *slot, const BbSiteParent *parent, const BbSiteChild *x)
{
    if (!slot)
        return 0;
    return (double)(x->e > parent->e ? slot->overdue : slot->on_time);
}

static inline float gap_normal(const BbModel *model, const Gap *gap)
{
    const float *normal = gap->slot ? gap->slot->normal[gap->from.what] : NULL;
    return normal ? normal[bb_gap_bin(model->scale, gap->at - gap->from.at)] : 0;
}

static inline Gap kid_gap(const BbModel *model, const BbSite *site, const BbSiteParent *parent,
                          const guint32 *kids, guint32 i, guint order)
{
    const BbSiteChild *x = &site->children[kids[i]];
    guint number = slot_index(model, 0, x->type, order);
    const Slot *slot = model->slots[slot_index(model, parent->type, x->type, order)];
    Event from = {parent->s, 0};
    if (slot && slot->reference == FROM_CALL)
        from = latest_call(model, site, parent, kids, i, x->s);
    else if (G_UNLIKELY(x->s > parent->e) || (slot && slot->reference != FROM_START))
        from = latest_return(model, site, parent, kids, i, x->s);
    if (slot && slot->reference == FROM_EVENT)
        from = latest_event(model, site, from, kids, i);
    return (Gap){slot, (guint16)number, from, x->s, bb_own_gaps(model->own, site, kids[i])};
}

static inline Gap end_gap(const BbModel *model, const BbSite *site, const BbSiteParent *parent,
                          const guint32 *kids, guint32 n)
{
    const Slot *slot = model->ends[parent->type];
    Event from = {parent->s, n > 0};
    if (slot && slot->reference == FROM_LATEST)
        from = latest_return(model, site, parent, kids, n, parent->e);
    guint32 end = bb_own_end(site, (guint32)(parent - site->parents));
    return (Gap){slot, (guint16)(model->nc * ORDERS), from, parent->e,
                 bb_own_gaps(model->own, site, end)};
}

static double together_log(const BbModel *model, BbCopula *copula, const Gap *gaps, guint n)
{
    guint16 slots[BB_COPULA_MOST];
    float z[BB_COPULA_MOST];
    if (n > BB_COPULA_MOST)
        return 0;
    for (guint i = 0; i < n; i++) {
        slots[i] = gaps[i].number;
        z[i] = gap_normal(model, &gaps[i]);
        for (guint j = 0; j < i; j++)
            if (slots[j] == slots[i])
                return 0;
    }
    return bb_copula_log(copula, slots, z, n);
}

// log P(signature) among the other parents.
static double signature_log(const BbModel *model, const BbSite *site, guint32 index,
                            guint64 signature, double apart)
{
    guint16 type = site->parents[index].type;
    bool usual = model->n[type] >= BB_OWN_LEAST;
    const guint64 *own = usual ? bb_own_signatures(model->own, site, index) : NULL;
    guint n = own ? model->own->n : 0, same = 0;
    double weight = own ? model->own->weight : 0;
    for (guint i = 0; i < n; i++)
        same += own[i] == signature;
    return bb_signatures_log(model->signatures, type, signature, apart, n * weight, same * weight);
}

double bb_model_parent(const BbModel *model, const BbSite *site, guint32 index, const guint32 *kids,
                       guint32 n)
{
    const BbSiteParent *parent = &site->parents[index];
    guint8 seen[BB_SITE_TYPES];
    Gap gaps[BB_MODEL_NEAR + 2];
    memset(seen, 0, model->nc);
    const float *count = model->count + parent->type * model->nc * (COUNT_MAX + 1);
    double apart = (double)model->nothing[parent->type], sum = 0;
    guint64 signature = bb_signature_start(parent->type);
    for (guint32 i = 0; i < n; i++) {
        guint c = site->children[kids[i]].type, k = seen[c]++;
        const float *of = count + c * (COUNT_MAX + 1);
        if (k < COUNT_MAX)
            apart += (double)(of[k + 1] - of[k]);
        signature += model->signature[c];
        gaps[i] = kid_gap(model, site, parent, kids, i, k);
        sum += gap_log(model, &gaps[i]) + late_log(gaps[i].slot, parent, &site->children[kids[i]]);
    }
    gaps[n] = end_gap(model, site, parent, kids, n);
    sum += gap_log(model, &gaps[n]);
    if (model->copula[parent->type])
        sum += together_log(model, model->copula[parent->type], gaps, n + 1);
    return sum + signature_log(model, site, index, signature, apart);
}

// The gap of x after the last of some children; *order: how many of its type are among them.
static Gap next_gap(const BbModel *model, const BbSite *site, guint32 index, const guint32 *kids,
                    guint32 n, guint32 x, guint *order)
{
    guint32 all[BB_MODEL_NEAR + 1], from = n > BB_MODEL_NEAR ? n - BB_MODEL_NEAR : 0;
    *order = 0;
    for (guint32 i = from; i < n; i++) {
        all[i - from] = kids[i];
        *order += site->children[kids[i]].type == site->children[x].type;
    }
    all[n - from] = x;
    return kid_gap(model, site, &site->parents[index], all, n - from, *order);
}

double bb_model_gap(const BbModel *model, const BbSite *site, guint32 index, const guint32 *kids,
                    guint32 n, guint32 x)
{
    guint order;
    Gap gap = next_gap(model, site, index, kids, n, x, &order);
    return gap_log(model, &gap) + late_log(gap.slot, &site->parents[index], &site->children[x]);
}

double bb_model_next(const BbModel *model, const BbSite *site, guint32 index, const guint32 *kids,
                     guint32 n, guint32 x)
{
    guint order, p = site->parents[index].type, c = site->children[x].type;
    Gap gap = next_gap(model, site, index, kids, n, x, &order);
    const float *more = model->more + (p * model->nc + c) * (COUNT_MAX + 1);
    return gap_log(model, &gap) + late_log(gap.slot, &site->parents[index], &site->children[x]) +
           (double)more[MIN(order, COUNT_MAX)];
}

double bb_model_part(const BbModel *model, const BbSite *site, guint32 index, const guint32 *kids,
                     guint32 n, bool to_end)
{
    const BbSiteParent *parent = &site->parents[index];
    double sum = 0;
    for (guint32 i = 0; i < n; i++) {
        Gap gap = kid_gap(model, site, parent, kids, i, ORDERS - 1);
        sum += gap_log(model, &gap) + late_log(gap.slot, parent, &site->children[kids[i]]);
    }
    Gap end = end_gap(model, site, parent, kids, n);
    return to_end ? sum + gap_log(model, &end) : sum;
}

guint bb_model_slots(const BbSite *site)
{
    return site->n_parent_types * (site->n_child_types * ORDERS + 1);
}

guint bb_model_waits(const BbModel *model, const BbSite *site, guint32 index, const guint32 *kids,
                     guint32 n, BbWait *out)
{
    const BbSiteParent *parent = &site->parents[index];
    guint32 first = parent->type * (model->nc * ORDERS + 1);
    guint8 seen[BB_SITE_TYPES];
    bool leaves_out = model->own && model->own->site == site;
    memset(seen, 0, model->nc);
    for (guint32 i = 0; i <= n; i++) {
        guint32 number = i < n ? kids[i] : bb_own_end(site, index);
        Gap gap = i < n
                      ? kid_gap(model, site, parent, kids, i, seen[site->children[kids[i]].type]++)
                      : end_gap(model, site, parent, kids, n);
        guint32 slot = first + gap.number;
        out[i] = (BbWait){
            gap.from.at, gap.at, slot, gap.from.what, leaves_out ? number : BB_SITE_NONE, i == 0};
    }
    return n + 1;
}

double bb_model_wait_log(const BbModel *model, const BbWait *wait, gint64 at)
{
    guint per_type = model->nc * ORDERS + 1;
    guint p = wait->slot / per_type, number = wait->slot % per_type;
    const Slot *slot = number == model->nc * ORDERS ? model->ends[p]
                                                    : model->slots[p * model->nc * ORDERS + number];
    const BbOwnGap *own =
        wait->gap == BB_SITE_NONE ? NULL : bb_own_gaps(model->own, model->own->site, wait->gap);
    return gap_log(model, &(Gap){slot, (guint16)number, {wait->from, wait->event}, at, own});
}

double bb_model_lone(const BbModel *model, guint child_type)
{
    return (double)model->lone[child_type];
}

// ---- learning ----------------------------------------------------------------------------------

// own: where what it gives is noted; NULL: nowhere.
static void add_sample(BbModel *model, Slot *slot, guint reference, Event from, gint64 at,
                       double weight, BbOwnGap *own)
{
    BbDensity **density = &slot->density[reference][from.what];
    guint bin = bb_gap_bin(model->scale, at - from.at);
    if (!*density)
        *density = bb_density_new();
    bb_density_add(*density, bin, weight);
    if (!own)
        return;
    own->what[way_of(reference)] = (guint8)from.what;
    own->bin[way_of(reference)] = (guint16)bin;
}

// Where to note what a gap gives a slot in the assignment at hand.
static BbOwnGap *own_gap(BbModel *model, const BbSite *site, guint32 gap, const Slot *slot)
{
    BbOwnGap *own = bb_own_gaps(model->own, site, gap);
    if (!own)
        return NULL;
    own += model->own->n - 1;
    own->slot = slot->number;
    return own;
}

static void learn_gaps(BbModel *model, const BbSite *site, guint32 index, double weight)
{
    const BbSiteParent *parent = &site->parents[index];
    const BbKids *kids = &site->kids[index];
    guint32 seen[BB_SITE_TYPES] = {0};
    for (guint32 i = 0; i < kids->n; i++) {
        guint32 from = i > BB_MODEL_NEAR ? i - BB_MODEL_NEAR : 0;
        const BbSiteChild *x = &site->children[kids->at[i]];
        Slot *slot = kid_slot(model, parent->type, x->type, seen[x->type]++);
        BbOwnGap *own = own_gap(model, site, kids->at[i], slot);
        Event start = {parent->s, 0};
        Event latest = latest_return(model, site, parent, kids->at + from, i - from, x->s);
        Event event = latest_event(model, site, latest, kids->at + from, i - from);
        slot->n += weight;
        slot->late += x->e > parent->e ? weight : 0;
        add_sample(model, slot, FROM_EVENT, event, x->s, weight, own);
        if (model->is_join) {
            event = latest_call(model, site, parent, kids->at + from, i - from, x->s);
            add_sample(model, slot, FROM_CALL, event, x->s, weight, own);
            continue;
        }
        add_sample(model, slot, FROM_START, x->s > parent->e ? latest : start, x->s, weight, own);
        add_sample(model, slot, FROM_LATEST, latest, x->s, weight, own);
    }
    guint32 near = MIN(kids->n, BB_MODEL_NEAR);
    const guint32 *last = near > 0 ? kids->at + (kids->n - near) : NULL;
    Event start = {parent->s, kids->n > 0};
    Event latest = latest_return(model, site, parent, last, near, parent->e);
    Slot *end = end_slot(model, parent->type);
    BbOwnGap *own = own_gap(model, site, bb_own_end(site, index), end);
    end->n += weight;
    add_sample(model, end, FROM_START, start, parent->e, weight, own);
    add_sample(model, end, FROM_LATEST, latest, parent->e, weight, own);
}

static void forget_gaps(BbModel *model, Slot *slot)
{
    if (!slot)
        return;
    slot->n = 0;
    slot->late = 0;
    for (guint r = 0; r < REFERENCES; r++)
        for (guint w = 0; w < model->n_what; w++)
            if (slot->density[r][w])
                bb_density_reset(slot->density[r][w]);
}

// Events that a slot could count from under a model: what its probabilities are spread over.
static double events_of(const BbModel *model, guint reference, bool is_end)
{
    if (reference == FROM_START)
        return is_end ? 2 : 1;
    return (model->is_join ? 2 : 1) + (reference == FROM_EVENT ? 2 : 1) * model->nc;
}

static void choose_reference(BbModel *model, Slot *slot, bool is_end)
{
    slot->on_time = (float)log((slot->n - slot->late + 0.5) / (slot->n + 0.5));
    slot->overdue = (float)log((slot->late + 0.05) / (slot->n + 0.5));
    double best = -G_MAXDOUBLE;
    bool join = model->is_join && !is_end;
    guint first = join ? FROM_EVENT : FROM_START;
    for (guint r = first; r <= (join ? FROM_CALL : is_end ? FROM_LATEST : FROM_EVENT); r++) {
        double sum = 0, spread = slot->n + RARE * events_of(model, r, is_end);
        for (guint w = 0; w < model->n_what; w++) {
            BbDensity *density = slot->density[r][w];
            if (!density || density->n <= 0)
                continue;
            bb_density_fit(density, model->scale);
            sum += density->loo + density->n * log((density->n + RARE) / spread);
        }
        if (sum > best) {
            best = sum;
            slot->reference = r;
        }
    }
    slot->spread = slot->n + RARE * events_of(model, slot->reference, is_end);
    slot->unseen = (float)log(RARE / slot->spread);
    for (guint w = 0; w < model->n_what; w++) {
        BbDensity *density = slot->density[slot->reference][w];
        slot->used[w] = density && density->n > 0 ? density : NULL;
        slot->bias[w] =
            slot->used[w] ? (float)log((density->n + RARE) / slot->spread) : slot->unseen;
    }
}

static void make_normals(BbModel *model, Slot *slot)
{
    for (guint w = 0; slot && w < model->n_what; w++) {
        if (!slot->used[w]) {
            g_clear_pointer(&slot->normal[w], g_free);
            continue;
        }
        if (!slot->normal[w])
            slot->normal[w] = g_new(float, BB_GAP_BINS);
        bb_density_normal(slot->used[w], model->scale, slot->normal[w]);
    }
}

static void count_together(BbModel *model, const BbSite *site, guint32 index)
{
    const BbSiteParent *parent = &site->parents[index];
    const BbKids *kids = &site->kids[index];
    guint16 slots[BB_COPULA_MOST];
    float z[BB_COPULA_MOST];
    guint8 seen[BB_SITE_TYPES];
    if (kids->n == 0 || kids->n >= BB_COPULA_MOST)
        return;
    memset(seen, 0, model->nc);
    for (guint32 i = 0; i <= kids->n; i++) {
        Gap gap = i < kids->n ? kid_gap(model, site, parent, kids->at, i,
                                        seen[site->children[kids->at[i]].type]++)
                              : end_gap(model, site, parent, kids->at, i);
        slots[i] = gap.number;
        z[i] = gap_normal(model, &gap);
    }
    bb_copula_count(model->made[parent->type], slots, z, kids->n + 1);
}

static void learn_together(BbModel *model, const BbSite *site)
{
    guint32 n[BB_SITE_TYPES] = {0}; // parents
    for (guint32 i = 0; i < site->n_parents; i++)
        n[site->parents[i].type]++;
    for (guint p = 0; p < model->np; p++) {
        model->copula[p] = NULL;
        if (n[p] < BB_COPULA_PARENTS)
            continue;
        for (guint i = 0; i < model->nc * ORDERS; i++)
            make_normals(model, model->slots[p * model->nc * ORDERS + i]);
        make_normals(model, model->ends[p]);
        if (!model->made[p])
            model->made[p] = bb_copula_new(model->nc * ORDERS + 1);
        bb_copula_reset(model->made[p]);
    }
    for (guint32 i = 0; i < site->n_parents; i++)
        if (n[site->parents[i].type] >= BB_COPULA_PARENTS)
            count_together(model, site, i);
    for (guint p = 0; p < model->np; p++)
        if (n[p] >= BB_COPULA_PARENTS && bb_copula_fit(model->made[p]))
            model->copula[p] = model->made[p];
}

static void count_children(BbModel *model, const BbSite *site, guint32 index, double weight)
{
    guint p = site->parents[index].type, nc = model->nc;
    const BbKids *kids = &site->kids[index];
    guint32 each[BB_SITE_TYPES] = {0};
    guint64 signature = bb_signature_start(p);
    for (guint32 k = 0; k < kids->n; k++) {
        guint c = site->children[kids->at[k]].type;
        each[c]++;
        signature = bb_signature_with(signature, c);
    }
    for (guint c = 0; c < nc; c++)
        model->seen[(p * nc + c) * (COUNT_MAX + 1) + MIN(each[c], COUNT_MAX)] += weight;
    model->n[p] += weight;
    guint64 *own = bb_own_signatures(model->own, site, index);
    if (own)
        own[model->own->n - 1] = signature;
    bb_signatures_count(model->signatures, p, signature, weight);
}

// How often one more child follows when there are k, from how often there are how many.
static void find_more(const float *count, float *more)
{
    double beyond = exp((double)count[COUNT_MAX]);
    more[COUNT_MAX] = 0;
    for (guint k = COUNT_MAX; k-- > 0;) {
        double here = exp((double)count[k]);
        more[k] = (float)log(beyond / (beyond + here));
        beyond += here;
    }
}

static void learn_counts(BbModel *model)
{
    for (guint p = 0; p < model->np; p++) {
        model->nothing[p] = 0;
        for (guint c = 0; c < model->nc; c++) {
            float *count = model->count + (p * model->nc + c) * (COUNT_MAX + 1);
            const double *of = model->seen + (p * model->nc + c) * (COUNT_MAX + 1);
            for (guint k = 0; k <= COUNT_MAX; k++)
                count[k] = (float)log((of[k] + ldexp(0.5, -(int)k - 1)) / (model->n[p] + 0.5));
            model->nothing[p] += count[0];
            find_more(count, model->more + (p * model->nc + c) * (COUNT_MAX + 1));
        }
    }
}

void bb_model_forget(BbModel *model)
{
    for (guint i = 0; i < model->np * model->nc * ORDERS; i++)
        forget_gaps(model, model->slots[i]);
    for (guint p = 0; p < model->np; p++)
        forget_gaps(model, model->ends[p]);
    memset(model->n, 0, model->np * sizeof *model->n);
    memset(model->seen, 0, model->np * model->nc * (COUNT_MAX + 1) * sizeof *model->seen);
    memset(model->alone, 0, model->nc * sizeof *model->alone);
    bb_signatures_reset(model->signatures, model->np);
    if (model->own)
        model->own->n = 0;
}

void bb_model_observe(BbModel *model, const BbSite *site, double weight)
{
    if (model->own && model->own->site == site)
        bb_own_next(model->own, weight);
    for (guint32 i = 0; i < site->n_parents; i++) {
        learn_gaps(model, site, i, weight);
        count_children(model, site, i, weight);
    }
    for (guint32 x = 0; x < site->n_children; x++)
        if (site->parent[x] == BB_SITE_NONE)
            model->alone[site->children[x].type] += weight;
}

void bb_model_fit(BbModel *model, const BbSite *site, double trust)
{
    for (guint i = 0; i < model->np * model->nc * ORDERS; i++)
        if (model->slots[i])
            choose_reference(model, model->slots[i], false);
    for (guint p = 0; p < model->np; p++)
        if (model->ends[p])
            choose_reference(model, model->ends[p], true);
    for (guint c = 0; c < model->nc; c++)
        model->lone[c] = (float)log((model->alone[c] + 0.5) / site->span);
    learn_counts(model);
    bb_signatures_trust(model->signatures, trust);
    learn_together(model, site);
}

void bb_model_trust(BbModel *model, double trust)
{
    bb_signatures_trust(model->signatures, trust);
}

// ---- the beginning -----------------------------------------------------------------------------

static void use(Slot *slot, guint what, const BbDensity *density)
{
    slot->used[what] = density;
    slot->bias[what] = 0;
}

// Half the mass on the two whole numbers around the mean, half as by chance; or all by chance.
static double begin_count(double mean, guint k, bool poisson)
{
    double chance = exp(k * log(MAX(mean, 1e-9)) - mean - lgamma(k + 1.0));
    double low = floor(mean), near = 0;
    if (k == low)
        near = 1 - (mean - low);
    if (k == low + 1)
        near = mean - low;
    return MAX(poisson ? chance : 0.5 * near + 0.5 * chance, 1e-6);
}

void bb_model_begin(BbModel *model, const BbSite *site, const BbOnset *onset, bool poisson)
{
    guint np = model->np, nc = model->nc;
    for (guint p = 0; p < np; p++) {
        Slot *end = end_slot(model, p);
        end->reference = FROM_LATEST;
        use(end, 0, onset->whole[p]);
        model->nothing[p] = 0;
        for (guint c = 0; c < nc; c++) {
            use(end, 1 + c, onset->end[p * nc + c]);
            for (guint order = 0; order < ORDERS; order++) {
                Slot *slot = kid_slot(model, p, c, order);
                slot->reference = FROM_LATEST;
                use(slot, 0, onset->start[p * nc + c]);
                for (guint d = 0; d < nc; d++)
                    use(slot, 1 + d, onset->next[d * nc + c]);
            }
            float *count = model->count + (p * nc + c) * (COUNT_MAX + 1);
            for (guint k = 0; k <= COUNT_MAX; k++)
                count[k] = (float)log(begin_count(onset->mean[p * nc + c], k, poisson));
            model->nothing[p] += count[0];
            find_more(count, model->more + (p * nc + c) * (COUNT_MAX + 1));
        }
    }
    bb_signatures_reset(model->signatures, model->np);
    if (model->own)
        model->own->n = 0;
    for (guint c = 0; c < model->nc; c++)
        model->lone[c] = (float)log(0.5 / site->span);
}
