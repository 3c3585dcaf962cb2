// SPDX-License-Identifier: Apache-2.0
// In: a mirror. Out: SPAN or ERSPAN of Cisco IOS and IOS XE. Source: Cisco, "Network Management
// Configuration Guide, IOS XE 17.3 (Catalyst 9500)", chapters "Configuring SPAN and RSPAN" and
// "Configuring ERSPAN"; "Configuring ERSPAN", IOS XE 17.x (routers: layer 3 interfaces only).
#include "capture/mirror/vendor.h"

static void append_span(const BbMirror *mirror, GString *out)
{
    for (guint i = 0; mirror->from[i]; i++)
        g_string_append_printf(out, "monitor session %u source interface %s %s\n", mirror->session,
                               mirror->from[i], bb_mirror_rx_tx(mirror));
    // Without "encapsulation replicate" tags of VLANs are taken off.
    g_string_append_printf(out,
                           "monitor session %u destination interface %s encapsulation replicate\n",
                           mirror->session, mirror->to);
}

static void append_erspan(const BbMirror *mirror, GString *out)
{
    const char *ip = mirror->is_ipv6 ? "ipv6" : "ip";
    g_string_append_printf(out, "monitor session %u type erspan-source\n", mirror->session);
    for (guint i = 0; mirror->from[i]; i++)
        g_string_append_printf(out, " source interface %s %s\n", mirror->from[i],
                               bb_mirror_rx_tx(mirror));
    g_string_append_printf(out,
                           " destination\n  erspan-id %u\n  %s address %s\n"
                           "  origin %s address %s\n  exit\n no shutdown\n",
                           mirror->id, ip, mirror->to, ip, mirror->local);
}

static bool plan(const BbMirror *mirror, GString *out, GError **error)
{
    bool is_span = mirror->target == BB_MIRROR_TO_INTERFACE;
    if (!bb_mirror_allow(mirror, 1u << BB_MIRROR_TO_INTERFACE | 1u << BB_MIRROR_TO_ERSPAN,
                         "give --to IF (SPAN) or --to-erspan", error))
        return false;
    if (is_span ? !bb_mirror_allow_no_id(mirror, "SPAN has none", error)
                : !bb_mirror_want_local(mirror, "the origin address", error))
        return false;
    g_string_append(out, "configure terminal\n");
    if (is_span)
        append_span(mirror, out);
    else
        append_erspan(mirror, out);
    g_string_append_printf(out, "end\n! to remove: no monitor session %u\n", mirror->session);
    return true;
}

const BbMirrorVendor bb_mirror_cisco_ios = {
    .name = "cisco-ios",
    .title = "Cisco IOS, IOS XE",
    .comment = "!",
    .sessions = 66,
    .plan = plan,
};
