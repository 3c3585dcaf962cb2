// SPDX-License-Identifier: Apache-2.0
// Connections that stand in several lines, each with workers of its own: which with which, and when
// none do.
#include "nesting/lines.h"

#include <math.h>
#include <string.h>

#include "data/random.h"
#include "tests/unit/test.h"

#define MS G_GINT64_CONSTANT(1000000)

typedef struct {
    guint lines, workers; // of each; workers 0: as many as it takes
    guint conns;
    guint n;     // calls
    guint renew; // calls after which a connection is closed, and its client opens another; 0: never
    double think_ms;
    guint64 seed;
} Node;

typedef struct {
    BbServed *served; // line: not set
    guint32 *line;    // the truth
    gint64 *begun;
    guint32 n;
} Planted;

static void planted_clear(Planted *planted)
{
    g_free(planted->served);
    g_free(planted->line);
    g_free(planted->begun);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Planted, planted_clear)

typedef struct {
    gint64 next; // when it calls again
    guint32 name, line, calls;
} Client;

// The first worker of a line that is free.
static gint64 *first_free(gint64 *free, const Node *node, guint32 line)
{
    gint64 *first = &free[line * node->workers];
    for (guint w = 1; w < node->workers; w++)
        if (free[line * node->workers + w] < *first)
            first = &free[line * node->workers + w];
    return first;
}

// Each client has one call open at a time; who arrives first in a line is first. Calls take some
// 10 ms, those of kind 1 half of that.
static Planted plant(const Node *node)
{
    BbRandom random = bb_random_start(node->seed + 1);
    g_autofree Client *clients = g_new0(Client, node->conns);
    g_autofree gint64 *free = g_new0(gint64, (gsize)node->lines * MAX(node->workers, 1));
    guint32 names = 0;
    Planted planted = {g_new0(BbServed, node->n), g_new(guint32, node->n), g_new(gint64, node->n),
                       node->n};
    for (guint c = 0; c < node->conns; c++)
        clients[c] =
            (Client){(gint64)(10 * bb_random_unit(&random) * MS), ++names, c % node->lines, 0};
    for (guint32 i = 0; i < node->n; i++) {
        Client *client = &clients[0];
        for (guint c = 1; c < node->conns; c++)
            client = clients[c].next < client->next ? &clients[c] : client;
        guint32 kind = bb_random_chance(&random, 0.3);
        gint64 takes = (gint64)(exp(0.3 * bb_random_normal(&random)) * (kind ? 5 : 10) * MS);
        gint64 *worker = node->workers > 0 ? first_free(free, node, client->line) : NULL;
        gint64 begun = worker ? MAX(*worker, client->next) : client->next;
        planted.served[i] = (BbServed){
            .s = client->next, .e = begun + takes, .call = i, .kind = kind, .conn = client->name};
        planted.line[i] = client->line;
        planted.begun[i] = begun;
        if (worker)
            *worker = begun + takes;
        client->next =
            begun + takes + (gint64)(node->think_ms * bb_random_exponential(&random) * MS);
        client->name = node->renew && ++client->calls % node->renew == 0 ? ++names : client->name;
    }
    return planted;
}

static guint find(BbServed *served, guint32 n)
{
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    return bb_lines_find(served, n, scale);
}

static void check_found(const Node *node, double least)
{
    g_auto(Planted) planted = plant(node);
    g_autofree gint64 *begun = g_new(gint64, planted.n);
    guint32 right = 0;
    ck_assert_uint_eq(find(planted.served, planted.n), node->workers);
    ck_assert_uint_le(bb_served_begin(planted.served, planted.n, node->workers, begun, NULL),
                      planted.n / 50);
    for (guint32 i = 0; i < planted.n; i++)
        right += begun[i] == planted.begun[i];
    ck_assert_msg(right >= least * planted.n, "%u lines of %u: %u of %u", node->lines,
                  node->workers, right, planted.n);
}

START_TEST(each_with_its_own)
{
    check_found(&(Node){2, 1, 6, 1500, 0, 5, 1}, 1);
    check_found(&(Node){2, 2, 12, 1500, 0, 5, 2}, 1);
    check_found(&(Node){4, 1, 16, 1500, 0, 20, 3}, 1);
    check_found(&(Node){4, 3, 32, 3000, 0, 10, 4}, 1);
}
END_TEST

