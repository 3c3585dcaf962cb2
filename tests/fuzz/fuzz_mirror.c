// SPDX-License-Identifier: Apache-2.0
// In: any bytes as what ip(8) and tc(8) print, parted by NUL bytes: links, qdiscs, filters of eth0
// received and sent, a route. Checks that a mirror on such a host is planned, removed and followed
// to an end, and that no name in a command holds a blank.
#include "capture/mirror/linux.h"
#include "capture/mirror/loop.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

static void check_plan(const BbMirrorPlan *plan)
{
    for (guint i = 0; i < plan->commands->len; i++) {
        const BbMirrorCommand *command = plan->commands->pdata[i];
        for (guint j = 0; command->run[j]; j++)
            g_assert(command->run[j][0] && !strpbrk(command->run[j], " \n"));
    }
    g_autoptr(GString) text = g_string_new(NULL);
    bb_mirror_append_plan(text, plan);
    g_assert(g_utf8_validate(text->str, (gssize)text->len, NULL));
}

static void try_mirror(const BbMirrorWords *words, const BbMirrorHost *host)
{
    g_autoptr(BbMirror) mirror = bb_mirror_new(words, NULL);
    g_autoptr(GError) error = NULL;
    (void)bb_mirror_check_linux(mirror, host, NULL, &error);
    g_autoptr(BbMirrorPlan) plan = bb_mirror_plan_linux(mirror, host, BB_CLASSIFIER_AUTO, NULL);
    if (plan)
        check_plan(plan);
}

static void try_host(const BbMirrorHost *host)
{
    static const char *const from[] = {"eth0,va", NULL};
    const BbMirrorSelection all = {.direction = BB_MIRROR_BOTH, .any_target = true};
    const BbMirrorSelection tunnel = {
        .direction = BB_MIRROR_BOTH, .target = BB_MIRROR_TO_VXLAN, .to = "10.0.0.9"};
    try_mirror(&(BbMirrorWords){.from = from, .to = "vb"}, host);
    try_mirror(&(BbMirrorWords){.from = from, .to_vxlan = "10.0.0.9"}, host);
    g_autoptr(BbMirrorPlan) removal = bb_mirror_plan_linux_del(&all, host);
    g_autoptr(BbMirrorPlan) part = bb_mirror_plan_linux_del(&tunnel, host);
    check_plan(removal);
    check_plan(part);
    g_assert(part->commands->len <= removal->commands->len);
    for (guint i = 0; i < host->interfaces->len; i++)
        g_free(bb_mirror_describe_tunnel(host->interfaces->pdata[i]));
}

static const char *next(const guint8 **data, gsize *left, gsize *length)
{
    const char *text = (const char *)*data;
    const guint8 *end = *left ? memchr(*data, '\0', *left) : NULL;
    *length = end ? (gsize)(end - *data) : *left;
    *data += *length + (end != NULL);
    *left -= *length + (end != NULL);
    return text;
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    gsize length = 0;
    g_autoptr(BbMirrorHost) host = bb_host_new();
    const char *text = next(&data, &size, &length);
    bb_host_add_links(host, text, length, NULL);
    text = next(&data, &size, &length);
    bb_host_add_qdiscs(host, text, length, NULL);
    text = next(&data, &size, &length);
    bb_host_add_filters(host, "eth0", BB_MIRROR_INGRESS, text, length, NULL);
    text = next(&data, &size, &length);
    bb_host_add_filters(host, "eth0", BB_MIRROR_EGRESS, text, length, NULL);
    text = next(&data, &size, &length);
    g_autofree char *route = bb_host_parse_route(text, length);
    g_assert(!route || strlen(route) < 16);
    try_host(host);
    return 0;
}
