// SPDX-License-Identifier: Apache-2.0
// In: what the parents of a site wait for, and when. Out: what overtaking costs.
//
// Two waits in the same line, begun at r1 <= r2 and ended at times that both had begun by: either
// they end in the order they began, or crossed. With u the log odds of the two by their gaps alone,
// the odds are taken as exp(u + beta), and beta is what makes the trace most likely. Where gaps
// explain all, beta is 0.
#include "nesting/fifo.h"

#include <math.h>
#include <string.h>

#include "data/groups.h"

#define TOGETHER_MOST 8.0 // mean number of parents open with one: more, and order is left alone
#define NEIGHBOURS 128u   // that come while a parent is open: one with more stands in no line
#define PAIRS_LEAST 10u
#define PAIRS_MOST 4000u  // in one line
#define GAIN_OF_PAIR 0.01 // log likelihood that order must explain, for each pair
#define BETA_LEAST 0.3
#define BETA_MOST 8.0

// The waits of one parent.
typedef struct {
    const BbWait *at;
    guint n;
    bool in_order; // both ends are in order of time, as those of calls in sequence
} Queue;

// Those that are remembered.
typedef struct {
    BbWait *at;
    guint room;
    Queue queue;
} Waits;

struct BbFifo {
    guint32 n_parents;
    BbGroups together; // parents open together with one
    bool *is_apart;    // of parents: a stream or a long poll, open with too many
    Waits *waits;      // of parents
    float *beta;       // of lines
    bool rewards;      // some beta is negative
    guint n_lines;     // 0: what parents do first, whatever that is, if `pooled`; 1 + slot;
    guint for_pools;   // from here on: for pools of connections
    bool pooled;
};

static guint own_line(const BbFifo *fifo, const BbWait *wait)
{
    return wait->for_pool ? fifo->for_pools + wait->freed.pool : 1 + wait->slot;
}

static guint line_of(const BbFifo *fifo, const BbWait *wait)
{
    return fifo->pooled && wait->first && !wait->for_pool ? 0 : own_line(fifo, wait);
}

// How many parents come while this one is open, NEIGHBOURS + 1 at most.
static guint32 count_behind(const BbSite *site, guint32 parent)
{
    guint32 n = 0, left = site->n_parents - parent - 1;
    while (n < MIN(left, NEIGHBOURS + 1) &&
           site->parents[parent + 1 + n].s <= site->parents[parent].e)
        n++;
    return n;
}

// Pairs of parents open together, as lists; gives up when there are too many.
static bool find_together(BbFifo *fifo, const BbSite *site)
{
    gsize most = (gsize)(TOGETHER_MOST * site->n_parents) + 64, n = 0;
    g_autofree guint32 *a = g_new(guint32, most), *b = g_new(guint32, most);
    for (guint32 i = 0; i < site->n_parents; i++)
        fifo->is_apart[i] = count_behind(site, i) > NEIGHBOURS;
    for (guint32 i = 0; i < site->n_parents; i++) {
        guint32 end = fifo->is_apart[i] ? i : i + count_behind(site, i);
        for (guint32 j = i + 1; j <= end; j++) {
            if (fifo->is_apart[j])
                continue;
            if (n == most)
                return false;
            a[n] = i;
            b[n++] = j;
        }
    }
    BbGroups *together = &fifo->together;
    *together = bb_groups_begin(site->n_parents);
    for (gsize k = 0; k < n; k++) {
        bb_groups_count(together, a[k], 1);
        bb_groups_count(together, b[k], 1);
    }
    bb_groups_open(together);
    for (gsize k = 0; k < n; k++) {
        bb_groups_put(together, a[k], b[k]);
        bb_groups_put(together, b[k], a[k]);
    }
    return true;
}

BbFifo *bb_fifo_new(const BbSite *site)
{
    g_autoptr(BbFifo) fifo = g_new0(BbFifo, 1);
    fifo->n_parents = site->n_parents;
    fifo->waits = g_new0(Waits, site->n_parents);
    fifo->is_apart = g_new(bool, site->n_parents);
    fifo->for_pools = 1 + bb_model_slots(site);
    fifo->n_lines = fifo->for_pools + site->n_pools;
    fifo->beta = g_new0(float, fifo->n_lines);
    return find_together(fifo, site) ? g_steal_pointer(&fifo) : NULL;
}

void bb_fifo_free(BbFifo *fifo)
{
    if (!fifo)
        return;
    for (guint32 p = 0; p < fifo->n_parents; p++)
        g_free(fifo->waits[p].at);
    g_free(fifo->waits);
    g_free(fifo->is_apart);
    bb_groups_clear(&fifo->together);
    g_free(fifo->beta);
    g_free(fifo);
}

