// SPDX-License-Identifier: Apache-2.0
// In: calls. Out: their parents, and how sure each is.
//
// Node by node: a model is learned on the node's calls, or on a sample of them where they are many
// and few are open at once, from one to four beginnings, and all of its calls are assigned under
// the likeliest; where there are more, the others say how sure that is. Nodes that prove to be
// joins are done again, with the place of a call in its tree in place of its caller.
#include "nesting/joint.h"

#include "data/large.h"
#include "nesting/answer.h"
#include "nesting/caused.h"
#include "nesting/durations.h"
#include "nesting/joins.h"
#include "nesting/sites.h"

#define BETTER 20.0      // by which another look at a site must exceed the likelihood of the
#define BETTER_EACH 0.01 // first, and for each parent: it has more freedom
#define COARSE 1.0       // calls in a quantum of stamps: more, and times tell little
#define PLAIN 30u        // children: fewer, each with one candidate, need no model

struct BbJoint {
    BbNestingOptions options;
    const BbNames *names;
    BbGapScale *scale;
};

BbJoint *bb_joint_new(const BbNestingOptions *options, const BbNames *names)
{
    BbJoint *joint = g_new0(BbJoint, 1);
    joint->options = *options;
    joint->names = names;
    joint->scale = bb_gap_scale_new();
    return joint;
}

void bb_joint_free(BbJoint *joint)
{
    if (!joint)
        return;
    bb_gap_scale_free(joint->scale);
    g_free(joint);
}

// Whether there is nothing to learn from, and nothing to choose: few children, each with one
// candidate at most.
static bool is_plain(const BbSite *site)
{
    bool plain = site->n_children < PLAIN;
    for (guint32 x = 0; plain && x < site->n_children; x++)
        plain = site->first[x + 1] - site->first[x] <= 1;
    return plain;
}

// What is known of a site from earlier looks at it.
typedef struct {
    bool looked, taken; // ever; since it was last set to false
    double each;        // log likelihood for each parent that the next look must exceed
} Look;

// Learns a site, and writes the parents of its children if that explains the site better than an
// earlier look, by so much more for each parent.
static void solve(const BbJoint *joint, BbSite *site, const BbOnset *onset, BbPaths *paths,
                  bool *given_up, Look *look, double margin)
{
    bool first = !look->looked;
    look->looked = true;
    if (is_plain(site)) {
        if (first)
            bb_answer_only(site, paths, given_up);
        return;
    }
    bb_durations_rank(site, joint->scale);
    g_auto(BbLearned) learned = bb_learning_run(site, onset, joint->scale);
    double likelihood = bb_learned_best(&learned)->likelihood;
    if (likelihood / site->n_parents <= look->each + margin)
        return;
    look->taken = true;
    look->each = (likelihood + BETTER) / site->n_parents + BETTER_EACH;
    bb_answer_publish(site, &learned, paths, given_up);
}

// ---- all sites ---------------------------------------------------------------------------------

typedef struct {
    const BbJoint *joint;
    BbPaths *paths;
    bool *given_up;
    BbSites *sites;
    guint n_sites, next; // of this look
    Look *looks;         // of nodes
    GMutex mutex;        // of what follows, and of whether there is a pool_wait
    guint64 children, candidates;
    double in_quantum; // of the site with most
    gint64 quantum_ns;
} Work;

static void note_facts(Work *work, const BbMade *made)
{
    g_mutex_lock(&work->mutex);
    work->children += made->children;
    work->candidates += made->candidates;
    work->in_quantum = MAX(work->in_quantum, made->in_quantum);
    work->quantum_ns = made->site->quantum_ns;
    if (made->site->freed && !work->paths->pool_wait)
        g_atomic_pointer_set(&work->paths->pool_wait,
                             bb_large_new0(BbPoolWait, work->paths->n_calls));
    g_mutex_unlock(&work->mutex);
}

// Each site is made and solved by one thread, and writes to calls that no other writes to.
static gpointer work(gpointer data)
{
    Work *work = data;
    guint index;
    while ((index = (guint)g_atomic_int_add(&work->next, 1)) < work->n_sites) {
        g_auto(BbMade) made = bb_sites_make(work->sites, index);
        note_facts(work, &made);
        if (bb_site_is_crowded(made.site)) {
            g_autoptr(BbCaused) caused = bb_caused_new(made.site, work->joint->scale);
            bb_caused_find(caused, made.onset->is_caused);
        }
        solve(work->joint, made.site, made.onset, work->paths, work->given_up,
              &work->looks[made.site->team], bb_sites_margin(work->sites, made.site->team));
    }
    return NULL;
}

