// SPDX-License-Identifier: Apache-2.0
// In: requests to a node, and the calls it made. Out: on which connection the calls of each request
// went, and so when it began.
#include "nesting/keepers.h"

#include <math.h>

#include "data/tally.h"
#include "nesting/density.h"
#include "nesting/timesort.h"

#define FEWEST_CONNS 2u
#define MOST_CONNS BB_SERVED_WORKERS
#define CALLEES 3u    // that are looked at
#define ROUNDS 5u     // of learning
#define RECENT 16u    // calls that are counted; more are as so many
#define AT_ONCE 0.02  // share of the calls that may go out while another one is open there
#define LEFT_COST 5.0 // nats: calls on the connection are nobody's
#define NO_CALLS 0.01 // share of the requests without calls, at first
#define LEAST 1e-6    // that is left of a distribution

// Calls that go over a connection, as long as no reply has claimed them.
typedef struct {
    guint32 name, open;
    guint32 unclaimed;
    gint64 made_ns[RECENT]; // of the last of them, [number % RECENT]
    gint64 returned_ns;     // the last return
    gint64 claimed_ns;      // reply of the worker's last request; G_MININT64: none is known
} Conn;

// What a worker does after a return: it replies, or it calls again.
typedef struct {
    BbDensity *replies, *calls;
    guint32 n_replies[RECENT + 1], n_calls[RECENT + 1]; // after so many calls
    guint32 none;                                       // requests that made no call
    double log_none; // of how often one replies, in a unit of time
    guint32 usual;   // calls of a request, at first; 0: something was learned
} Habits;

struct BbKeepers {
    Habits habits;
    guint32 callee;
    const BbGapScale *scale;
};

// A pass over a stretch of time.
typedef struct {
    const BbKeepers *keepers;
    Habits *learns; // NULL: nothing
    Conn conns[MOST_CONNS];
    guint n_conns;
    BbTally slot; // of connections, plus one
} Pass;

// ---- habits ------------------------------------------------------------------------------------

static void habits_init(Habits *habits)
{
    *habits = (Habits){.replies = bb_density_new(), .calls = bb_density_new()};
}

static void habits_clear(Habits *habits)
{
    g_free(habits->replies);
    g_free(habits->calls);
}

static guint bin_of(const BbGapScale *scale, gint64 from, gint64 to)
{
    return bb_gap_bin(scale, bb_time_between(from, to) / BB_SERVED_UNIT_NS);
}

static void habits_fit(Habits *habits, const BbGapScale *scale, gint64 lasted_ns)
{
    bb_density_fit(habits->replies, scale);
    bb_density_fit(habits->calls, scale);
    habits->log_none = log((habits->none + 0.5) / ((double)lasted_ns / BB_SERVED_UNIT_NS + 1));
}

static double left_of(const BbDensity *density, guint bin)
{
    return MAX(1 - (double)density->below[bin], LEAST);
}

// Log of how often a worker replies in a unit of time that made so many calls, this long after the
// last return.
static double log_hazard(const Habits *habits, guint32 n, guint bin, gint64 lag)
{
    if (habits->usual > 0)
        return -(double)lag / 1e9 - (n < habits->usual ? 1e3 : 0);
    double ended = habits->n_replies[n] + 0.5, went_on = habits->n_calls[n] + 0.5;
    double left = ended * left_of(habits->replies, bin) + went_on * left_of(habits->calls, bin);
    return log(ended / left) + (double)habits->replies->log[bin];
}

// ---- connections -------------------------------------------------------------------------------

// The one that rested longest makes way where there are too many; NULL: none rests.
static Conn *conn_add(Pass *pass, guint32 name)
{
    Conn *conn = NULL;
    if (pass->n_conns < MOST_CONNS) {
        conn = &pass->conns[pass->n_conns++];
    } else {
        for (guint c = 0; c < MOST_CONNS; c++)
            if (pass->conns[c].open == 0 &&
                (!conn || pass->conns[c].returned_ns < conn->returned_ns))
                conn = &pass->conns[c];
        if (!conn)
            return NULL;
        *bb_tally_at(&pass->slot, (BbTallyKey){conn->name, 0, 0}) = 0;
    }
    *conn = (Conn){.name = name, .returned_ns = G_MININT64, .claimed_ns = G_MININT64};
    *bb_tally_at(&pass->slot, (BbTallyKey){name, 0, 0}) = (guint64)(conn - pass->conns) + 1;
    return conn;
}

static Conn *conn_of(Pass *pass, guint32 name)
{
    guint64 slot = bb_tally_get(&pass->slot, (BbTallyKey){name, 0, 0});
    return slot > 0 ? &pass->conns[slot - 1] : NULL;
}

// Those without return last no time.
static bool lasts(const BbCall *call)
{
    return call->return_ns > call->call_ns;
}

