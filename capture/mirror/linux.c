// SPDX-License-Identifier: Apache-2.0
// In: a mirror, what the host has. Out: the commands that make what is missing (linux_del.c:
// remove).
#include "capture/mirror/linux.h"

#include "capture/mirror/loop.h"
#include "capture/mirror/mark.h"

#include <net/if.h>
#include <string.h>

static const char qdisc_remedy[] = "modprobe sch_ingress (CONFIG_NET_SCH_INGRESS)";
static const char filter_remedy[] =
    "modprobe act_mirred and cls_matchall or cls_u32 (CONFIG_NET_ACT_MIRRED, "
    "CONFIG_NET_CLS_MATCHALL, CONFIG_NET_CLS_U32)";

// Kinds of tunnel devices (ip-link(8)). Where a copy with its headers is too long for the way, it
// is better cut in fragments than dropped. %s: the ids.
static const struct {
    const char *kind, *kind6, *options;
    const char *remedy;
} tunnels[] = {
    [BB_MIRROR_TO_GRE] = {"gretap", "ip6gretap", " nopmtudisc ignore-df",
                          "modprobe ip_gre (CONFIG_NET_IPGRE), or use --to-vxlan"},
    [BB_MIRROR_TO_ERSPAN] = {"erspan", "ip6erspan", " nopmtudisc ignore-df",
                             "modprobe ip_gre (CONFIG_NET_IPGRE), or use --to-vxlan"},
    [BB_MIRROR_TO_VXLAN] = {"vxlan", "vxlan", " nolearning",
                            "modprobe vxlan (CONFIG_VXLAN), or mirror to an interface"},
};

// ---- refusals ----------------------------------------------------------------------------------

static bool refuse_unknown(const char *name, const BbMirrorHost *host, GError **error)
{
    g_autoptr(GString) known = g_string_new(NULL);
    for (guint i = 0; i < host->interfaces->len; i++) {
        const BbHostInterface *interface = host->interfaces->pdata[i];
        g_string_append_printf(known, "%s%s", i ? ", " : "", interface->name);
    }
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "there is no interface %s; there are: %s",
                name, known->str);
    return false;
}

static bool refuse_loop(const BbMirror *mirror, const char *first, const char *way, GError **error)
{
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_WOULD_RECURSE,
                "copies that are sent to %s would be copied again, without end (%s): give "
                "another --direction, or copies a way of their own",
                mirror->to, strchr(way, '>') ? way : first);
    return false;
}

bool bb_mirror_check_linux(const BbMirror *mirror, const BbMirrorHost *host, const char *underlay,
                           GError **error)
{
    const char *first = underlay ? underlay : mirror->to;
    for (guint i = 0; mirror->from[i]; i++)
        if (!bb_host_find(host, mirror->from[i]))
            return refuse_unknown(mirror->from[i], host, error);
    if (!bb_host_find(host, first))
        return refuse_unknown(first, host, error);
    g_autofree char *way = bb_mirror_find_loop(mirror, host, first);
    return !way || refuse_loop(mirror, first, way, error);
}

static bool is_kernel_name(const char *name)
{
    return strlen(name) < IFNAMSIZ && !strpbrk(name, "/:");
}

static bool check_names(const BbMirror *mirror, GError **error)
{
    const char *bad = NULL;
    for (guint i = 0; mirror->from[i]; i++)
        if (!is_kernel_name(mirror->from[i]))
            bad = mirror->from[i];
    if (mirror->target == BB_MIRROR_TO_INTERFACE && !is_kernel_name(mirror->to))
        bad = mirror->to;
    if (bad)
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                    "%s is no name of a Linux interface: at most %d bytes, without / and :", bad,
                    IFNAMSIZ - 1);
    else if (mirror->target == BB_MIRROR_TO_INTERFACE && mirror->has_id)
        g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                            "--id is of a tunnel: copies to an interface carry none");
    else
        return true;
    return false;
}

// ---- the tunnel --------------------------------------------------------------------------------

