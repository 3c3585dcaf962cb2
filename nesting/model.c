// SPDX-License-Identifier: Apache-2.0
// In: a site with an assignment. Out: how likely a parent is to have some children.
#include "nesting/model.h"

#include "nesting/connections.h"
#include "nesting/copula.h"
#include "nesting/kin.h"
#include "nesting/lone.h"
#include "nesting/onset.h"
#include "nesting/own.h"
#include "nesting/poor.h"
#include "nesting/reference.h"
#include "nesting/repertoire.h"
#include "nesting/slot.h"

#include <math.h>
#include <string.h>

#define ORDERS BB_SLOT_ORDERS

struct BbModel {
    const BbGapScale *scale;
    bool is_join;
    guint np, nc;                 // types of parents, of children
    guint16 group[BB_SITE_TYPES]; // of types of parents: the one that stands for it from here on
    BbSlot **slots;               // [(p * nc + c) * ORDERS + order], NULL where never seen
    BbSlot **ends;                // [p], likewise
    GPtrArray *sampled;           // those of them that have samples; lent
    BbSlot *empty, *empty_end;    // what all that have none know, once fitted
    bool begun;                   // nothing was fitted yet: they know what was found before
    BbPoor *poor;                 // what those of few samples share
    BbLone *lone;
    BbConnections *connections; // NULL: not known, or of no use
    BbRepertoire *repertoire;
    BbCopula **copula; // [p], NULL where gaps are independent
    BbCopula **made;   // [p], NULL until wanted
    BbOwn *own;        // what is left out of scores; NULL: nothing
};

BbModel *bb_model_new(const BbSite *site, const BbGapScale *scale)
{
    BbModel *model = g_new0(BbModel, 1);
    model->scale = scale;
    model->np = site->n_parent_types;
    model->nc = site->n_child_types;
    model->is_join = site->is_join;
    for (guint p = 0; p < model->np; p++)
        model->group[p] = (guint16)p;
    model->slots = g_new0(BbSlot *, model->np * model->nc * ORDERS);
    model->ends = g_new0(BbSlot *, model->np);
    model->sampled = g_ptr_array_new();
    model->empty = bb_slot_new(0, model->nc, model->is_join, false);
    model->empty_end = bb_slot_new(0, model->nc, model->is_join, true);
    bb_slot_fit(model->empty, scale);
    bb_slot_fit(model->empty_end, scale);
    model->poor = bb_poor_new(model->nc, model->is_join, scale);
    model->lone = bb_lone_new(model->nc);
    model->connections = bb_connections_new(site);
    model->repertoire = bb_repertoire_new(model->np, model->nc);
    model->copula = g_new0(BbCopula *, model->np);
    model->made = g_new0(BbCopula *, model->np);
    return model;
}

void bb_model_free(BbModel *model)
{
    if (!model)
        return;
    for (guint i = 0; i < model->np * model->nc * ORDERS; i++)
        bb_slot_free(model->slots[i]);
    for (guint p = 0; p < model->np; p++) {
        bb_slot_free(model->ends[p]);
        bb_copula_free(model->made[p]);
    }
    g_ptr_array_unref(model->sampled);
    bb_slot_free(model->empty);
    bb_slot_free(model->empty_end);
    bb_poor_free(model->poor);
    g_free(model->copula);
    g_free(model->made);
    g_free(model->slots);
    g_free(model->ends);
    bb_lone_free(model->lone);
    bb_connections_free(model->connections);
    bb_repertoire_free(model->repertoire);
    bb_own_free(model->own);
    g_free(model);
}

static inline guint kind_of(const BbModel *model, const BbSiteParent *parent)
{
    return model->group[parent->type];
}

void bb_model_leave_out(BbModel *model, const BbSite *site, bool gaps)
{
    bb_own_free(model->own);
    model->own = bb_own_new(site, gaps);
}

static guint slot_index(const BbModel *model, guint p, guint c, guint order)
{
    return (p * model->nc + c) * ORDERS + MIN(order, ORDERS - 1);
}

