// SPDX-License-Identifier: Apache-2.0
// In: a mirror. Out: a Mirror record of Open vSwitch, and a port for its tunnel. Source:
// ovs-vswitchd.conf.db(5), tables Mirror and Interface; ovs-vsctl(8).
#include "capture/mirror/vendor.h"

#define PORT "bbmirror0"

// The bridge is found by its port. All ports of a mirror are of one bridge.
static void append_tunnel(const BbMirror *mirror, GString *out)
{
    g_string_append_printf(out,
                           "ovs-vsctl add-port \"$bridge\" " PORT " -- set Interface " PORT
                           " type=%s options:remote_ip=%s",
                           bb_mirror_target_name(mirror->target), mirror->to);
    if (mirror->local)
        g_string_append_printf(out, " options:local_ip=%s", mirror->local);
    if (mirror->has_id || mirror->target != BB_MIRROR_TO_GRE)
        g_string_append_printf(out, " options:key=%u", mirror->id);
    if (mirror->target == BB_MIRROR_TO_ERSPAN)
        g_string_append(out, " options:erspan_ver=1 options:erspan_idx=0");
    g_string_append_c(out, '\n');
}

static void append_ports(const BbMirror *mirror, const char *column, GString *out)
{
    g_string_append_printf(out, " %s=", column);
    for (guint i = 0; mirror->from[i]; i++)
        g_string_append_printf(out, "%s@from%u", i ? "," : "", i);
}

static void append_mirror(const BbMirror *mirror, const char *to, GString *out)
{
    g_string_append_printf(out, "ovs-vsctl -- --id=@to get Port %s", to);
    for (guint i = 0; mirror->from[i]; i++)
        g_string_append_printf(out, " -- --id=@from%u get Port %s", i, mirror->from[i]);
    g_string_append(out, " -- --id=@mirror create Mirror name=" BB_MIRROR_SESSION);
    if (mirror->direction & BB_MIRROR_INGRESS)
        append_ports(mirror, "select_src_port", out);
    if (mirror->direction & BB_MIRROR_EGRESS)
        append_ports(mirror, "select_dst_port", out);
    g_string_append(out, " output_port=@to -- add Bridge \"$bridge\" mirrors @mirror\n");
}

static bool plan(const BbMirror *mirror, GString *out, GError **error)
{
    bool is_tunnel = mirror->target != BB_MIRROR_TO_INTERFACE;
    if (!is_tunnel && !bb_mirror_allow_no_id(mirror, "copies to a port carry none", error))
        return false;
    g_string_append_printf(out, "bridge=$(ovs-vsctl port-to-br %s)\n", mirror->from[0]);
    if (is_tunnel)
        append_tunnel(mirror, out);
    else
        g_string_append_printf(out, "# %s carries nothing but copies from now on\n", mirror->to);
    append_mirror(mirror, is_tunnel ? PORT : mirror->to, out);
    g_string_append(out, "# to remove: ovs-vsctl -- --id=@mirror get Mirror " BB_MIRROR_SESSION
                         " -- remove Bridge \"$bridge\" mirrors @mirror\n");
    if (is_tunnel)
        g_string_append(out, "#   and: ovs-vsctl del-port \"$bridge\" " PORT "\n");
    return true;
}

const BbMirrorVendor bb_mirror_ovs = {
    .name = "ovs",
    .title = "Open vSwitch",
    .comment = "#",
    .plan = plan,
};
