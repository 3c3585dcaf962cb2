// SPDX-License-Identifier: Apache-2.0
// In: any bytes as a file of rules for names. Checks that reading ends, and that a rule gives a
// node that it names, the same one each time, whether or not the file was whole.
#include "merge/node_rules.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

static void try_names(BbNodeRules *rules, BbNames *names)
{
    static const char *const others[] = {"web-1", "10.0.0.7", "2001:db8::1", "", "::", "0.0.0.0"};
    guint32 known = bb_names_count(names);
    for (gsize i = 0; i < G_N_ELEMENTS(others); i++)
        (void)bb_names_intern(names, others[i]);
    for (guint32 name = 0; name < bb_names_count(names); name++) {
        guint32 node = bb_node_rules_apply(rules, name);
        g_assert(node == name || (node < known && node != BB_NAME_NONE));
        g_assert(bb_node_rules_apply(rules, name) == node);
    }
    g_assert(bb_node_rules_apply(rules, BB_NAME_NONE) == BB_NAME_NONE);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    int fd = memfd_create("rules", MFD_CLOEXEC);
    g_assert(fd >= 0 && write(fd, data, size) == (gssize)size);
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodeRules) rules = bb_node_rules_new(names);
    g_autoptr(GError) error = NULL;
    bool good = bb_node_rules_load(rules, path, &error);
    g_assert(good == (error == NULL));
    try_names(rules, names);
    close(fd);
    return 0;
}
