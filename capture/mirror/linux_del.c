// SPDX-License-Identifier: Apache-2.0
// In: what the host has. Out: which of it is ours, and the commands that remove it.
#include "capture/mirror/linux.h"
#include "capture/mirror/mark.h"

#include <string.h>

bool bb_mirror_owns_filter(const BbHostFilter *filter)
{
    return g_strcmp0(filter->cookie, BB_MARK) == 0 ||
           g_strcmp0(filter->cookie, BB_MARK_WITH_QDISC) == 0;
}

bool bb_mirror_owns_tunnel(const BbHostInterface *interface)
{
    static const char name[] = BB_MIRROR_DEVICE;
    const char *number = interface->name + strlen(name);
    return interface->alias && g_str_has_prefix(interface->alias, BB_MIRROR_ALIAS) &&
           g_str_has_prefix(interface->name, name) && *number &&
           strspn(number, G_CSET_DIGITS) == strlen(number);
}

// Kind, address, id, local address.
static char **tunnel_words(const BbHostInterface *interface)
{
    static const char prefix[] = BB_MIRROR_ALIAS;
    return bb_mirror_owns_tunnel(interface) ? g_strsplit(interface->alias + strlen(prefix), ",", 4)
                                            : g_new0(char *, 1);
}

char *bb_mirror_describe_tunnel(const BbHostInterface *interface)
{
    g_auto(GStrv) words = tunnel_words(interface);
    if (g_strv_length(words) != 4)
        return g_strdup("tunnel");
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%s %s", words[0], words[1]);
    if (strcmp(words[2], "-") != 0)
        g_string_append_printf(text, " id %s", words[2]);
    if (strcmp(words[3], "-") != 0)
        g_string_append_printf(text, " from %s", words[3]);
    return g_string_free(text, FALSE);
}

static bool goes_into(const BbHostInterface *interface, const BbMirrorSelection *selection)
{
    g_auto(GStrv) words = tunnel_words(interface);
    return g_strv_length(words) == 4 &&
           strcmp(words[0], bb_mirror_target_name(selection->target)) == 0 &&
           strcmp(words[1], selection->to) == 0;
}

static bool is_target(const char *to, const BbMirrorSelection *selection, const BbMirrorHost *host)
{
    if (selection->any_target)
        return true;
    if (selection->target == BB_MIRROR_TO_INTERFACE)
        return g_strcmp0(to, selection->to) == 0;
    const BbHostInterface *interface = to ? bb_host_find(host, to) : NULL;
    return interface && goes_into(interface, selection);
}

bool bb_mirror_is_gone(const BbHostFilter *filter, const BbMirrorHost *host)
{
    return bb_mirror_owns_filter(filter) && (!filter->to || !bb_host_find(host, filter->to));
}

static bool is_selected(const BbHostFilter *filter, const BbMirrorSelection *selection,
                        const BbMirrorHost *host)
{
    return bb_mirror_owns_filter(filter) && (!selection->gone || bb_mirror_is_gone(filter, host)) &&
           (filter->direction & selection->direction) &&
           (!selection->from || g_strv_contains(selection->from, filter->interface)) &&
           is_target(filter->to, selection, host);
}

static bool is_beside(const BbHostFilter *one, const BbHostFilter *other)
{
    return one->pref == other->pref && one->direction == other->direction &&
           strcmp(one->interface, other->interface) == 0;
}

// A preference of ours goes as a whole, unless somebody has put a filter of u32 beside ours.
void bb_mirror_plan_filter_del(BbMirrorPlan *plan, const BbHostFilter *filter,
                               const BbMirrorHost *host)
{
    const char *towards = bb_mirror_direction_name(filter->direction);
    bool is_alone = true;
    for (guint i = 0; i < host->filters->len; i++) {
        const BbHostFilter *other = host->filters->pdata[i];
        is_alone &= !is_beside(filter, other) || other->is_head || bb_mirror_owns_filter(other);
    }
    if (is_alone || !filter->handle)
        bb_mirror_plan_add(plan, "tc filter del dev %s %s protocol all pref %u", filter->interface,
                           towards, filter->pref);
    else
        bb_mirror_plan_add(plan, "tc filter del dev %s %s protocol all pref %u handle %s u32",
                           filter->interface, towards, filter->pref, filter->handle);
}

