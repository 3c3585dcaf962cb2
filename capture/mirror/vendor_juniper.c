// SPDX-License-Identifier: Apache-2.0
// In: a mirror. Out: an analyzer of Junos with the ELS command line (EX, QFX). Source: Juniper,
// "Network Management and Monitoring Guide", "Configuring Port Mirroring for Local and Remote
// Analysis".
#include "capture/mirror/vendor.h"

static const char analyzer[] = "set forwarding-options analyzer " BB_MIRROR_SESSION;

static bool plan(const BbMirror *mirror, GString *out, GError **error)
{
    bool is_local = mirror->target == BB_MIRROR_TO_INTERFACE;
    if (!bb_mirror_allow(mirror, 1u << BB_MIRROR_TO_INTERFACE | 1u << BB_MIRROR_TO_GRE,
                         "give --to IF or, on QFX, --to-gre", error) ||
        !bb_mirror_allow_no_id(mirror, "Junos sets none", error) ||
        !bb_mirror_want_ipv4(mirror, error))
        return false;
    if (mirror->local)
        return bb_mirror_refuse(error, "--local cannot be chosen: Junos takes the address of the "
                                       "interface towards the collector");
    g_string_append(out, "configure\n");
    for (guint i = 0; mirror->from[i]; i++) {
        if (mirror->direction & BB_MIRROR_INGRESS)
            g_string_append_printf(out, "%s input ingress interface %s\n", analyzer,
                                   mirror->from[i]);
        if (mirror->direction & BB_MIRROR_EGRESS)
            g_string_append_printf(out, "%s input egress interface %s\n", analyzer,
                                   mirror->from[i]);
    }
    g_string_append(out, is_local ? "# the output must be of family ethernet-switching\n"
                                  : "# an address as output: QFX and some EX\n");
    g_string_append_printf(out, "%s output %s %s\ncommit and-quit\n", analyzer,
                           is_local ? "interface" : "ip-address", mirror->to);
    g_string_append(out, "# to remove: delete forwarding-options analyzer " BB_MIRROR_SESSION "\n");
    return true;
}

const BbMirrorVendor bb_mirror_juniper = {
    .name = "juniper",
    .title = "Juniper Junos (EX, QFX)",
    .comment = "#",
    .plan = plan,
};