static BbSlot *kid_slot(BbModel *model, guint p, guint c, guint order)
{
    guint index = slot_index(model, p, c, order);
    if (!model->slots[index])
        model->slots[index] = bb_slot_new((guint16)(1 + index), model->nc, model->is_join, false);
    return model->slots[index];
}

static BbSlot *end_slot(BbModel *model, guint p)
{
    guint number = 1 + model->np * model->nc * ORDERS + p;
    if (!model->ends[p])
        model->ends[p] = bb_slot_new((guint16)number, model->nc, model->is_join, true);
    return model->ends[p];
}

// The type of parents whose slot it is.
static guint type_of_slot(const BbModel *model, const BbSlot *slot)
{
    guint of_kids = model->np * model->nc * ORDERS, index = slot->number - 1u;
    return index < of_kids ? index / (model->nc * ORDERS) : index - of_kids;
}

// The slot that says how likely a gap is: one without samples knows what poor ones share, or what
// all without samples do.
static inline const BbSlot *known_slot(const BbModel *model, guint index)
{
    const BbSlot *slot = model->slots[index], *unseen = model->poor->unseen[index % ORDERS];
    if (slot && (slot->n > 0 || model->begun))
        return slot;
    return unseen ? unseen : model->empty;
}

static inline const BbSlot *known_end(const BbModel *model, guint p)
{
    const BbSlot *end = model->ends[p];
    return end && (end->n > 0 || model->begun) ? end : model->empty_end;
}

// A slot that gets samples.
static void sampled(BbModel *model, BbSlot *slot, double weight)
{
    if (slot->n <= 0)
        g_ptr_array_add(model->sampled, slot);
    slot->n += weight;
}

// ---- scoring -----------------------------------------------------------------------------------

// A gap: where it stands, how long it is, and what it is measured from.
typedef struct {
    const BbSlot *slot;
    guint16 number; // of the slot among those of its type of parent
    guint16 bin;
    BbReference from;
    const BbOwnGap *own; // what it gave the model; NULL: nothing
} Gap;

// Where a gap under a reference stands in BbOwnGap: no slot knows both starts and calls.
static inline guint way_of(guint reference)
{
    return reference % BB_OWN_WAYS;
}

// Without what the gap gave the slot itself.
static double gap_log_without(const BbModel *model, const Gap *gap)
{
    const BbSlot *slot = gap->slot;
    const BbDensity *density = slot->used[gap->from.what];
    guint16 bins[BB_OWN_SAMPLES];
    guint way = way_of(slot->reference), bin = gap->bin, of_slot = 0, n = 0;
    for (guint i = 0; i < model->own->n; i++) {
        const BbOwnGap *own = &gap->own[i];
        of_slot += own->slot == slot->number;
        if (own->slot == slot->number && own->what[way] == gap->from.what)
            bins[n++] = own->bin[way];
    }
    double weight = model->own->weight, spread = slot->spread - of_slot * weight;
    if (!density)
        return (double)model->scale->floor_log[bin] + log(BB_SLOT_RARE / spread);
    if (of_slot == 0)
        return (double)(density->log[bin] + slot->bias[gap->from.what]);
    double like_it = MAX(density->n - n * weight, 0) + BB_SLOT_RARE;
    return log(bb_density_without(density, model->scale, bin, bins, n, weight) * like_it / spread);
}

static inline double gap_log(const BbModel *model, const Gap *gap)
{
    guint bin = gap->bin;
    const BbDensity *density = gap->slot->used[gap->from.what];
    if (gap->own && gap->slot->n >= BB_SLOT_FEW && (!density || density->few[bin] > 0))
        return gap_log_without(model, gap);
    return density ? (double)(density->log[bin] + gap->slot->bias[gap->from.what])
                   : (double)(model->scale->floor_log[bin] + gap->slot->unseen);
}

