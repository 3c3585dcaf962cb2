// SPDX-License-Identifier: Apache-2.0
// In: calls. Out: which nodes have the same role.
//
// All nodes begin in one class, which is split as long as there are two in a class that differ
// (partition refinement: Hopcroft 1971; here with measured differences in place of equality, hence
// not by his algorithm). What calls look like from outside comes first: it depends on the classes.
#include "nesting/roles.h"

#include "nesting/alike.h"

#define UNITED_MAX 512u // classes of which each pair is tried

typedef struct {
    BbAlike *alike;
    const guint32 *nodes;
    guint count;
    guint32 *klass; // by name; nodes that are not judged have one
    guint32 n_klasses;
    guint32 *first; // by class: the node that others are compared with
} Refining;

typedef bool Alike(Refining *refining, guint32 u, guint32 v);

static bool in_edges(Refining *refining, guint32 u, guint32 v)
{
    return bb_alike_in_edges(refining->alike, u, v, refining->klass);
}

static bool in_use(Refining *refining, guint32 u, guint32 v)
{
    return bb_alike_in_use(refining->alike, u, v, refining->klass);
}

// Classes of the round: those before `old` are split, those after it are the parts. A node goes to
// the first part of its class whose first node is like it.
static guint32 place_node(Refining *refining, const guint32 *parts_of, guint32 node, guint32 old,
                          guint32 n, Alike *alike)
{
    for (guint32 part = 0; part < n; part++)
        if (parts_of[part] == old && alike(refining, refining->first[part], node))
            return part;
    return n;
}

// One round: splits every class by alike. Returns whether any was split.
static bool split(Refining *refining, Alike *alike)
{
    g_autofree guint32 *parts_of = g_new(guint32, (gsize)refining->count + 1);
    g_autofree guint32 *part = g_new(guint32, (gsize)refining->count + 1);
    guint32 n = 0;
    for (guint i = 0; i < refining->count; i++) {
        guint32 node = refining->nodes[i], old = refining->klass[node];
        part[i] = place_node(refining, parts_of, node, old, n, alike);
        if (part[i] < n)
            continue;
        parts_of[n] = old;
        refining->first[n++] = node;
    }
    bool more = n > refining->n_klasses;
    for (guint i = 0; i < refining->count; i++)
        refining->klass[refining->nodes[i]] = part[i];
    refining->n_klasses = n;
    return more;
}

static void refine(Refining *refining)
{
    do
        while (split(refining, in_edges))
            continue;
    while (split(refining, in_use));
}

// Whether the classes are one, seen from their first nodes when they are.
static bool unite(Refining *refining, guint32 a, guint32 b)
{
    guint32 u = refining->first[a], v = refining->first[b];
    guint32 *klass = refining->klass;
    g_autofree guint32 *before = g_new(guint32, refining->count);
    for (guint i = 0; i < refining->count; i++) {
        guint32 node = refining->nodes[i];
        before[i] = klass[node];
        klass[node] = klass[node] == b ? a : klass[node];
    }
    if (in_edges(refining, u, v) && in_use(refining, u, v))
        return true;
    for (guint i = 0; i < refining->count; i++)
        klass[refining->nodes[i]] = before[i];
    return false;
}

// Early rounds compare by coarse classes, and may have split one role in two, each with part of
// what then looked alike.
static void unite_all(Refining *refining)
{
    if (refining->n_klasses > UNITED_MAX)
        return;
    for (guint32 a = 0; a < refining->n_klasses; a++)
        for (guint32 b = a + 1; b < refining->n_klasses; b++)
            if (refining->first[b] != BB_NAME_NONE && refining->first[a] != BB_NAME_NONE &&
                unite(refining, a, b))
                refining->first[b] = BB_NAME_NONE;
}

static void publish(const Refining *refining, BbRoles *roles)
{
    g_autoptr(GArray) members = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 klass = 0; klass < refining->n_klasses; klass++) {
        g_array_set_size(members, 0);
        for (guint i = 0; i < refining->count; i++)
            if (refining->klass[refining->nodes[i]] == klass)
                g_array_append_val(members, refining->nodes[i]);
        if (members->len >= 2)
            bb_roles_join(roles, (const guint32 *)(const void *)members->data, members->len);
    }
}

void bb_roles_find(BbRoles *roles, const BbCall *calls, guint32 n_calls, const BbNames *names)
{
    guint32 n_names = bb_names_count(names);
    g_autoptr(BbAlike) alike = bb_alike_new(calls, n_calls, n_names);
    Refining refining = {.alike = alike, .n_klasses = 1};
    refining.nodes = bb_alike_nodes(alike, &refining.count);
    if (refining.count < 2 || refining.count > BB_ROLES_NODES_MAX)
        return;
    g_autofree guint32 *klass = g_new(guint32, n_names);
    g_autofree guint32 *first = g_new0(guint32, refining.count);
    for (guint32 name = 0; name < n_names; name++)
        klass[name] = n_names; // beyond all classes
    for (guint i = 0; i < refining.count; i++)
        klass[refining.nodes[i]] = 0;
    refining.klass = klass;
    refining.first = first;
    refine(&refining);
    unite_all(&refining);
    publish(&refining, roles);
}