static char *alias_of(const BbMirror *mirror)
{
    g_autofree char *id = mirror->target == BB_MIRROR_TO_GRE && !mirror->has_id
                              ? g_strdup("-")
                              : g_strdup_printf("%u", mirror->id);
    return g_strdup_printf(BB_MIRROR_ALIAS "%s,%s,%s,%s", bb_mirror_target_name(mirror->target),
                           mirror->to, id, mirror->local ? mirror->local : "-");
}

static char *free_device(const BbMirrorHost *host)
{
    for (guint i = 0;; i++) {
        char *name = g_strdup_printf(BB_MIRROR_DEVICE "%u", i);
        if (!bb_host_find(host, name))
            return name;
        g_free(name);
    }
}

// The words that carry the id: key of GRE and ERSPAN (version 1, which is type II), VNI. The index
// of ERSPAN tells ports of a switch apart; ip(8) takes none of 0.
static char *id_words(const BbMirror *mirror)
{
    if (mirror->target == BB_MIRROR_TO_VXLAN)
        return g_strdup_printf(" id %u dstport %u", mirror->id, BB_MIRROR_PORT);
    if (mirror->target == BB_MIRROR_TO_ERSPAN)
        return g_strdup_printf(" seq key %u erspan_ver 1 erspan 1", mirror->id);
    return mirror->has_id ? g_strdup_printf(" key %u", mirror->id) : g_strdup("");
}

static void add_tunnel(BbMirrorPlan *plan, const BbMirror *mirror, const char *device,
                       const char *alias)
{
    g_autofree char *ids = id_words(mirror);
    g_autofree char *local = mirror->local ? g_strdup_printf(" local %s", mirror->local) : NULL;
    const char *kind =
        mirror->is_ipv6 ? tunnels[mirror->target].kind6 : tunnels[mirror->target].kind;
    // Fragments and the flag for them are a matter of IPv4.
    bool has_options = !mirror->is_ipv6 || mirror->target == BB_MIRROR_TO_VXLAN;
    BbMirrorCommand *add = bb_mirror_plan_add(plan, "ip link add name %s type %s remote %s%s%s%s",
                                              device, kind, mirror->to, local ? local : "", ids,
                                              has_options ? tunnels[mirror->target].options : "");
    add->undo = bb_mirror_argv("ip link del dev %s", device);
    add->remedy = tunnels[mirror->target].remedy;
    bb_mirror_plan_add(plan, "ip link set dev %s alias %s", device, alias);
    // A device of our own should send nothing of its own: no address of IPv6, where there is any.
    bb_mirror_plan_add(plan, "ip link set dev %s addrgenmode none", device)->optional = true;
    bb_mirror_plan_add(plan, "ip link set dev %s up", device);
}

// Where the copies go; makes the tunnel where there is none yet. Yours.
static char *plan_target(BbMirrorPlan *plan, const BbMirror *mirror, const BbMirrorHost *host)
{
    if (mirror->target == BB_MIRROR_TO_INTERFACE) {
        const BbHostInterface *to = bb_host_find(host, mirror->to);
        if (to && !to->is_up)
            bb_mirror_plan_note(plan,
                                "%s is down, and copies get lost until it is up: ip link set "
                                "%s up",
                                mirror->to, mirror->to);
        return g_strdup(mirror->to);
    }
    g_autofree char *alias = alias_of(mirror);
    for (guint i = 0; i < host->interfaces->len; i++) {
        const BbHostInterface *interface = host->interfaces->pdata[i];
        if (bb_mirror_owns_tunnel(interface) && strcmp(interface->alias, alias) == 0)
            return g_strdup(interface->name);
    }
    char *device = free_device(host);
    add_tunnel(plan, mirror, device, alias);
    return device;
}

// ---- the filters -------------------------------------------------------------------------------

// What the filters of one interface have in common.
typedef struct Place {
    const BbMirrorHost *host;
    const char *interface, *to;
    BbMirrorClassifier classifier;
    bool qdisc_is_ours;
    guint prefs; // of ours, tried so far
} Place;