// Whether a child outlasts its parent, or is even made after it: rare or usual in its slot.
static inline double late_log(const BbSlot *slot, const BbSiteParent *parent, const BbSiteChild *x)
{
    return (double)(x->e > parent->e ? slot->overdue : slot->on_time);
}

static inline float gap_normal(const Gap *gap)
{
    const float *normal = gap->slot->normal[gap->from.what];
    return normal ? normal[gap->bin] : 0;
}

static inline Gap make_gap(const BbModel *model, const BbSlot *slot, guint number, BbReference from,
                           gint64 at, const BbOwnGap *own)
{
    return (Gap){slot, (guint16)number, (guint16)bb_gap_bin(model->scale, at - from.at), from, own};
}

// Of a child after the kids[0 .. n), `order` of which are of its type.
static inline Gap kid_gap(const BbModel *model, const BbSite *site, const BbSiteParent *parent,
                          const guint32 *kids, guint32 n, guint32 child, guint order)
{
    const BbSiteChild *x = &site->children[child];
    guint number = slot_index(model, 0, x->type, order);
    const BbSlot *slot =
        known_slot(model, slot_index(model, kind_of(model, parent), x->type, order));
    BbReference from = {parent->s, 0};
    if (slot->reference == BB_FROM_CALL)
        from = bb_reference_call(site, parent, kids, n, x->s);
    else if (G_UNLIKELY(x->s > parent->e) || slot->reference != BB_FROM_START)
        from = bb_reference_return(site, parent, kids, n, x->s);
    if (slot->reference == BB_FROM_EVENT)
        from = bb_reference_event(site, from, kids, n);
    return make_gap(model, slot, number, from, x->s, bb_own_gaps(model->own, site, child));
}

static inline Gap end_gap(const BbModel *model, const BbSite *site, const BbSiteParent *parent,
                          const guint32 *kids, guint32 n)
{
    const BbSlot *slot = known_end(model, kind_of(model, parent));
    BbReference from = {parent->s, n > 0};
    if (slot->reference == BB_FROM_LATEST)
        from = bb_reference_return(site, parent, kids, n, parent->e);
    guint32 end = bb_own_end(site, (guint32)(parent - site->parents));
    return make_gap(model, slot, model->nc * ORDERS, from, parent->e,
                    bb_own_gaps(model->own, site, end));
}

// What a copula looks at, of a parent with n children: its gaps, and how long the children last.
typedef struct {
    guint n; // 0: too many, or a slot is there twice
    guint16 which[BB_COPULA_MOST];
    float z[BB_COPULA_MOST];
} Together;

static inline guint together_variables(const BbModel *model)
{
    return 2 * model->nc * ORDERS + 1;
}

static void gather_together(const BbModel *model, const BbSite *site, const Gap *gaps,
                            const guint32 *kids, guint n, Together *of)
{
    guint16 first = (guint16)(model->nc * ORDERS + 1); // of durations
    guint64 there[BB_SITE_TYPES * ORDERS / 64 + 1] = {0};
    of->n = 0;
    if (2 * n + 1 > BB_COPULA_MOST)
        return;
    for (guint i = 0; i <= n; i++) {
        guint number = gaps[i].number;
        guint64 bit = (guint64)1 << number % 64;
        if (there[number / 64] & bit)
            return;
        there[number / 64] |= bit;
        of->which[i] = (guint16)number;
        of->z[i] = gap_normal(&gaps[i]);
    }
    for (guint i = 0; i < n; i++) {
        of->which[n + 1 + i] = (guint16)(first + gaps[i].number);
        of->z[n + 1 + i] = site->children[kids[i]].lasts / BB_SITE_NORMAL;
    }
    of->n = 2 * n + 1;
}