// Whether the row goes when the selected filters have gone: itself, or the head of one.
static bool goes(const BbHostFilter *row, const BbMirrorSelection *selection,
                 const BbMirrorHost *host)
{
    if (!row->is_head)
        return is_selected(row, selection, host);
    for (guint i = 0; i < host->filters->len; i++) {
        const BbHostFilter *filter = host->filters->pdata[i];
        if (is_beside(filter, row) && !filter->is_head && is_selected(filter, selection, host))
            return true;
    }
    return false;
}

// The qdisc of an interface goes where it is ours, as a filter that goes says, and none stays.
static void delete_qdisc(BbMirrorPlan *plan, const char *interface,
                         const BbMirrorSelection *selection, const BbMirrorHost *host)
{
    bool is_ours = false, is_needed = false, is_others = false, stays_ours = false;
    for (guint i = 0; i < host->filters->len; i++) {
        const BbHostFilter *row = host->filters->pdata[i];
        if (strcmp(row->interface, interface) != 0)
            continue;
        bool leaves = goes(row, selection, host);
        is_ours |= leaves && g_strcmp0(row->cookie, BB_MARK_WITH_QDISC) == 0;
        is_needed |= !leaves;
        stays_ours |= !leaves && bb_mirror_owns_filter(row);
        is_others |= !leaves && !row->is_head && !bb_mirror_owns_filter(row);
    }
    if (is_ours && !is_needed)
        bb_mirror_plan_add(plan, "tc qdisc del dev %s clsact", interface);
    else if (is_ours && is_others && !stays_ours)
        bb_mirror_plan_note(plan, "%s keeps its clsact qdisc, which others use by now", interface);
}

static bool gets_copies(const char *name, const BbMirrorSelection *selection,
                        const BbMirrorHost *host, bool after)
{
    for (guint i = 0; i < host->filters->len; i++) {
        const BbHostFilter *filter = host->filters->pdata[i];
        if (g_strcmp0(filter->to, name) == 0 && !(after && is_selected(filter, selection, host)))
            return true;
    }
    return false;
}

// A tunnel goes with its last mirror; one that never got any (what made it was killed) goes when
// all of them are meant. Killed between the making and the alias, it leaves a device that is
// nobody's: `ip link del` by hand.
static void delete_tunnel(BbMirrorPlan *plan, const BbHostInterface *interface,
                          const BbMirrorSelection *selection, const BbMirrorHost *host)
{
    bool is_meant =
        gets_copies(interface->name, selection, host, false) ||
        (!selection->from && !selection->gone && is_target(interface->name, selection, host));
    if (bb_mirror_owns_tunnel(interface) && is_meant &&
        !gets_copies(interface->name, selection, host, true))
        bb_mirror_plan_add(plan, "ip link del dev %s", interface->name);
}

BbMirrorPlan *bb_mirror_plan_linux_del(const BbMirrorSelection *selection, const BbMirrorHost *host)
{
    BbMirrorPlan *plan = bb_mirror_plan_new();
    for (guint i = 0; i < host->filters->len; i++)
        if (is_selected(host->filters->pdata[i], selection, host))
            bb_mirror_plan_filter_del(plan, host->filters->pdata[i], host);
    for (guint i = 0; i < host->interfaces->len; i++) {
        const BbHostInterface *interface = host->interfaces->pdata[i];
        delete_qdisc(plan, interface->name, selection, host);
    }
    for (guint i = 0; i < host->interfaces->len; i++)
        delete_tunnel(plan, host->interfaces->pdata[i], selection, host);
    return plan;
}
