// SPDX-License-Identifier: Apache-2.0
// In: an assignment. Out: what a call's connection says of its parent.
//
// A call is the first one that its parent makes to a callee, or a later one. A later one may go out
// on the connection of the one before it. Else what counts are the calls next to it on its
// connection that other parents made: whether these had the same owner as its parent, that is, were
// served by the same process or thread. The odds are how often that is so of the parents that calls
// have, against how often it is so of the candidates that they do not have. A call on the
// connection that a pool's order gave it (handout.h) teaches nothing.
#include "nesting/connections.h"

#include <math.h>
#include <string.h>

#define NEAR 4u              // calls on a connection on either side that are looked at
#define REACH 32u            // children of a parent before one
#define OBSERVED_MOST 20000u // children of an assignment,
#define LOT 2654435761u      // drawn by lot: a multiplier of all bits (Knuth 6.4)
#define DOUBTED 10.0         // imagined calls that show nothing
#define OWNED 3.0f           // log odds of an owner that is known before anything was learned
#define GAIN_LEAST 6.0       // log likelihood that connections of a kind of calls must explain,
#define GAIN_GUESSED 0.15    // and for each call, while assignments are still guesses
#define GAIN_EACH \
    0.5 // afterwards; with a pool, where what is free decides, they explain some 0.2,
        // and that is known from the times already

typedef enum {
    FIRST_NONE, // of the calls next to it have the owner
    FIRST_SOME,
    FIRST_MOST,
    LATER_NONE,  // likewise; and each of these is LATER_OTHER, too:
    LATER_SOME,  // whether an owner is known at all tells no more than what was called before,
    LATER_MOST,  // which is evidence that is counted elsewhere
    LATER_OTHER, // goes out on another connection than the call before it,
    LATER_SAME,  // or on the same
    SIGHTS,
    UNKNOWN = SIGHTS,
} Sight;

// Two ways to tell the owner: by the parent's incoming connection, or by the one that the child's
// sibling before it to another callee went out on.
enum { BY_SERVED, BY_SIBLING, WAYS };

// A call on a connection, and whose it is.
typedef struct {
    guint32 conn, parent;
    BbSiteEnd owner[WAYS];
} Made;

typedef struct {
    double own[SIGHTS], other[SIGHTS]; // parents that calls have; candidates that they do not
    float log[SIGHTS];
} Odds;

struct BbConnections {
    const BbSite *site; // whose assignment was observed last; only compared
    guint nc;
    Odds *odds[WAYS]; // of types of children
    guint way;        // the one that tells more
    bool tells, holds;
    bool unheard;    // but for owners that are known before any assignment
    guint32 *served; // of parents: their incoming connection; 0: not known, or of no other parent
    guint32 *order;  // children whose connection is known, by connection, then time
    Made *made;      // of order[i]
    guint32 *place;  // of children: i
    guint32 n;
};

// What only one parent came on says nothing of others.
static void find_served(BbConnections *connections, const BbSite *site)
{
    g_autoptr(GHashTable) first =
        g_hash_table_new(NULL, NULL); // connection -> 1 + its first parent
    guint32 *served = connections->served = g_renew(guint32, connections->served, site->n_parents);
    for (guint32 p = 0; p < site->n_parents; p++) {
        gpointer key = GUINT_TO_POINTER(site->parents[p].conn);
        guint other = GPOINTER_TO_UINT(g_hash_table_lookup(first, key));
        served[p] = other > 0 ? site->parents[p].conn : 0;
        if (other > 0)
            served[other - 1] = served[p];
        else
            g_hash_table_insert(first, key, GUINT_TO_POINTER(p + 1));
    }
}

static void forget_made(BbConnections *connections, const BbSite *site)
{
    for (guint32 i = 0; i < connections->n; i++) {
        guint32 x = connections->order[i];
        connections->place[x] = i;
        connections->made[i] = (Made){site->children[x].conn, BB_SITE_NONE, {{0, 0}, {0, 0}}};
    }
}

static void look_at(BbConnections *connections, const BbSite *site)
{
    connections->site = site;
    g_free(connections->order);
    connections->order = bb_site_by_conn(site, &connections->n);
    connections->made = g_renew(Made, connections->made, connections->n);
    connections->place = g_renew(guint32, connections->place, site->n_children);
    find_served(connections, site);
    forget_made(connections, site);
}

static bool is_any_shared(const BbConnections *connections)
{
    for (guint32 i = 1; i < connections->n; i++)
        if (connections->made[i].conn == connections->made[i - 1].conn)
            return true;
    return false;
}

BbConnections *bb_connections_new(const BbSite *site)
{
    g_autoptr(BbConnections) connections = g_new0(BbConnections, 1);
    connections->nc = site->n_child_types;
    for (guint way = 0; way < WAYS; way++)
        connections->odds[way] = g_new0(Odds, site->n_child_types);
    look_at(connections, site);
    return is_any_shared(connections) ? g_steal_pointer(&connections) : NULL;
}

