// SPDX-License-Identifier: Apache-2.0
// In: a site with an assignment, or several. Out: a model of what its node does.
#include "nesting/model_state.h"

#include "nesting/kin.h"
#include "nesting/onset.h"

#include <string.h>

// Where links are guesses, or calls wait for a pool, it would excuse too much.
static bool may_stray(const BbSite *site)
{
    return !bb_site_is_crowded(site) && !site->freed;
}

BbModel *bb_model_new(const BbSite *site, const BbGapScale *scale)
{
    BbModel *model = g_new0(BbModel, 1);
    model->scale = scale;
    model->np = site->n_parent_types;
    model->nc = site->n_child_types;
    model->is_join = site->is_join;
    model->strays = may_stray(site);
    for (guint p = 0; p < model->np; p++)
        model->group[p] = (guint16)p;
    model->slots = g_new0(BbSlot *, model->np * model->nc * BB_SLOT_ORDERS);
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
    for (guint i = 0; i < model->np * model->nc * BB_SLOT_ORDERS; i++)
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

void bb_model_leave_out(BbModel *model, const BbSite *site, bool gaps)
{
    bb_own_free(model->own);
    model->own = bb_own_new(site, gaps);
}

static BbSlot *kid_slot(BbModel *model, guint p, guint c, guint order)
{
    guint index = bb_model_slot(model, p, c, order);
    if (!model->slots[index])
        model->slots[index] = bb_slot_new((guint16)(1 + index), model->nc, model->is_join, false);
    return model->slots[index];
}

static BbSlot *end_slot(BbModel *model, guint p)
{
    guint number = 1 + model->np * model->nc * BB_SLOT_ORDERS + p;
    if (!model->ends[p])
        model->ends[p] = bb_slot_new((guint16)number, model->nc, model->is_join, true);
    return model->ends[p];
}

// The type of parents whose slot it is.
static guint type_of_slot(const BbModel *model, const BbSlot *slot)
{
    guint of_kids = model->np * model->nc * BB_SLOT_ORDERS, index = slot->number - 1u;
    return index < of_kids ? index / (model->nc * BB_SLOT_ORDERS) : index - of_kids;
}

// What is learned in a slot is forgotten and fitted with those of the list.
static void list_sampled(BbModel *model, BbSlot *slot)
{
    if (slot->n <= 0 && slot->freed <= 0)
        g_ptr_array_add(model->sampled, slot);
}

// A slot that gets samples.
static void sampled(BbModel *model, BbSlot *slot, double weight)
{
    list_sampled(model, slot);
    slot->n += weight;
}

// A slot of a child that a pool let begin.
static void freed(BbModel *model, BbSlot *slot, double weight, bool waited)
{
    list_sampled(model, slot);
    slot->freed += weight;
    slot->waited += waited ? weight : 0;
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
    own->what[bb_model_way(reference)] = (guint8)from.what;
    own->bin[bb_model_way(reference)] = (guint16)bin;
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
        BbSlot *slot = kid_slot(model, bb_model_kind(model, parent), x->type, seen[x->type]++);
        BbReference start = bb_reference_start(site, parent, x->s);
        BbReference latest = bb_reference_return(site, parent, kids->at + from, i - from, x->s);
        BbReference event = bb_reference_event(site, latest, kids->at + from, i - from);
        bool waited = bb_reference_waits(site, kids->at[i], latest, kids->at + from, i - from);
        if (bb_reference_is_freed(site, kids->at[i]))
            freed(model, slot, weight, waited);
        if (waited)
            continue; // when it was wanted is not known
        sampled(model, slot, weight);
        BbOwnGap *own = own_gap(model, site, kids->at[i], slot);
        slot->late += x->e > parent->e && !x->given_up ? weight : 0;
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
    BbReference start = {bb_site_begun(site, parent), kids->n > 0};
    BbReference latest = bb_reference_return(site, parent, last, near, parent->e);
    BbSlot *end = end_slot(model, bb_model_kind(model, parent));
    sampled(model, end, weight);
    BbOwnGap *own = own_gap(model, site, bb_own_end(site, index), end);
    add_sample(model, end, BB_FROM_START, start, parent->e, weight, own);
    add_sample(model, end, BB_FROM_LATEST, latest, parent->e, weight, own);
}

static void count_together(BbModel *model, const BbSite *site, guint32 index)
{
    const BbSiteParent *parent = &site->parents[index];
    const BbKids *kids = &site->kids[index];
    BbModelGap gaps[BB_COPULA_MOST / 2 + 1];
    BbTogether together;
    guint8 seen[BB_SITE_TYPES];
    BbReturns returns;
    if (kids->n == 0 || kids->n > BB_COPULA_MOST / 2)
        return;
    memset(seen, 0, model->nc);
    bb_returns_start(&returns, site, parent);
    for (guint32 i = 0; i < kids->n; i++) {
        const BbSiteChild *x = &site->children[kids->at[i]];
        gaps[i] = bb_model_kid_gap(model, site, parent, kids->at, i, &returns, kids->at[i],
                                   seen[x->type]++);
        bb_returns_add(&returns, x);
    }
    gaps[kids->n] = bb_model_end_gap(model, site, parent, kids->at, kids->n, &returns);
    bb_model_gather(model, site, gaps, kids->at, kids->n, &together);
    bb_copula_count(model->made[bb_model_kind(model, parent)], together.which, together.z,
                    together.n);
}

static void learn_together(BbModel *model, const BbSite *site)
{
    guint32 n[BB_SITE_TYPES] = {0}; // parents
    for (guint32 i = 0; i < site->n_parents; i++)
        n[bb_model_kind(model, &site->parents[i])]++;
    for (guint p = 0; p < model->np; p++) {
        model->copula[p] = NULL;
        if (n[p] < BB_COPULA_PARENTS)
            continue;
        if (!model->made[p])
            model->made[p] = bb_copula_new(bb_model_variables(model));
        bb_copula_reset(model->made[p]);
    }
    for (guint i = 0; i < model->sampled->len; i++) {
        BbSlot *slot = g_ptr_array_index(model->sampled, i);
        if (n[type_of_slot(model, slot)] >= BB_COPULA_PARENTS)
            bb_slot_make_normals(slot, model->scale);
    }
    for (guint32 i = 0; i < site->n_parents; i++)
        if (n[bb_model_kind(model, &site->parents[i])] >= BB_COPULA_PARENTS)
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
        bb_repertoire_add(model->repertoire, model->own, site, i,
                          bb_model_kind(model, &site->parents[i]), weight);
    }
    for (guint32 x = 0; x < site->n_children; x++)
        bb_lone_add(model->lone, site->children[x].type, site->parent[x] == BB_SITE_NONE, weight);
    bb_connections_observe(model->connections, site, weight);
}