static Queue queue_of(const BbWait *waits, guint n)
{
    bool ordered = true;
    for (guint i = 0; i < n; i++) {
        ordered &= waits[i].from <= waits[i].at;
        ordered &= i == 0 || (waits[i - 1].from <= waits[i].from && waits[i - 1].at <= waits[i].at);
    }
    return (Queue){waits, n, ordered};
}

void bb_fifo_know(BbFifo *fifo, guint32 parent, const BbWait *waits, guint n)
{
    Waits *known = &fifo->waits[parent];
    if (n > known->room) {
        known->at = g_renew(BbWait, known->at, n);
        known->room = n;
    }
    if (n > 0)
        memcpy(known->at, waits, n * sizeof *waits);
    known->queue = queue_of(known->at, n);
}

bool bb_fifo_rewards(const BbFifo *fifo)
{
    return fifo->rewards;
}

guint bb_fifo_keep(const BbFifo *fifo, BbWait *waits, guint n)
{
    guint kept = 0;
    for (guint i = 0; i < n; i++)
        if (fifo->beta[line_of(fifo, &waits[i])] != 0)
            waits[kept++] = waits[i];
    return kept;
}

static bool crossed(const BbWait *a, const BbWait *b)
{
    return (a->from < b->from && b->at < a->at) || (b->from < a->from && a->at < b->at);
}

// Of waits in order, those that ended before one began, and those that began after it ended, are
// not looked at: they cannot cross it.
static double between(const BbFifo *fifo, const Queue *a, const Queue *b)
{
    bool ordered = a->in_order && b->in_order;
    guint first = 0;
    double sum = 0;
    for (guint i = 0; i < a->n; i++) {
        const BbWait *wait = &a->at[i];
        guint line = line_of(fifo, wait);
        while (ordered && first < b->n && b->at[first].at <= wait->from)
            first++;
        for (guint j = first; j < b->n && !(ordered && b->at[j].from >= wait->at); j++)
            if (line_of(fifo, &b->at[j]) == line && crossed(wait, &b->at[j]))
                sum -= (double)fifo->beta[line];
    }
    return sum;
}

double bb_fifo_log(const BbFifo *fifo, guint32 parent, const BbWait *waits, guint n, guint32 but)
{
    const Queue own = queue_of(waits, n);
    double sum = 0;
    const guint32 *together = bb_groups_at(&fifo->together, parent);
    for (guint32 k = 0; k < bb_groups_size(&fifo->together, parent); k++)
        if (together[k] != but)
            sum += between(fifo, &own, &fifo->waits[together[k]].queue);
    return sum;
}

double bb_fifo_between(const BbFifo *fifo, const BbSite *site, guint32 p, const BbWait *a,
                       guint n_a, guint32 q, const BbWait *b, guint n_b)
{
    const BbSiteParent *early = &site->parents[MIN(p, q)], *late = &site->parents[MAX(p, q)];
    if (late->s > early->e || fifo->is_apart[p] || fifo->is_apart[q])
        return 0;
    const Queue of_p = queue_of(a, n_a), of_q = queue_of(b, n_b);
    return between(fifo, &of_p, &of_q);
}

// ---- learning ----------------------------------------------------------------------------------

typedef struct {
    float u; // log odds of order by the gaps alone
    bool in_order;
} Meeting;

static void meet(const BbModel *model, const BbWait *a, const BbWait *b, GArray *meetings)
{
    const BbWait *early = a->from <= b->from ? a : b, *late = early == a ? b : a;
    const BbWait *first = a->at <= b->at ? a : b, *last = first == a ? b : a;
    if (late->from > first->at || meetings->len >= PAIRS_MOST)
        return;
    double u = bb_model_wait_log(model, early, first) + bb_model_wait_log(model, late, last) -
               bb_model_wait_log(model, early, last) - bb_model_wait_log(model, late, first);
    g_array_append_val(meetings, ((Meeting){(float)u, !crossed(a, b)}));
}

static double log_sigmoid(double x)
{
    return x > 0 ? -log1p(exp(-x)) : x - log1p(exp(x));
}

// Log likelihood of the meetings and of one imagined one of each outcome.
static double likelihood(const GArray *meetings, double beta)
{
    double sum = log_sigmoid(beta) + log_sigmoid(-beta);
    for (guint i = 0; i < meetings->len; i++) {
        const Meeting *meeting = &g_array_index(meetings, Meeting, i);
        double x = (double)meeting->u + beta;
        sum += log_sigmoid(meeting->in_order ? x : -x);
    }
    return sum;
}

