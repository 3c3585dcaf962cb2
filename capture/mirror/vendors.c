// SPDX-License-Identifier: Apache-2.0
// In: a mirror, a vendor's name. Out: the vendor's commands, or why there are none.
#include "capture/mirror/vendor.h"

#include <string.h>

const BbMirrorVendor *const bb_mirror_vendors[] = {
    &bb_mirror_arista,    &bb_mirror_aws,        &bb_mirror_azure,
    &bb_mirror_cisco_ios, &bb_mirror_cisco_nxos, &bb_mirror_juniper,
    &bb_mirror_linux,     &bb_mirror_ovs,        NULL,
};

const BbMirrorVendor *bb_mirror_find_vendor(const char *name, GError **error)
{
    g_autoptr(GString) known = g_string_new(NULL);
    for (guint i = 0; bb_mirror_vendors[i]; i++) {
        if (strcmp(bb_mirror_vendors[i]->name, name) == 0)
            return bb_mirror_vendors[i];
        const char *before = i == 0 ? "" : bb_mirror_vendors[i + 1] ? ", " : " or ";
        g_string_append_printf(known, "%s%s", before, bb_mirror_vendors[i]->name);
    }
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--vendor is %s, not '%s'",
                known->str, name);
    return NULL;
}

static bool check_session(const BbMirror *mirror, const BbMirrorVendor *vendor, GError **error)
{
    if (!vendor->sessions && mirror->has_session)
        return bb_mirror_refuse(error, "--session is of vendors whose sessions have numbers");
    if (vendor->sessions && mirror->session > vendor->sessions)
        return bb_mirror_refuse(error, "--session is at most %u there", vendor->sessions);
    return true;
}

char *bb_mirror_plan_vendor(const BbMirror *mirror, const BbMirrorVendor *vendor, GError **error)
{
    g_autoptr(GString) out = g_string_new(NULL);
    g_string_append_printf(out, "%s %s\n", vendor->comment, vendor->title);
    if (!check_session(mirror, vendor, error) || !vendor->plan(mirror, out, error)) {
        g_prefix_error(error, "%s: ", vendor->name);
        return NULL;
    }
    return g_string_free(g_steal_pointer(&out), FALSE);
}

bool bb_mirror_refuse(GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED, text);
    return false;
}

bool bb_mirror_allow(const BbMirror *mirror, guint targets, const char *can, GError **error)
{
    if (targets & (1u << mirror->target))
        return true;
    return bb_mirror_refuse(error, "copies cannot go %s%s there: %s",
                            mirror->target == BB_MIRROR_TO_INTERFACE ? "to an " : "into ",
                            bb_mirror_target_name(mirror->target), can);
}

bool bb_mirror_allow_no_id(const BbMirror *mirror, const char *why, GError **error)
{
    return !mirror->has_id || bb_mirror_refuse(error, "--id cannot be chosen: %s", why);
}

bool bb_mirror_want_local(const BbMirror *mirror, const char *what, GError **error)
{
    return mirror->local || bb_mirror_refuse(error, "%s must be said: --local ADDRESS", what);
}

bool bb_mirror_want_ipv4(const BbMirror *mirror, GError **error)
{
    return !mirror->is_ipv6 ||
           bb_mirror_refuse(error,
                            "the tunnel goes over IPv4 only: give the collector's IPv4 address");
}

const char *bb_mirror_rx_tx(const BbMirror *mirror)
{
    return mirror->direction == BB_MIRROR_INGRESS  ? "rx"
           : mirror->direction == BB_MIRROR_EGRESS ? "tx"
                                                   : "both";
}