// Only where parents make most of their calls at once is one out of order no wrong guess.
static void fit_strays(BbModel *model)
{
    double n[BB_SITE_TYPES] = {0}, at_once[BB_SITE_TYPES] = {0};
    for (guint i = 0; i < model->sampled->len; i++) {
        const BbSlot *slot = g_ptr_array_index(model->sampled, i);
        n[type_of_slot(model, slot)] += slot->is_end ? 0 : slot->n;
        at_once[type_of_slot(model, slot)] += bb_slot_at_once(slot);
    }
    for (guint i = 0; i < model->sampled->len; i++) {
        BbSlot *slot = g_ptr_array_index(model->sampled, i);
        guint p = type_of_slot(model, slot);
        if (2 * at_once[p] < n[p])
            slot->stray = NULL;
    }
}

static void fit_slots(BbModel *model)
{
    for (guint i = 0; i < model->sampled->len; i++)
        bb_slot_fit(g_ptr_array_index(model->sampled, i), model->scale);
    fit_strays(model);
    model->begun = false;
}

void bb_model_fit(BbModel *model, const BbSite *site, double trust)
{
    fit_slots(model);
    bb_poor_share(model->poor, model->slots, model->np * model->nc * BB_SLOT_ORDERS, model->ends,
                  model->np);
    bb_lone_fit(model->lone, site->span);
    bb_connections_fit(model->connections, trust < 1);
    bb_repertoire_fit(model->repertoire, trust);
    learn_together(model, site);
}

void bb_model_meet(BbModel *model, const BbSite *site, const BbOnset *onset)
{
    model->strays = may_stray(site);
    bb_lone_expect(model->lone, onset->is_caused, site->span);
    if (model->connections)
        bb_connections_meet(model->connections, site);
    else // a sample may be too short to show any connection twice
        model->connections = bb_connections_new(site);
}

void bb_model_hear_connections(BbModel *model, bool heard)
{
    bb_connections_hear(model->connections, heard);
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
    guint np = model->np, of_kids = model->nc * BB_SLOT_ORDERS;
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
            for (guint order = 0; order < BB_SLOT_ORDERS; order++) {
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