double bb_model_parent(const BbModel *model, const BbSite *site, guint32 index, const guint32 *kids,
                       guint32 n)
{
    const BbSiteParent *parent = &site->parents[index];
    guint p = kind_of(model, parent);
    guint8 seen[BB_SITE_TYPES];
    Gap gaps[BB_MODEL_NEAR + 2];
    BbBrood brood = bb_brood_start(model->repertoire, p);
    double sum = 0;
    memset(seen, 0, model->nc);
    for (guint32 i = 0; i < n; i++) {
        guint c = site->children[kids[i]].type, k = seen[c]++;
        bb_brood_add(&brood, model->repertoire, p, c, k);
        gaps[i] = kid_gap(model, site, parent, kids, i, kids[i], k);
        sum += gap_log(model, &gaps[i]) + late_log(gaps[i].slot, parent, &site->children[kids[i]]) +
               bb_connections_log(model->connections, site, index, kids, i, kids[i]);
    }
    gaps[n] = end_gap(model, site, parent, kids, n);
    sum += gap_log(model, &gaps[n]);
    if (model->copula[p]) {
        Together together;
        gather_together(model, site, gaps, kids, n, &together);
        sum += bb_copula_log(model->copula[p], together.which, together.z, together.n);
    }
    return sum + bb_repertoire_log(model->repertoire, model->own, site, index, p, &brood);
}

BbBrood bb_model_brood(const BbModel *model, const BbSite *site, guint32 index, const guint32 *kids,
                       guint32 n)
{
    guint p = kind_of(model, &site->parents[index]);
    guint8 seen[BB_SITE_TYPES];
    BbBrood brood = bb_brood_start(model->repertoire, p);
    memset(seen, 0, model->nc);
    for (guint32 i = 0; i < n; i++) {
        guint c = site->children[kids[i]].type;
        bb_brood_add(&brood, model->repertoire, p, c, seen[c]++);
    }
    brood.log = bb_repertoire_log(model->repertoire, model->own, site, index, p, &brood);
    return brood;
}

double bb_model_more(const BbModel *model, const BbSite *site, guint32 index, const BbBrood *brood,
                     guint32 same, guint32 x)
{
    BbBrood with = *brood;
    guint p = kind_of(model, &site->parents[index]);
    bb_brood_add(&with, model->repertoire, p, site->children[x].type, same);
    return bb_repertoire_log(model->repertoire, model->own, site, index, p, &with) - brood->log;
}

// The gap of x after the last of some children; *order: how many of its type are among them.
static Gap next_gap(const BbModel *model, const BbSite *site, guint32 index, const guint32 *kids,
                    guint32 n, guint32 x, guint *order)
{
    guint32 from = n > BB_MODEL_NEAR ? n - BB_MODEL_NEAR : 0;
    *order = 0;
    for (guint32 i = from; i < n; i++)
        *order += site->children[kids[i]].type == site->children[x].type;
    const guint32 *near = n > 0 ? kids + from : NULL;
    return kid_gap(model, site, &site->parents[index], near, n - from, x, *order);
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
    guint order, p = kind_of(model, &site->parents[index]), c = site->children[x].type;
    Gap gap = next_gap(model, site, index, kids, n, x, &order);
    const BbCounts *counts = model->repertoire->counts;
    const float *more = counts->more + bb_counts_at(counts, p, c);
    return gap_log(model, &gap) + late_log(gap.slot, &site->parents[index], &site->children[x]) +
           bb_connections_log(model->connections, site, index, kids, n, x) +
           (double)more[MIN(order, BB_COUNTS_MOST)];
}

double bb_model_part(const BbModel *model, const BbSite *site, guint32 index, const guint32 *kids,
                     guint32 n, bool to_end)
{
    const BbSiteParent *parent = &site->parents[index];
    guint8 seen[BB_SITE_TYPES];
    double sum = 0;
    memset(seen, 0, model->nc);
    for (guint32 i = 0; i < n; i++) {
        guint order = seen[site->children[kids[i]].type]++;
        Gap gap = kid_gap(model, site, parent, kids, i, kids[i], order);
        sum += gap_log(model, &gap) + late_log(gap.slot, parent, &site->children[kids[i]]) +
               bb_connections_log(model->connections, site, index, kids, i, kids[i]);
    }
    if (!to_end)
        return sum;
    Gap end = end_gap(model, site, parent, kids, n);
    return sum + gap_log(model, &end);
}

