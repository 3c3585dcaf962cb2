// SPDX-License-Identifier: Apache-2.0
// In: a mirror. Out: SPAN or ERSPAN of Cisco NX-OS. Source: Cisco, "Nexus 7000 Series NX-OS System
// Management Configuration Guide", chapters "Configuring SPAN" and "Configuring ERSPAN"; those of
// the Nexus 9000 Series name the same commands.
#include "capture/mirror/vendor.h"

static void append_sources(const BbMirror *mirror, GString *out)
{
    for (guint i = 0; mirror->from[i]; i++)
        g_string_append_printf(out, "  source interface %s %s\n", mirror->from[i],
                               bb_mirror_rx_tx(mirror));
}

static void append_span(const BbMirror *mirror, GString *out)
{
    g_string_append_printf(out, "interface %s\n  switchport\n  switchport monitor\n  no shutdown\n",
                           mirror->to);
    g_string_append_printf(out, "monitor session %u\n", mirror->session);
    append_sources(mirror, out);
    g_string_append_printf(out, "  destination interface %s\n", mirror->to);
}

static void append_erspan(const BbMirror *mirror, GString *out)
{
    g_string_append_printf(out,
                           "! the origin holds for all sessions (7000: set it in the admin VDC)\n"
                           "monitor erspan origin ip-address %s global\n",
                           mirror->local);
    g_string_append_printf(out, "monitor session %u type erspan-source\n", mirror->session);
    append_sources(mirror, out);
    g_string_append_printf(out, "  vrf default\n  erspan-id %u\n  destination ip %s\n", mirror->id,
                           mirror->to);
}

static bool plan(const BbMirror *mirror, GString *out, GError **error)
{
    bool is_span = mirror->target == BB_MIRROR_TO_INTERFACE;
    if (!bb_mirror_allow(mirror, 1u << BB_MIRROR_TO_INTERFACE | 1u << BB_MIRROR_TO_ERSPAN,
                         "give --to IF (SPAN) or --to-erspan", error))
        return false;
    if (is_span ? !bb_mirror_allow_no_id(mirror, "SPAN has none", error)
                : !bb_mirror_want_ipv4(mirror, error) ||
                      !bb_mirror_want_local(mirror, "the origin address", error))
        return false;
    g_string_append(out, "configure terminal\n");
    if (is_span)
        append_span(mirror, out);
    else
        append_erspan(mirror, out);
    g_string_append_printf(out, "  no shut\nend\n! to remove: no monitor session %u\n",
                           mirror->session);
    return true;
}

const BbMirrorVendor bb_mirror_cisco_nxos = {
    .name = "cisco-nxos",
    .title = "Cisco NX-OS (Nexus)",
    .comment = "!",
    .sessions = 48, // which of them a model has differs: 2, 4, 32 or 48
    .plan = plan,
};
