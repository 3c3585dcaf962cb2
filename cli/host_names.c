// SPDX-License-Identifier: Apache-2.0
// In: the files of --names. Out: names of nodes.
#include "cli/host_names.h"

#include "cli/command.h"
#include "merge/host_names.h"

bool bb_parse_names_by(const char *word, bool *by_service)
{
    *by_service = g_strcmp0(word, "service") == 0;
    return !word || *by_service || strcmp(word, "instance") == 0;
}

static void take_host(const BbHost *host, gpointer user)
{
    bb_nodes_add(user, host);
}

void bb_say_unused_names(const BbNodes *nodes)
{
    guint unused = nodes ? bb_nodes_unused(nodes) : 0;
    if (unused)
        bb_say("warning: --names: no node has any of its %u name%s: are these its addresses, and "
               "is the file of this place?",
               unused, unused == 1 ? "" : "s");
}

bool bb_load_host_names(BbNodes *nodes, char **files, bool by_service, bool quiet, GError **error)
{
    const BbHostNamesOptions options = {.by_service = by_service};
    for (char **file = files; file && *file; file++) {
        BbHostNamesCounts counts;
        if (!bb_host_names_read(*file, &options, take_host, nodes, &counts, error))
            return false;
        g_autofree char *names = bb_counted(counts.names, "name"),
                        *nothing = bb_number(counts.nothing);
        if (counts.nothing && !quiet)
            bb_say("%s: %s; entries that name no address: %s", *file, names, nothing);
    }
    return true;
}