guint bb_model_slots(const BbSite *site)
{
    return site->n_parent_types * (site->n_child_types * ORDERS + 1);
}

guint bb_model_waits(const BbModel *model, const BbSite *site, guint32 index, const guint32 *kids,
                     guint32 n, BbWait *out)
{
    const BbSiteParent *parent = &site->parents[index];
    guint32 first = kind_of(model, parent) * (model->nc * ORDERS + 1);
    guint8 seen[BB_SITE_TYPES];
    bool leaves_out = model->own && model->own->site == site;
    memset(seen, 0, model->nc);
    for (guint32 i = 0; i <= n; i++) {
        guint32 number = i < n ? kids[i] : bb_own_end(site, index);
        Gap gap = i < n ? kid_gap(model, site, parent, kids, i, kids[i],
                                  seen[site->children[kids[i]].type]++)
                        : end_gap(model, site, parent, kids, n);
        guint32 slot = first + gap.number;
        gint64 at = i < n ? site->children[kids[i]].s : parent->e;
        out[i] = (BbWait){gap.from.at, at, slot, gap.from.what, leaves_out ? number : BB_SITE_NONE,
                          i == 0};
    }
    return n + 1;
}

double bb_model_wait_log(const BbModel *model, const BbWait *wait, gint64 at)
{
    guint per_type = model->nc * ORDERS + 1;
    guint p = wait->slot / per_type, number = wait->slot % per_type;
    const BbSlot *slot = number == model->nc * ORDERS
                             ? known_end(model, p)
                             : known_slot(model, p * model->nc * ORDERS + number);
    const BbOwnGap *own =
        wait->gap == BB_SITE_NONE ? NULL : bb_own_gaps(model->own, model->own->site, wait->gap);
    BbReference from = {wait->from, wait->event};
    Gap gap = make_gap(model, slot, number, from, at, own);
    return gap_log(model, &gap);
}

bool bb_model_holds(const BbModel *model)
{
    return bb_connections_holds(model->connections);
}

double bb_model_lone(const BbModel *model, guint child_type)
{
    return (double)model->lone->log[child_type];
}

// ---- learning ----------------------------------------------------------------------------------

// own: where what it gives is noted; NULL: nowhere.
static void add_sample(BbModel *model, BbSlot *slot, guint reference, BbReference from, gint64 at,
                       double weight, BbOwnGap *own)
{
    guint bin = bb_gap_bin(model->scale, at - from.at);
    bb_slot_add(slot, reference, from.what, bin, weight);
    if (!own)
        return;
    own->what[way_of(reference)] = (guint8)from.what;
    own->bin[way_of(reference)] = (guint16)bin;
}

// Where to note what a gap gives a slot in the assignment at hand.
static BbOwnGap *own_gap(BbModel *model, const BbSite *site, guint32 gap, const BbSlot *slot)
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
        BbSlot *slot = kid_slot(model, kind_of(model, parent), x->type, seen[x->type]++);
        sampled(model, slot, weight);
        BbOwnGap *own = own_gap(model, site, kids->at[i], slot);
        BbReference start = {parent->s, 0};
        BbReference latest = bb_reference_return(site, parent, kids->at + from, i - from, x->s);
        BbReference event = bb_reference_event(site, latest, kids->at + from, i - from);
        slot->late += x->e > parent->e ? weight : 0;
        add_sample(model, slot, BB_FROM_EVENT, event, x->s, weight, own);
        if (model->is_join) {
            event = bb_reference_call(site, parent, kids->at + from, i - from, x->s);
            add_sample(model, slot, BB_FROM_CALL, event, x->s, weight, own);
            continue;
        }
        add_sample(model, slot, BB_FROM_START, x->s > parent->e ? latest : start, x->s, weight,
                   own);
        add_sample(model, slot, BB_FROM_LATEST, latest, x->s, weight, own);
    }
    guint32 near = MIN(kids->n, BB_MODEL_NEAR);
    const guint32 *last = near > 0 ? kids->at + (kids->n - near) : NULL;
    BbReference start = {parent->s, kids->n > 0};
    BbReference latest = bb_reference_return(site, parent, last, near, parent->e);
    BbSlot *end = end_slot(model, kind_of(model, parent));
    sampled(model, end, weight);
    BbOwnGap *own = own_gap(model, site, bb_own_end(site, index), end);
    add_sample(model, end, BB_FROM_START, start, parent->e, weight, own);
    add_sample(model, end, BB_FROM_LATEST, latest, parent->e, weight, own);
}