static bool stands(const BbHostFilter *filter, const Place *place, BbMirrorDirection direction)
{
    return filter->direction == direction && strcmp(filter->interface, place->interface) == 0;
}

static bool exists(const Place *place, BbMirrorDirection direction)
{
    for (guint i = 0; i < place->host->filters->len; i++) {
        const BbHostFilter *filter = place->host->filters->pdata[i];
        if (stands(filter, place, direction) && bb_mirror_owns_filter(filter) &&
            g_strcmp0(filter->to, place->to) == 0)
            return true;
    }
    return false;
}

// Mirrors of ours that lead nowhere any more would only pile up.
static void remove_gone(BbMirrorPlan *plan, const Place *place, BbMirrorDirection direction)
{
    for (guint i = 0; i < place->host->filters->len; i++) {
        const BbHostFilter *filter = place->host->filters->pdata[i];
        if (!stands(filter, place, direction) || !bb_mirror_is_gone(filter, place->host))
            continue;
        bb_mirror_plan_filter_del(plan, filter, place->host);
        bb_mirror_plan_note(plan, "the mirror of %s %s into an interface that is gone is removed",
                            place->interface, bb_mirror_direction_name(direction));
    }
}

// The first preference that nobody uses at this interface; 0 where all are taken. The kernel shows
// u32 filters of one preference in both directions of a clsact qdisc, so none is used in both.
static guint free_pref(Place *place)
{
    bool taken[BB_MIRROR_PREFS] = {false};
    for (guint i = 0; i < place->host->filters->len; i++) {
        const BbHostFilter *filter = place->host->filters->pdata[i];
        if (strcmp(filter->interface, place->interface) == 0 &&
            filter->pref - BB_MIRROR_PREF < BB_MIRROR_PREFS)
            taken[filter->pref - BB_MIRROR_PREF] = true;
    }
    while (place->prefs < BB_MIRROR_PREFS && taken[place->prefs])
        place->prefs++;
    return place->prefs < BB_MIRROR_PREFS ? BB_MIRROR_PREF + place->prefs++ : 0;
}

static void note_who_is_first(BbMirrorPlan *plan, const Place *place, BbMirrorDirection direction)
{
    guint first = BB_MIRROR_PREF;
    for (guint i = 0; i < place->host->filters->len; i++) {
        const BbHostFilter *filter = place->host->filters->pdata[i];
        if (stands(filter, place, direction))
            first = MIN(first, filter->pref);
    }
    if (first < BB_MIRROR_PREF)
        bb_mirror_plan_note(plan,
                            "somebody's filter on %s %s (pref %u) comes before ours: what ends "
                            "there is not copied",
                            place->interface, bb_mirror_direction_name(direction), first);
}

static char **filter_argv(const Place *place, BbMirrorDirection direction, guint pref, bool is_u32)
{
    return bb_mirror_argv("tc filter add dev %s %s protocol all pref %u %s action mirred egress "
                          "mirror dev %s continue cookie %s",
                          place->interface, bb_mirror_direction_name(direction), pref,
                          is_u32 ? "u32 match u32 0 0" : "matchall", place->to,
                          place->qdisc_is_ours ? BB_MARK_WITH_QDISC : BB_MARK);
}

static bool add_filter(BbMirrorPlan *plan, Place *place, BbMirrorDirection direction,
                       GError **error)
{
    const char *towards = bb_mirror_direction_name(direction);
    if (exists(place, direction)) {
        bb_mirror_plan_note(plan, "%s %s is mirrored to %s already", place->interface, towards,
                            place->to);
        return true;
    }
    remove_gone(plan, place, direction);
    guint pref = free_pref(place);
    if (!pref) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_NO_SPACE,
                    "%s has filters with all of the preferences %u to %u: remove one "
                    "(bbtrace mirror show)",
                    place->interface, BB_MIRROR_PREF, BB_MIRROR_PREF + BB_MIRROR_PREFS - 1);
        return false;
    }
    note_who_is_first(plan, place, direction);
    BbMirrorCommand *add = bb_mirror_plan_add(plan, "tc");
    g_strfreev(add->run);
    add->run = filter_argv(place, direction, pref, place->classifier == BB_CLASSIFIER_U32);
    if (place->classifier == BB_CLASSIFIER_AUTO)
        add->instead = filter_argv(place, direction, pref, true);
    add->undo = bb_mirror_argv("tc filter del dev %s %s protocol all pref %u", place->interface,
                               towards, pref);
    add->remedy = filter_remedy;
    return true;
}