// A look at each of the sites (bb_sites_look), which takes what explains it better.
static void look_at(Work *all, const guint8 *place, const gint64 *ready_ns,
                    const BbWorkers *workers)
{
    all->n_sites = bb_sites_look(all->sites, place, ready_ns, workers);
    all->next = 0;
    all->children = all->candidates = 0;
    all->in_quantum = 0;
    guint n = all->joint->options.threads;
    n = CLAMP(all->n_sites, 1, n > 0 ? n : g_get_num_processors());
    g_autofree GThread **threads = g_new(GThread *, n);
    for (guint i = 1; i < n; i++)
        threads[i] = g_thread_new("nesting", work, all);
    work(all);
    for (guint i = 1; i < n; i++)
        g_thread_join(threads[i]);
}

// Who waits for none but its operation may have called others before: it waited since the last of
// these returned, or was made, if it did not return.
static void take_off_calls(BbPaths *paths, const BbWorkers *workers, bool last_byte)
{
    for (guint32 i = 0; i < paths->n_calls; i++) {
        const BbCall *call = &paths->calls[i];
        guint32 parent = paths->parent[i];
        if (parent == BB_CALL_NO_PARENT || !paths->worker_wait[parent].by_op)
            continue;
        gint64 turn_ns = workers->begun_ns[parent], *ns = &paths->worker_wait[parent].ns;
        if (call->call_ns < turn_ns)
            *ns = MIN(*ns, bb_time_between(MIN(bb_call_back(call, last_byte), turn_ns), turn_ns));
    }
}

static void note_worker_waits(BbPaths *paths, const BbWorkers *workers, bool last_byte)
{
    for (guint32 i = 0; i < paths->n_calls; i++) {
        const BbCall *call = &paths->calls[i];
        guint32 limit = bb_workers_limit(workers, call);
        if (limit == 0)
            continue;
        if (!paths->worker_wait)
            paths->worker_wait = bb_large_new0(BbWorkerWait, paths->n_calls);
        paths->worker_wait[i] =
            (BbWorkerWait){.limit = limit,
                           .lines = workers->lines[call->callee],
                           .keep = workers->keep[call->callee],
                           .by_op = workers->limit[call->callee] == 0,
                           .ns = bb_time_between(call->arrived_ns, workers->begun_ns[i])};
    }
    if (paths->worker_wait)
        take_off_calls(paths, workers, last_byte);
}

// Another look at nodes that have so many workers, as the times of the calls to them would have it.
// What does not explain what they do better is forgotten; of those that call nobody there is
// nothing to compare.
static void look_at_workers(Work *all, guint32 n_names)
{
    const BbJoint *joint = all->joint;
    BbPaths *paths = all->paths;
    g_autoptr(BbWorkers) workers =
        bb_workers_find(paths->calls, paths->n_calls, n_names, joint->options.labels,
                        joint->options.connections, joint->scale);
    if (!workers)
        return;
    const guint32 *team = bb_sites_teams(all->sites);
    for (guint32 n = 0; n < n_names; n++)
        all->looks[n].taken = false;
    look_at(all, NULL, NULL, workers);
    for (guint32 n = 0; n < n_names; n++)
        if (all->looks[team[n]].looked && !all->looks[team[n]].taken)
            workers->margin[n] = 0;
    note_worker_waits(paths, workers, joint->options.latency_last_byte);
}

static void look_at_joins(Work *all)
{
    g_autofree gint64 *ready_ns = NULL;
    g_autofree guint8 *place = bb_joins_find(all->paths, &ready_ns);
    if (place)
        look_at(all, place, ready_ns, NULL);
}

void bb_joint_run(BbJoint *joint, BbPaths *paths, const bool *hanging, bool *given_up)
{
    guint32 n_names = bb_names_count(joint->names);
    g_autofree Look *looks = g_new(Look, n_names);
    g_autoptr(BbSites) sites = bb_sites_new(
        paths->calls, paths->n_calls, n_names, joint->options.skew_window_ns, joint->options.labels,
        joint->options.connections, joint->options.roles, joint->scale, hanging);
    for (guint32 n = 0; n < n_names; n++)
        looks[n] = (Look){.each = -G_MAXDOUBLE};
    for (guint32 i = 0; i < paths->n_calls; i++)
        paths->confidence[i] = paths->whole[i] = 1;
    Work all = {
        .joint = joint, .paths = paths, .given_up = given_up, .sites = sites, .looks = looks};
    g_mutex_init(&all.mutex);
    look_at(&all, NULL, NULL, NULL);
    paths->facts.children = all.children;
    paths->facts.candidates = all.candidates;
    if (all.in_quantum > COARSE) {
        paths->facts.in_quantum = all.in_quantum;
        paths->facts.quantum_ns = all.quantum_ns;
    }
    look_at_workers(&all, n_names);
    look_at_joins(&all);
    g_mutex_clear(&all.mutex);
}