static void count_together(BbModel *model, const BbSite *site, guint32 index)
{
    const BbSiteParent *parent = &site->parents[index];
    const BbKids *kids = &site->kids[index];
    Gap gaps[BB_COPULA_MOST / 2 + 1];
    Together together;
    guint8 seen[BB_SITE_TYPES];
    if (kids->n == 0 || kids->n > BB_COPULA_MOST / 2)
        return;
    memset(seen, 0, model->nc);
    for (guint32 i = 0; i < kids->n; i++)
        gaps[i] = kid_gap(model, site, parent, kids->at, i, kids->at[i],
                          seen[site->children[kids->at[i]].type]++);
    gaps[kids->n] = end_gap(model, site, parent, kids->at, kids->n);
    gather_together(model, site, gaps, kids->at, kids->n, &together);
    bb_copula_count(model->made[kind_of(model, parent)], together.which, together.z, together.n);
}

static void learn_together(BbModel *model, const BbSite *site)
{
    guint32 n[BB_SITE_TYPES] = {0}; // parents
    for (guint32 i = 0; i < site->n_parents; i++)
        n[kind_of(model, &site->parents[i])]++;
    for (guint p = 0; p < model->np; p++) {
        model->copula[p] = NULL;
        if (n[p] < BB_COPULA_PARENTS)
            continue;
        if (!model->made[p])
            model->made[p] = bb_copula_new(together_variables(model));
        bb_copula_reset(model->made[p]);
    }
    for (guint i = 0; i < model->sampled->len; i++) {
        BbSlot *slot = g_ptr_array_index(model->sampled, i);
        if (n[type_of_slot(model, slot)] >= BB_COPULA_PARENTS)
            bb_slot_make_normals(slot, model->scale);
    }
    for (guint32 i = 0; i < site->n_parents; i++)
        if (n[kind_of(model, &site->parents[i])] >= BB_COPULA_PARENTS)
            count_together(model, site, i);
    for (guint p = 0; p < model->np; p++)
        if (n[p] >= BB_COPULA_PARENTS && bb_copula_fit(model->made[p]))
            model->copula[p] = model->made[p];
}

void bb_model_forget(BbModel *model)
{
    for (guint i = 0; i < model->sampled->len; i++)
        bb_slot_forget(g_ptr_array_index(model->sampled, i));
    g_ptr_array_set_size(model->sampled, 0);
    bb_repertoire_forget(model->repertoire);
    bb_lone_reset(model->lone);
    bb_connections_reset(model->connections);
    if (model->own)
        model->own->n = 0;
}

void bb_model_observe(BbModel *model, const BbSite *site, double weight)
{
    if (model->own && model->own->site == site)
        bb_own_next(model->own, weight);
    for (guint32 i = 0; i < site->n_parents; i++) {
        learn_gaps(model, site, i, weight);
        bb_repertoire_add(model->repertoire, model->own, site, i, kind_of(model, &site->parents[i]),
                          weight);
    }
    for (guint32 x = 0; x < site->n_children; x++)
        bb_lone_add(model->lone, site->children[x].type, site->parent[x] == BB_SITE_NONE, weight);
    bb_connections_observe(model->connections, site, weight);
}