void bb_connections_free(BbConnections *connections)
{
    if (!connections)
        return;
    for (guint way = 0; way < WAYS; way++)
        g_free(connections->odds[way]);
    g_free(connections->served);
    g_free(connections->order);
    g_free(connections->made);
    g_free(connections->place);
    g_free(connections);
}

void bb_connections_reset(BbConnections *connections)
{
    if (!connections)
        return;
    for (guint way = 0; way < WAYS; way++)
        memset(connections->odds[way], 0, connections->nc * sizeof(Odds));
    connections->tells = connections->holds = false;
}

bool bb_connections_holds(const BbConnections *connections)
{
    return connections && connections->holds;
}

void bb_connections_meet(BbConnections *connections, const BbSite *site)
{
    if (connections)
        look_at(connections, site);
}

void bb_connections_expect(BbConnections *connections, const BbSite *site)
{
    if (!connections)
        return;
    g_assert(connections->site == site);
    bb_connections_reset(connections);
    forget_made(connections, site);
    connections->way = BY_SERVED;
    connections->tells = site->owner != NULL;
    for (guint c = 0; c < connections->nc && connections->tells; c++) {
        float *log = connections->odds[BY_SERVED][c].log;
        log[FIRST_NONE] = log[LATER_NONE] = -OWNED;
        log[FIRST_MOST] = log[LATER_MOST] = log[LATER_SAME] = OWNED;
    }
}

// ---- sights ------------------------------------------------------------------------------------

// A child and what its parent did before it.
typedef struct {
    guint32 x;
    BbSiteEnd owner[WAYS];
    guint32 held; // connection of the sibling before it to the same callee; 0: none
} Scene;

// sibling: that owner is asked for, too.
static Scene look_back(const BbConnections *connections, const BbSite *site, guint32 parent,
                       const guint32 *kids, guint32 n, guint32 x, bool sibling)
{
    BbSiteEnd served = {connections->served[parent], site->parents[parent].caller};
    Scene scene = {x, {served, {0, 0}}, 0};
    BbSiteEnd *other = &scene.owner[BY_SIBLING];
    guint32 stop = n > REACH ? n - REACH : 0, callee = site->children[x].callee;
    for (guint32 i = n; i > stop && (sibling || scene.held == 0); i--) {
        const BbSiteChild *y = &site->children[kids[i - 1]];
        if (y->callee == callee)
            scene.held = scene.held != 0 ? scene.held : y->conn;
        else if (sibling && y->conn != 0)
            *other = (BbSiteEnd){y->conn, y->callee};
        sibling = sibling && other->conn == 0;
    }
    return scene;
}

// How many of the calls next to x on its connection have the same owner as x.
typedef struct {
    guint known, same;
} Share;

// Owners on connections with another peer are not compared: who calls, and what was called before,
// is evidence that is counted elsewhere.
static void compare(Share *share, BbSiteEnd owner, BbSiteEnd other)
{
    if (other.conn == 0 || other.peer != owner.peer)
        return;
    share->known++;
    share->same += other.conn == owner.conn;
}

// But for those of that parent, and of the one that x has: they are its own guesses.
static Share share_of(const BbConnections *connections, const BbSite *site, guint32 parent,
                      const Scene *scene, guint way)
{
    BbSiteEnd owner = scene->owner[way];
    guint32 at = connections->place[scene->x];
    const Made *made = connections->made;
    Share share = {0, 0};
    if (way == BY_SERVED && site->owner && site->owner[scene->x].conn != 0) {
        owner.conn = site->parents[parent].conn; // even if no other parent came on it
        if (owner.conn != 0)
            compare(&share, owner, site->owner[scene->x]);
        return share;
    }
    if (owner.conn == 0)
        return share;
    for (guint32 i = at; i > 0 && at - i < NEAR && made[i - 1].conn == made[at].conn; i--)
        if (made[i - 1].parent != parent && made[i - 1].parent != made[at].parent)
            compare(&share, owner, made[i - 1].owner[way]);
    guint32 end = MIN(connections->n, at + 1 + NEAR);
    for (guint32 i = at + 1; i < end && made[i].conn == made[at].conn; i++)
        if (made[i].parent != parent && made[i].parent != made[at].parent)
            compare(&share, owner, made[i].owner[way]);
    return share;
}

static Sight sight_of(const BbConnections *connections, const BbSite *site, guint32 parent,
                      const Scene *scene, guint way)
{
    if (scene->held == site->children[scene->x].conn)
        return LATER_SAME;
    Share share = share_of(connections, site, parent, scene, way);
    if (share.known == 0)
        return scene->held != 0 ? LATER_OTHER : UNKNOWN;
    guint how_many = share.same == 0 ? 0 : 2 * share.same < share.known ? 1 : 2;
    return (Sight)((scene->held != 0 ? LATER_NONE : FIRST_NONE) + how_many);
}

static bool is_later_by_owner(Sight sight)
{
    return sight >= LATER_NONE && sight <= LATER_MOST;
}

bool bb_connections_tells(const BbConnections *connections, const BbSite *site)
{
    return connections && connections->tells && connections->site == site;
}