// Its derivative.
static double slope_at(const GArray *meetings, double beta)
{
    double slope = 1 - 2 / (1 + exp(-beta));
    for (guint i = 0; i < meetings->len; i++) {
        const Meeting *meeting = &g_array_index(meetings, Meeting, i);
        slope += (meeting->in_order ? 1 : 0) - 1 / (1 + exp(-(double)meeting->u - beta));
    }
    return slope;
}

// Returns by how much beta makes the meetings likelier; 0 where order plays no part.
static double fit_beta(const GArray *meetings, float *beta)
{
    double low = -BETA_MOST, high = BETA_MOST;
    *beta = 0;
    if (meetings->len < PAIRS_LEAST)
        return 0;
    for (guint i = 0; i < 14; i++) {
        double middle = (low + high) / 2;
        if (slope_at(meetings, middle) > 0)
            low = middle;
        else
            high = middle;
    }
    double best = (low + high) / 2;
    double gain = likelihood(meetings, best) - likelihood(meetings, 0);
    if (fabs(best) < BETA_LEAST || gain <= 3 + GAIN_OF_PAIR * meetings->len)
        return 0;
    *beta = (float)best;
    return gain;
}

static void know_all(BbFifo *fifo, const BbModel *model, const BbSite *site)
{
    for (guint32 p = 0; p < site->n_parents; p++) {
        BbWait waits[BB_MODEL_NEAR + 2];
        const BbKids *kids = &site->kids[p];
        bool big = kids->n >= BB_MODEL_NEAR;
        bb_fifo_know(fifo, p, waits,
                     big ? 0 : bb_model_waits(model, site, p, kids->at, kids->n, waits));
    }
}

// Where two parents stood in line together: meetings[line], and [0] for what both did first.
static void meet_all(const BbFifo *fifo, const BbModel *model, GArray **meetings)
{
    for (guint32 p = 0; p < fifo->n_parents; p++) {
        const guint32 *together = bb_groups_at(&fifo->together, p);
        for (guint32 k = 0; k < bb_groups_size(&fifo->together, p); k++) {
            const Queue *a = &fifo->waits[p].queue, *b = &fifo->waits[together[k]].queue;
            if (together[k] < p)
                continue;
            for (guint i = 0; i < a->n; i++) {
                guint line = own_line(fifo, &a->at[i]);
                for (guint j = 0; j < b->n; j++)
                    if (own_line(fifo, &b->at[j]) == line)
                        meet(model, &a->at[i], &b->at[j], meetings[line]);
            }
            if (a->n > 0 && b->n > 0 && !a->at[0].for_pool && !b->at[0].for_pool)
                meet(model, &a->at[0], &b->at[0], meetings[0]);
        }
    }
}

static void forget_needless(const BbFifo *fifo, Waits *known)
{
    known->queue = queue_of(known->at, bb_fifo_keep(fifo, known->at, known->queue.n));
}

bool bb_fifo_learn(BbFifo *fifo, const BbModel *model, const BbSite *site)
{
    g_autofree GArray **meetings = g_new0(GArray *, fifo->n_lines);
    g_autofree bool *is_first = g_new0(bool, fifo->n_lines);
    double gain_apart = 0, gain_pooled = 0;
    bool any = false;
    know_all(fifo, model, site);
    fifo->rewards = false;
    for (guint l = 0; l < fifo->n_lines; l++)
        meetings[l] = g_array_new(FALSE, FALSE, sizeof(Meeting));
    meet_all(fifo, model, meetings);
    for (guint32 p = 0; p < site->n_parents; p++)
        if (fifo->waits[p].queue.n > 0 && !fifo->waits[p].at[0].for_pool)
            is_first[own_line(fifo, &fifo->waits[p].at[0])] = true;
    for (guint l = 0; l < fifo->n_lines; l++) {
        double gain = fit_beta(meetings[l], &fifo->beta[l]);
        gain_pooled += l == 0 ? gain : 0;
        gain_apart += is_first[l] ? gain : 0;
        any |= fifo->beta[l] != 0;
        fifo->rewards |= fifo->beta[l] < 0;
        g_array_unref(meetings[l]);
    }
    fifo->pooled = gain_pooled > gain_apart;
    for (guint32 p = 0; p < site->n_parents; p++)
        forget_needless(fifo, &fifo->waits[p]);
    return any;
}
