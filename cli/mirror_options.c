// SPDX-License-Identifier: Apache-2.0
// In: argv of bbtrace mirror. Out: its verb, and the options that the verb takes.
#include "cli/mirror_options.h"

#include "cli/command.h"

#include <string.h>

static const char program[] = BB_MIRROR_PROGRAM;

static const char summary[] =
    "Sets up port mirrors on this host, with tc(8) and ip(8); removes and shows those that it set\n"
    "up, and no others; prints the commands for switches and clouds.\n\n"
    "  add   Copy what --from receives or sends to an interface or a collector\n"
    "  del   Remove mirrors: --all, or those of --from, --direction, --to and --gone\n"
    "  show  The mirrors there are, with what they copied\n"
    "  plan  The commands for --vendor, from the same description";

void bb_mirror_options_clear(BbMirrorOptions *options)
{
    char *const texts[] = {
        options->direction, options->to, options->to_gre,  options->to_erspan, options->to_vxlan,
        options->local,     options->id, options->session, options->vendor,    options->classifier};
    g_strfreev(options->from);
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(texts[i]);
}

// An option that the verb would pass over is an error.
static bool check_options(const BbMirrorVerb *verb, const GOptionEntry *entries, int *status)
{
    g_auto(GStrv) takes = g_strsplit(verb->takes, " ", -1);
    for (gsize i = 0; entries[i].long_name; i++) {
        bool is_said = entries[i].arg == G_OPTION_ARG_NONE
                           ? *(gboolean *)entries[i].arg_data
                           : *(gpointer *)entries[i].arg_data != NULL;
        if (!is_said || g_strv_contains((const char *const *)takes, entries[i].long_name))
            continue;
        *status = bb_say_usage(program, "%s takes no --%s", verb->name, entries[i].long_name);
        return false;
    }
    return true;
}

static const BbMirrorVerb *find_verb(const BbMirrorVerb *verbs, int argc, char **argv, int *status)
{
    for (; argc == 2 && verbs->name; verbs++)
        if (strcmp(verbs->name, argv[1]) == 0)
            return verbs;
    *status = bb_say_usage(program, argc > 2 ? "only one of add, del, show and plan"
                                             : "what to do? One of add, del, show and plan");
    return NULL;
}

const BbMirrorVerb *bb_mirror_options_parse(BbMirrorOptions *options, const BbMirrorVerb *verbs,
                                            int argc, char **argv, int *status)
{
    const GOptionEntry entries[] = {
        {"from", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->from,
         "Interfaces to mirror; may be given again", "IF[,IF...]"},
        {"direction", 'd', 0, G_OPTION_ARG_STRING, &options->direction,
         "What they receive, send, or both (default: both)", "ingress|egress|both"},
        {"to", 0, 0, G_OPTION_ARG_STRING, &options->to, "Send the copies out at this interface",
         "IF"},
        {"to-gre", 0, 0, G_OPTION_ARG_STRING, &options->to_gre,
         "Send them to a collector, as Ethernet in GRE", "ADDRESS"},
        {"to-erspan", 0, 0, G_OPTION_ARG_STRING, &options->to_erspan, "As ERSPAN type II",
         "ADDRESS"},
        {"to-vxlan", 0, 0, G_OPTION_ARG_STRING, &options->to_vxlan, "As VXLAN, UDP port 4789",
         "ADDRESS"},
        {"local", 0, 0, G_OPTION_ARG_STRING, &options->local,
         "Address that the tunnel comes from (default: by the route)", "ADDRESS"},
        {"id", 0, 0, G_OPTION_ARG_STRING, &options->id,
         "VNI of VXLAN or session id of ERSPAN (default: 1), key of GRE", "N"},
        {"session", 0, 0, G_OPTION_ARG_STRING, &options->session,
         "plan: number of the monitor session (default: 1)", "N"},
        {"vendor", 0, 0, G_OPTION_ARG_STRING, &options->vendor,
         "plan: arista, aws, azure, cisco-ios, cisco-nxos, juniper, linux or ovs", "NAME"},
        {"classifier", 0, 0, G_OPTION_ARG_STRING, &options->classifier,
         "add: kind of filter (default: auto)", "auto|matchall|u32"},
        {"all", 'a', 0, G_OPTION_ARG_NONE, &options->all, "del: all mirrors of ours", NULL},
        {"gone", 0, 0, G_OPTION_ARG_NONE, &options->gone,
         "del: of those, only mirrors into an interface that is gone", NULL},
        {"dry-run", 'n', 0, G_OPTION_ARG_NONE, &options->dry_run,
         "add, del: print the commands, run none that changes anything", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &options->quiet, "Only errors", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL}};
    if (!bb_options_parse(program, BB_MIRROR_ARGUMENTS, summary, NULL, entries, &argc, &argv,
                          status))
        return NULL;
    const BbMirrorVerb *verb = find_verb(verbs, argc, argv, status);
    return verb && check_options(verb, entries, status) ? verb : NULL;
}