static void add_call(Pass *pass, const BbCall *call)
{
    Conn *conn = conn_of(pass, call->conn);
    if (!conn)
        conn = conn_add(pass, call->conn);
    if (!conn)
        return;
    if (pass->learns && conn->unclaimed > 0 && conn->open == 0) {
        guint bin = bin_of(pass->keepers->scale, conn->returned_ns, call->call_ns);
        pass->learns->n_calls[MIN(conn->unclaimed, RECENT)]++;
        bb_density_add(pass->learns->calls, bin, 1);
    }
    conn->made_ns[conn->unclaimed++ % RECENT] = call->call_ns;
    if (lasts(call))
        conn->open++;
    else
        conn->returned_ns = MAX(conn->returned_ns, call->call_ns);
}

static void add_return(Pass *pass, const BbCall *call)
{
    Conn *conn = conn_of(pass, call->conn);
    if (!conn || conn->open == 0) // it made way
        return;
    conn->open--;
    conn->returned_ns = call->return_ns;
}

// Calls there that a request may have made which arrived then.
static guint32 calls_since(const Conn *conn, gint64 arrived_ns)
{
    guint32 n = 0, most = MIN(conn->unclaimed, RECENT);
    while (n < most && conn->made_ns[(conn->unclaimed - 1 - n) % RECENT] >= arrived_ns)
        n++;
    return n;
}

// The connection on whose worker it is to reply to the request; NULL: on that of none.
static Conn *find_worker(Pass *pass, const BbServed *request)
{
    const Habits *habits = &pass->keepers->habits;
    Conn *best = NULL;
    double most = habits->usual > 0 ? -G_MAXDOUBLE : habits->log_none;
    for (guint c = 0; c < pass->n_conns; c++) {
        Conn *conn = &pass->conns[c];
        guint32 n = conn->open == 0 ? calls_since(conn, request->s) : 0;
        if (n == 0)
            continue;
        gint64 lag = bb_time_between(conn->returned_ns, request->e);
        guint bin = bb_gap_bin(pass->keepers->scale, lag / BB_SERVED_UNIT_NS);
        double log = log_hazard(habits, n, bin, lag);
        if (n < MIN(conn->unclaimed, RECENT))
            log -= LEFT_COST;
        if (log > most) {
            most = log;
            best = conn;
        }
    }
    return best;
}

// Returns when it began; G_MININT64: that is not known.
static gint64 add_reply(Pass *pass, const BbServed *request)
{
    Conn *conn = find_worker(pass, request);
    if (!conn) {
        if (pass->learns)
            pass->learns->none++;
        return G_MININT64;
    }
    if (pass->learns) {
        guint bin = bin_of(pass->keepers->scale, conn->returned_ns, request->e);
        pass->learns->n_replies[calls_since(conn, request->s)]++;
        bb_density_add(pass->learns->replies, bin, 1);
    }
    gint64 begun = MAX(request->s, conn->claimed_ns);
    conn->claimed_ns = request->e;
    conn->unclaimed = 0;
    return begun;
}

// ---- passes ------------------------------------------------------------------------------------

// Calls to a callee on known connections, as long as some requests are open, from the first of
// them on.
typedef struct {
    const BbCall **call; // in order of call_ns
    BbTimed *back;       // of the returns of those that last, in order
    guint32 n, n_back;
} Made;

static void made_clear(Made *made)
{
    g_free(made->call);
    g_free(made->back);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Made, made_clear)

// To any callee; back is not there yet.
static Made made_in(const BbServed *served, guint32 n, const BbCall *calls, const guint32 *list,
                    guint32 n_list)
{
    Made made = {.call = g_new(const BbCall *, (gsize)n_list + 1)};
    gint64 last_ns = G_MININT64;
    for (guint32 i = 0; i < n; i++)
        last_ns = MAX(last_ns, served[i].e);
    for (guint32 i = 0; i < n_list; i++) {
        const BbCall *call = &calls[list[i]];
        if (call->conn != 0 && call->call_ns >= served[0].s && call->call_ns <= last_ns)
            made.call[made.n++] = call;
    }
    return made;
}

static Made made_to(const Made *all, guint32 callee)
{
    Made made = {.call = g_new(const BbCall *, (gsize)all->n + 1),
                 .back = g_new(BbTimed, (gsize)all->n + 1)};
    g_autofree BbTimed *scratch = g_new(BbTimed, (gsize)all->n + 1);
    for (guint32 i = 0; i < all->n; i++) {
        const BbCall *call = all->call[i];
        if (call->callee != callee)
            continue;
        if (lasts(call))
            made.back[made.n_back++] = (BbTimed){call->return_ns, made.n};
        made.call[made.n++] = call;
    }
    bb_timesort(made.back, scratch, made.n_back);
    return made;
}

// Returns how many are back by then, `returned` of which were added before.
static guint32 add_returns(Pass *pass, const Made *made, guint32 returned, gint64 until_ns)
{
    for (; returned < made->n_back && made->back[returned].time_ns <= until_ns; returned++)
        add_return(pass, made->call[made->back[returned].index]);
    return returned;
}