static void fit_slots(BbModel *model)
{
    for (guint i = 0; i < model->sampled->len; i++)
        bb_slot_fit(g_ptr_array_index(model->sampled, i), model->scale);
    model->begun = false;
}

void bb_model_fit(BbModel *model, const BbSite *site, double trust)
{
    fit_slots(model);
    bb_poor_share(model->poor, model->slots, model->np * model->nc * ORDERS, model->ends,
                  model->np);
    bb_lone_fit(model->lone, site->span);
    bb_connections_fit(model->connections, trust < 1);
    bb_repertoire_fit(model->repertoire, trust);
    learn_together(model, site);
}

void bb_model_meet(BbModel *model, const BbSite *site, const BbOnset *onset)
{
    bb_lone_expect(model->lone, onset->is_caused, site->span);
    if (model->connections)
        bb_connections_meet(model->connections, site);
    else // a sample may be too short to show any connection twice
        model->connections = bb_connections_new(site);
}

void bb_model_trust(BbModel *model, double trust)
{
    bb_repertoire_trust(model->repertoire, trust);
}

// ---- kinds of parents --------------------------------------------------------------------------

void bb_model_take_as_one(BbModel *model)
{
    memset(model->group, 0, sizeof model->group);
    bb_model_forget(model);
}

void bb_model_regroup(BbModel *model, const BbSite *site)
{
    guint np = model->np, of_kids = model->nc * ORDERS;
    if (np == 1) {
        bb_model_forget(model);
        return;
    }
    for (guint p = 0; p < np; p++)
        model->group[p] = (guint16)p;
    bb_model_forget(model);
    bb_model_observe(model, site, 1);
    fit_slots(model);
    BbKnownKind kinds[BB_SITE_TYPES];
    const BbCounts *counts = model->repertoire->counts;
    g_autofree BbSlot **slots = g_new(BbSlot *, np * (of_kids + 1));
    for (guint p = 0; p < np; p++) {
        BbSlot **of = slots + p * (of_kids + 1);
        memcpy(of, model->slots + p * of_kids, of_kids * sizeof *of);
        of[of_kids] = model->ends[p];
        kinds[p] = (BbKnownKind){counts->n[p], of, counts->seen + bb_counts_at(counts, p, 0)};
    }
    BbKin kin = {of_kids + 1, model->nc * BB_COUNTS_EACH, model->scale};
    bb_kin_find(&kin, kinds, np, model->group);
    bb_model_forget(model);
}

// ---- the beginning -----------------------------------------------------------------------------

static void use(BbSlot *slot, guint what, const BbDensity *density)
{
    slot->used[what] = density;
    slot->bias[what] = 0;
}

void bb_model_begin(BbModel *model, const BbSite *site, const BbOnset *onset, bool poisson)
{
    guint np = model->np, nc = model->nc;
    model->begun = true;
    for (guint p = 0; p < np; p++) {
        model->group[p] = (guint16)p;
        BbSlot *end = end_slot(model, p);
        end->reference = BB_FROM_LATEST;
        use(end, BB_SLOT_ARRIVAL, onset->whole[p]);
        for (guint c = 0; c < nc; c++) {
            use(end, bb_slot_return(c), onset->end[p * nc + c]);
            for (guint order = 0; order < ORDERS; order++) {
                BbSlot *slot = kid_slot(model, p, c, order);
                slot->reference = BB_FROM_LATEST;
                use(slot, BB_SLOT_ARRIVAL, onset->start[p * nc + c]);
                for (guint d = 0; d < nc; d++)
                    use(slot, bb_slot_return(d), onset->next[d * nc + c]);
                if (onset->after[c])
                    use(slot, bb_slot_reply(nc), onset->after[c]);
            }
        }
    }
    bb_repertoire_expect(model->repertoire, onset->mean, poisson);
    if (model->own)
        model->own->n = 0;
    bb_connections_expect(model->connections, site);
    bb_lone_expect(model->lone, onset->is_caused, site->span);
}
