// SPDX-License-Identifier: Apache-2.0
// In: a mirror, and how a host's interfaces hang together. Out: the way on which a copy comes back.
#include "capture/mirror/loop.h"

#include <string.h>

// A point is an interface and a direction: 2 i is received at, 2 i + 1 is sent out at interface i.
typedef struct Walk {
    const BbMirror *mirror;
    const BbMirrorHost *host;
    guint *before; // by point: where the frame came from, plus 1; 0 where it has not been
    GQueue open;   // of points
} Walk;

static const BbHostInterface *at(const Walk *walk, guint interface)
{
    return walk->host->interfaces->pdata[interface];
}

static guint point_of(guint interface, bool sent)
{
    return 2 * interface + sent;
}

static void reach(Walk *walk, guint from, guint point)
{
    if (walk->before[point])
        return;
    walk->before[point] = from + 1;
    g_queue_push_tail(&walk->open, GUINT_TO_POINTER(point));
}

static void reach_name(Walk *walk, guint from, const char *name, bool sent)
{
    for (guint i = 0; name && i < walk->host->interfaces->len; i++)
        if (strcmp(at(walk, i)->name, name) == 0)
            reach(walk, from, point_of(i, sent));
}

static bool is_kind(const BbHostInterface *interface, const char *kind)
{
    return g_strcmp0(interface->kind, kind) == 0;
}

// A frame that is sent out: a veth's peer receives it, and so on.
static void follow_sent(Walk *walk, guint interface)
{
    const BbHostInterface *here = at(walk, interface);
    guint point = point_of(interface, true);
    reach_name(walk, point, here->link, !is_kind(here, "veth"));
    for (guint i = 0; i < walk->host->interfaces->len; i++)
        if (g_strcmp0(at(walk, i)->master, here->name) == 0)
            reach(walk, point, point_of(i, true));
}

// A frame that is received: whoever lies on the interface receives it, a bridge hands it on.
static void follow_received(Walk *walk, guint interface)
{
    const BbHostInterface *here = at(walk, interface);
    const BbHostInterface *master = here->master ? bb_host_find(walk->host, here->master) : NULL;
    guint point = point_of(interface, false);
    reach_name(walk, point, here->master, false);
    for (guint i = 0; i < walk->host->interfaces->len; i++) {
        const BbHostInterface *other = at(walk, i);
        if (!is_kind(other, "veth") && g_strcmp0(other->link, here->name) == 0)
            reach(walk, point, point_of(i, false));
        if (master && is_kind(master, "bridge") && i != interface &&
            g_strcmp0(other->master, master->name) == 0)
            reach(walk, point, point_of(i, true));
    }
}

static void follow_filters(Walk *walk, guint point)
{
    const char *name = at(walk, point / 2)->name;
    BbMirrorDirection direction = point % 2 ? BB_MIRROR_EGRESS : BB_MIRROR_INGRESS;
    for (guint i = 0; i < walk->host->filters->len; i++) {
        const BbHostFilter *filter = walk->host->filters->pdata[i];
        if (filter->direction == direction && strcmp(filter->interface, name) == 0)
            reach_name(walk, point, filter->to, !filter->to_ingress);
    }
}

static bool is_copied(const Walk *walk, guint point)
{
    guint direction = point % 2 ? BB_MIRROR_EGRESS : BB_MIRROR_INGRESS;
    return (walk->mirror->direction & direction) &&
           g_strv_contains((const char *const *)walk->mirror->from, at(walk, point / 2)->name);
}

static char *way_to(const Walk *walk, guint point)
{
    GString *way = g_string_new(at(walk, point / 2)->name);
    while (walk->before[point] - 1 != point) {
        guint before = walk->before[point] - 1;
        if (before / 2 != point / 2) {
            g_string_prepend(way, " -> ");
            g_string_prepend(way, at(walk, before / 2)->name);
        }
        point = before;
    }
    return g_string_free(way, FALSE);
}

static char *walk_on(Walk *walk)
{
    while (!g_queue_is_empty(&walk->open)) {
        guint point = GPOINTER_TO_UINT(g_queue_pop_head(&walk->open));
        if (is_copied(walk, point))
            return way_to(walk, point);
        if (point % 2)
            follow_sent(walk, point / 2);
        else
            follow_received(walk, point / 2);
        follow_filters(walk, point);
    }
    return NULL;
}

char *bb_mirror_find_loop(const BbMirror *mirror, const BbMirrorHost *host, const char *first)
{
    g_autofree guint *before = g_new0(guint, 2 * (gsize)host->interfaces->len);
    Walk walk = {.mirror = mirror, .host = host, .before = before};
    g_queue_init(&walk.open);
    for (guint i = 0; i < host->interfaces->len; i++)
        if (strcmp(at(&walk, i)->name, first) == 0)
            reach(&walk, point_of(i, true), point_of(i, true)); // the first comes from itself
    char *way = walk_on(&walk);
    g_queue_clear(&walk.open);
    return way;
}