double bb_connections_odds(const BbConnections *connections, const BbSite *site, guint32 parent,
                           const guint32 *kids, guint32 n, guint32 x)
{
    const BbSiteChild *child = &site->children[x];
    if (!bb_connections_tells(connections, site) || child->conn == 0)
        return 0;
    Scene scene = look_back(connections, site, parent, kids, n, x, connections->way == BY_SIBLING);
    Sight sight = sight_of(connections, site, parent, &scene, connections->way);
    const Odds *odds = &connections->odds[connections->way][child->type];
    if (sight == UNKNOWN)
        return 0;
    return (double)(odds->log[sight] + (is_later_by_owner(sight) ? odds->log[LATER_OTHER] : 0));
}

// ---- learning ----------------------------------------------------------------------------------

static Scene look_at_child(const BbConnections *connections, const BbSite *site, guint32 parent,
                           guint32 x)
{
    const BbKids *kids = &site->kids[parent];
    return look_back(connections, site, parent, kids->at, bb_kids_before(kids, x), x, true);
}

static void note_made(BbConnections *connections, const BbSite *site)
{
    for (guint32 i = 0; i < connections->n; i++) {
        guint32 x = connections->order[i];
        Made *made = &connections->made[i];
        Scene scene = {.x = x};
        made->parent = site->parent[x];
        if (made->parent != BB_SITE_NONE)
            scene = look_at_child(connections, site, made->parent, x);
        memcpy(made->owner, scene.owner, sizeof made->owner);
    }
}

static void count(double *sights, Sight sight, double weight)
{
    if (sight == UNKNOWN)
        return;
    sights[sight] += weight;
    if (is_later_by_owner(sight))
        sights[LATER_OTHER] += weight;
}

static void observe(BbConnections *connections, const BbSite *site, guint32 x, double weight)
{
    for (guint32 i = site->first[x]; i < site->first[x + 1]; i++) {
        guint32 p = site->list[i];
        Scene scene = look_at_child(connections, site, p, x);
        for (guint way = 0; way < WAYS; way++) {
            Odds *odds = &connections->odds[way][site->children[x].type];
            Sight sight = sight_of(connections, site, p, &scene, way);
            count(p == site->parent[x] ? odds->own : odds->other, sight, weight);
        }
    }
}

// Of children in doubt alone: where few requests are open, pools look as if they had owners.
void bb_connections_observe(BbConnections *connections, const BbSite *site, double weight)
{
    if (!connections)
        return;
    if (connections->site != site)
        look_at(connections, site);
    note_made(connections, site);
    guint32 step = 1 + connections->n / OBSERVED_MOST;
    for (guint32 i = 0; i < connections->n; i++) {
        guint32 x = connections->order[i];
        bool is_drawn = (x * LOT >> 16) % step == 0 && !site->children[x].handed;
        if (is_drawn && site->parent[x] != BB_SITE_NONE && site->first[x + 1] - site->first[x] > 1)
            observe(connections, site, x, weight);
    }
}

// The odds of n sights from one of them on. Returns what they explain; 0 where that is less than it
// must be.
static double fit(Odds *odds, guint from, guint n, double gain_each)
{
    double own = 0, other = 0, gain = 0;
    for (guint s = from; s < from + n; s++) {
        own += odds->own[s];
        other += odds->other[s];
    }
    for (guint s = from; s < from + n; s++) {
        double of_all = (odds->own[s] + odds->other[s]) / MAX(own + other, 1);
        double usual = (odds->other[s] + DOUBTED * of_all + 0.5) / (other + DOUBTED + 0.5 * n);
        double is = (odds->own[s] + DOUBTED * usual) / (own + DOUBTED);
        odds->log[s] = (float)log(is / usual);
        gain += odds->own[s] * (double)odds->log[s];
    }
    if (gain >= GAIN_LEAST + gain_each * own)
        return gain;
    memset(odds->log + from, 0, n * sizeof *odds->log);
    return 0;
}

void bb_connections_hear(BbConnections *connections, bool heard)
{
    if (connections)
        connections->unheard = !heard;
}

void bb_connections_fit(BbConnections *connections, bool guessed)
{
    double gain[WAYS] = {0}, each = guessed ? GAIN_GUESSED : GAIN_EACH;
    if (!connections)
        return;
    for (guint way = 0; way < WAYS; way++) {
        for (guint c = 0; c < connections->nc; c++) {
            Odds *odds = &connections->odds[way][c];
            gain[way] += fit(odds, FIRST_NONE, LATER_NONE - FIRST_NONE, each);
            gain[way] += fit(odds, LATER_NONE, LATER_OTHER - LATER_NONE, each);
            gain[way] += fit(odds, LATER_OTHER, SIGHTS - LATER_OTHER, each);
        }
    }
    connections->way = gain[BY_SIBLING] > gain[BY_SERVED] ? BY_SIBLING : BY_SERVED;
    bool heard = !connections->unheard || connections->site->owner;
    connections->tells = heard && gain[connections->way] > 0;
    connections->holds = false;
    for (guint c = 0; c < connections->nc; c++)
        connections->holds |= connections->odds[connections->way][c].log[LATER_SAME] > 0;
}
