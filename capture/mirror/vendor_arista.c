// SPDX-License-Identifier: Apache-2.0
// In: a mirror. Out: a mirroring session of Arista EOS. Source: Arista, "EOS User Manual", chapter
// "Port Mirroring"; "Introduction to Port Mirroring" and "Advanced Mirroring Features"
// (eos.arista.com), the latter for GRE.
#include "capture/mirror/vendor.h"

static bool plan(const BbMirror *mirror, GString *out, GError **error)
{
    if (!bb_mirror_allow(mirror, 1u << BB_MIRROR_TO_INTERFACE | 1u << BB_MIRROR_TO_GRE,
                         "give --to IF or --to-gre", error) ||
        !bb_mirror_allow_no_id(mirror, "the key of GRE holds the switch's own data", error))
        return false;
    if (mirror->target == BB_MIRROR_TO_GRE &&
        (!bb_mirror_want_ipv4(mirror, error) ||
         !bb_mirror_want_local(mirror, "the source address", error)))
        return false;
    g_string_append(out, "configure\n");
    for (guint i = 0; mirror->from[i]; i++)
        g_string_append_printf(out, "monitor session " BB_MIRROR_SESSION " source %s %s\n",
                               mirror->from[i], bb_mirror_rx_tx(mirror));
    if (mirror->target == BB_MIRROR_TO_INTERFACE)
        g_string_append_printf(out, "monitor session " BB_MIRROR_SESSION " destination %s\n",
                               mirror->to);
    else
        g_string_append_printf(
            out,
            "! not every model sends copies into GRE\nmonitor session " BB_MIRROR_SESSION
            " destination tunnel mode gre source %s "
            "destination %s\n",
            mirror->local, mirror->to);
    g_string_append(out, "end\n! to remove: no monitor session " BB_MIRROR_SESSION "\n");
    return true;
}

const BbMirrorVendor bb_mirror_arista = {
    .name = "arista",
    .title = "Arista EOS",
    .comment = "!",
    .plan = plan,
};