// One reply after the other, with what the node called and got back before it.
static void pass_run(Pass *pass, const BbServed *served, guint32 n, const Made *made, gint64 *begun)
{
    g_autofree BbTimed *reply = g_new(BbTimed, (gsize)n + 1);
    g_autofree BbTimed *scratch = g_new(BbTimed, (gsize)n + 1);
    guint32 called = 0, returned = 0;
    for (guint32 i = 0; i < n; i++)
        reply[i] = (BbTimed){served[i].e, i};
    bb_timesort(reply, scratch, n);
    bb_tally_init(&pass->slot);
    for (guint32 k = 0; k < n; k++) {
        gint64 now_ns = reply[k].time_ns;
        for (; called < made->n && made->call[called]->call_ns <= now_ns; called++) {
            returned = add_returns(pass, made, returned, made->call[called]->call_ns);
            add_call(pass, made->call[called]);
        }
        returned = add_returns(pass, made, returned, now_ns);
        begun[reply[k].index] = add_reply(pass, &served[reply[k].index]);
    }
    bb_tally_clear(&pass->slot);
}

// ---- learning ----------------------------------------------------------------------------------

// Who is called most often, but for those tried; BB_NAME_NONE: nobody.
static guint32 find_callee(const Made *all, const guint32 *tried, guint n_tried)
{
    BbTally count;
    guint32 best = BB_NAME_NONE;
    guint64 most = 0;
    bb_tally_init(&count);
    for (guint32 i = 0; i < all->n; i++) {
        guint32 callee = all->call[i]->callee;
        guint64 times = ++*bb_tally_at(&count, (BbTallyKey){callee, 0, 0});
        bool is_new = true;
        for (guint k = 0; k < n_tried && is_new; k++)
            is_new = callee != tried[k];
        if (is_new && times > most) {
            most = times;
            best = callee;
        }
    }
    bb_tally_clear(&count);
    return best;
}

// Whether there are several connections, but not many, with one call at a time.
static bool may_be_kept(const Made *made)
{
    BbTally until; // connection -> return of its last call
    guint32 at_once = 0;
    bb_tally_init(&until);
    for (guint32 i = 0; i < made->n; i++) {
        const BbCall *call = made->call[i];
        guint64 *last = bb_tally_at(&until, (BbTallyKey){call->conn, 0, 0});
        at_once += *last != 0 && (gint64)*last > call->call_ns;
        *last = (guint64)MAX(call->call_ns, call->return_ns);
    }
    gsize n = until.used;
    bb_tally_clear(&until);
    return n >= FEWEST_CONNS && n <= MOST_CONNS && at_once <= AT_ONCE * made->n;
}

static void learn(BbKeepers *keepers, const BbServed *served, guint32 n, const Made *made)
{
    g_autofree gint64 *begun = g_new(gint64, (gsize)n + 1);
    gint64 lasted_ns = bb_time_between(served[0].s, served[n - 1].s);
    keepers->habits.usual = CLAMP((made->n + n / 2) / n, 1, RECENT);
    for (guint round = 0; round < ROUNDS; round++) {
        Habits learns;
        habits_init(&learns);
        g_autofree Pass *pass = g_new0(Pass, 1);
        pass->keepers = keepers;
        pass->learns = &learns;
        pass_run(pass, served, n, made, begun);
        learns.none = MAX(learns.none, (guint32)(NO_CALLS * n));
        habits_fit(&learns, keepers->scale, lasted_ns);
        habits_clear(&keepers->habits);
        keepers->habits = learns;
    }
}

BbKeepers *bb_keepers_learn(const BbServed *served, guint32 n, const BbCall *calls,
                            const guint32 *made, guint32 n_made, const BbGapScale *scale)
{
    guint32 tried[CALLEES];
    if (n == 0 || n_made == 0)
        return NULL;
    g_auto(Made) all = made_in(served, n, calls, made, n_made);
    for (guint k = 0; k < CALLEES; k++) {
        tried[k] = find_callee(&all, tried, k);
        if (tried[k] == BB_NAME_NONE)
            break;
        g_auto(Made) to = made_to(&all, tried[k]);
        if (!may_be_kept(&to))
            continue;
        BbKeepers *keepers = g_new0(BbKeepers, 1);
        keepers->callee = tried[k];
        keepers->scale = scale;
        habits_init(&keepers->habits);
        learn(keepers, served, n, &to);
        return keepers;
    }
    return NULL;
}

void bb_keepers_free(BbKeepers *keepers)
{
    if (!keepers)
        return;
    habits_clear(&keepers->habits);
    g_free(keepers);
}

void bb_keepers_begin(const BbKeepers *keepers, const BbServed *served, guint32 n,
                      const BbCall *calls, const guint32 *made, guint32 n_made, gint64 *begun)
{
    g_auto(Made) all = made_in(served, n, calls, made, n_made);
    g_auto(Made) to = made_to(&all, keepers->callee);
    g_autofree Pass *pass = g_new0(Pass, 1);
    pass->keepers = keepers;
    pass_run(pass, served, n, &to, begun);
}