// Half of the time a line is empty.
START_TEST(some_of_the_time)
{
    check_found(&(Node){2, 1, 8, 3000, 0, 60, 1}, 1);
    check_found(&(Node){2, 2, 16, 3000, 0, 60, 2}, 1);
}
END_TEST

// Whose first calls were not enough to tell begin when they arrive, and those after them too soon.
START_TEST(connections_that_come_later)
{
    check_found(&(Node){2, 2, 12, 20000, 1000, 5, 2}, 0.9);
}
END_TEST

static void check_none(const Node *node)
{
    g_auto(Planted) planted = plant(node);
    ck_assert_uint_eq(find(planted.served, planted.n), 0);
    for (guint32 i = 0; i < planted.n; i++)
        ck_assert_uint_eq(planted.served[i].line, 0);
}

START_TEST(nobody_waits)
{
    for (guint64 seed = 1; seed <= 4; seed++) {
        check_none(&(Node){1, 0, 6, 1500, 0, 5, seed});
        check_none(&(Node){1, 0, 40, 1500, 0, 5, seed});
        check_none(&(Node){6, 1, 6, 1500, 0, 5, seed}); // each has one for itself
    }
}
END_TEST

START_TEST(too_little_to_tell)
{
    check_none(&(Node){1, 1, 2, 1500, 0, 0, 1});
    check_none(&(Node){2, 1, 6, 30, 0, 0, 1});
    check_none(&(Node){2, 1, 6, 1500, 1, 5, 1}); // a connection for each call
    check_none(&(Node){2, 1, 300, 6000, 0, 0, 1});
    ck_assert_uint_eq(find(NULL, 0), 0);
    g_auto(Planted) planted = plant(&(Node){2, 2, 12, 1500, 0, 5, 2});
    for (guint32 i = 0; i < planted.n; i++)
        planted.served[i].conn = 0;
    ck_assert_uint_eq(find(planted.served, planted.n), 0);
}
END_TEST

// What began to wait differently halfway does not hold for all.
START_TEST(what_does_not_last)
{
    g_auto(Planted) first = plant(&(Node){2, 1, 8, 1500, 0, 5, 1});
    g_auto(Planted) then = plant(&(Node){1, 0, 8, 3000, 0, 5, 2});
    g_autofree BbServed *both = g_new(BbServed, 4500);
    gint64 shift = first.served[1499].s + MS;
    memcpy(both, first.served, 1500 * sizeof *both);
    for (guint32 i = 0; i < then.n; i++) {
        both[1500 + i] = then.served[i];
        both[1500 + i].s += shift;
        both[1500 + i].e += shift;
    }
    ck_assert_uint_eq(find(both, 4500), 0);
}
END_TEST

// Lines of their own for those on no connection that is known.
START_TEST(calls_without_connection)
{
    g_auto(Planted) planted = plant(&(Node){2, 2, 12, 3000, 0, 5, 2});
    for (guint32 i = 7; i < planted.n; i += 50)
        planted.served[i].conn = 0;
    ck_assert_uint_eq(find(planted.served, planted.n), 2);
    for (guint32 i = 0; i < planted.n; i++)
        ck_assert_int_eq(planted.served[i].line == BB_SERVED_NO_LINE, planted.served[i].conn == 0);
}
END_TEST

START_TEST(times_of_any_kind)
{
    BbRandom random = bb_random_start(8);
    g_auto(Planted) planted = plant(&(Node){2, 1, 8, 1500, 0, 5, 1});
    for (guint32 i = 3; i < planted.n; i += 3) {
        BbServed *served = &planted.served[i];
        if (bb_random_unit(&random) < 0.5)
            served->e = G_MAXINT64 - 1;
        else
            served->s = served->e = planted.served[i - 1].s;
    }
    planted.served[0].s = G_MININT64 + 1;
    find(planted.served, planted.n);
    for (guint32 i = 0; i < planted.n; i++) {
        guint32 line = planted.served[i].line;
        ck_assert(line < BB_SERVED_LINES || line == BB_SERVED_NO_LINE);
    }
}
END_TEST

TEST_MAIN("lines", each_with_its_own, some_of_the_time, connections_that_come_later, nobody_waits,
          too_little_to_tell, what_does_not_last, calls_without_connection, times_of_any_kind)