static bool owns_qdisc(const BbMirrorHost *host, const char *interface)
{
    for (guint i = 0; i < host->filters->len; i++) {
        const BbHostFilter *filter = host->filters->pdata[i];
        if (strcmp(filter->interface, interface) == 0 &&
            g_strcmp0(filter->cookie, BB_MARK_WITH_QDISC) == 0)
            return true;
    }
    return false;
}

static void add_qdisc(BbMirrorPlan *plan, Place *place)
{
    BbMirrorCommand *add = bb_mirror_plan_add(plan, "tc qdisc add dev %s clsact", place->interface);
    add->undo = bb_mirror_argv("tc qdisc del dev %s clsact", place->interface);
    add->remedy = qdisc_remedy;
    place->qdisc_is_ours = true;
}

static bool refuse_qdisc(const char *interface, GError **error)
{
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_EXISTS,
                "%s has an ingress qdisc that is not ours, which holds no filters for egress: "
                "give --direction ingress, or put clsact in its place",
                interface);
    return false;
}

// Frames that a bridge forwards never pass its own device, only its ports (tc(8)).
static void note_bridge(BbMirrorPlan *plan, const Place *place)
{
    g_autoptr(GString) ports = g_string_new(NULL);
    for (guint i = 0; i < place->host->interfaces->len; i++) {
        const BbHostInterface *port = place->host->interfaces->pdata[i];
        if (g_strcmp0(port->master, place->interface) == 0)
            g_string_append_printf(ports, "%s%s", ports->len ? "," : "", port->name);
    }
    bb_mirror_plan_note(
        plan,
        "warning: %s is a bridge: what it forwards between its ports is not copied, "
        "only what this host itself sends and receives there: mirror its ports "
        "(--from %s)",
        place->interface, ports->len ? ports->str : "PORT,PORT: it has none yet");
}

static bool plan_interface(BbMirrorPlan *plan, const BbMirror *mirror, Place *place, GError **error)
{
    const BbHostInterface *interface = bb_host_find(place->host, place->interface);
    place->qdisc_is_ours = owns_qdisc(place->host, place->interface);
    if (interface && g_strcmp0(interface->kind, "bridge") == 0)
        note_bridge(plan, place);
    if (!interface || interface->qdisc == BB_QDISC_NONE)
        add_qdisc(plan, place);
    else if (interface->qdisc == BB_QDISC_INGRESS && (mirror->direction & BB_MIRROR_EGRESS))
        return refuse_qdisc(place->interface, error);
    for (guint direction = BB_MIRROR_INGRESS; direction <= BB_MIRROR_EGRESS; direction <<= 1)
        if ((mirror->direction & direction) &&
            !add_filter(plan, place, (BbMirrorDirection)direction, error))
            return false;
    return true;
}

BbMirrorPlan *bb_mirror_plan_linux(const BbMirror *mirror, const BbMirrorHost *host,
                                   BbMirrorClassifier classifier, GError **error)
{
    g_autoptr(BbMirrorPlan) plan = bb_mirror_plan_new();
    if (!check_names(mirror, error))
        return NULL;
    g_autofree char *to = plan_target(plan, mirror, host);
    for (guint i = 0; mirror->from[i]; i++) {
        Place place = {
            .host = host, .interface = mirror->from[i], .to = to, .classifier = classifier};
        if (!plan_interface(plan, mirror, &place, error))
            return NULL;
    }
    return g_steal_pointer(&plan);
}
