// SPDX-License-Identifier: Apache-2.0
// In: a mirror. Out: what `bbtrace mirror add` would run on a host that has nothing yet. Source:
// tc(8), tc-matchall(8), tc-u32(8), tc-mirred(8), ip-link(8).
#include "capture/mirror/linux.h"
#include "capture/mirror/vendor.h"

static bool plan(const BbMirror *mirror, GString *out, GError **error)
{
    g_autoptr(BbMirrorHost) host = bb_host_new();
    g_autoptr(BbMirrorPlan) commands =
        bb_mirror_plan_linux(mirror, host, BB_CLASSIFIER_AUTO, error);
    if (!commands)
        return false;
    bb_mirror_append_plan(out, commands);
    g_string_append(out, "# to remove: bbtrace mirror del --all\n");
    return true;
}

const BbMirrorVendor bb_mirror_linux = {
    .name = "linux",
    .title = "Linux (iproute2)",
    .comment = "#",
    .plan = plan,
};
