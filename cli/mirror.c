// SPDX-License-Identifier: Apache-2.0
// bbtrace mirror. In: what is to be mirrored where. Out: a mirror on this host, or without it, the
// list of them, or the commands that a vendor's device wants for it.
#include "cli/command.h"
#include "cli/mirror_options.h"

#include "capture/mirror/linux.h"
#include "capture/mirror/tool.h"
#include "capture/mirror/vendor.h"

#include <stdio.h>
#include <string.h>

static const char program[] = BB_MIRROR_PROGRAM;

static BbMirrorWords words_of(const BbMirrorOptions *options)
{
    return (BbMirrorWords){.from = (const char *const *)options->from,
                           .direction = options->direction,
                           .to = options->to,
                           .to_gre = options->to_gre,
                           .to_erspan = options->to_erspan,
                           .to_vxlan = options->to_vxlan,
                           .local = options->local,
                           .id = options->id,
                           .session = options->session};
}

// What was said wrong is usage, what cannot be done is failure.
static int say(const GError *error)
{
    if (error->domain == G_OPTION_ERROR)
        return bb_say_usage(program, "%s", error->message);
    bb_say_error("%s", error->message);
    return BB_EXIT_FAILED;
}

static void say_notes(const BbMirrorPlan *plan, const BbMirrorOptions *options)
{
    for (guint i = 0; !options->quiet && i < plan->notes->len; i++)
        bb_say("%s", (const char *)plan->notes->pdata[i]);
}

static int print_plan(const BbMirrorPlan *plan)
{
    g_autoptr(GString) text = g_string_new(NULL);
    bb_mirror_append_plan(text, plan);
    fputs(text->str, stdout);
    return bb_end_stdout(BB_EXIT_DONE);
}

// ---- add ---------------------------------------------------------------------------------------

static bool parse_classifier(const char *word, BbMirrorClassifier *classifier, GError **error)
{
    static const char *const names[] = {"auto", "matchall", "u32"};
    *classifier = BB_CLASSIFIER_AUTO;
    for (guint i = 0; word && i < G_N_ELEMENTS(names); i++) {
        *classifier = (BbMirrorClassifier)i;
        if (strcmp(names[i], word) == 0)
            return true;
    }
    if (word)
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                    "--classifier is auto, matchall or u32, not '%s'", word);
    return !word;
}

static BbMirrorPlan *plan_add(const BbMirror *mirror, BbMirrorClassifier classifier, GError **error)
{
    g_autofree char *underlay = NULL;
    g_autoptr(BbMirrorHost) host = bb_mirror_read_host(error);
    if (!host)
        return NULL;
    if (mirror->target != BB_MIRROR_TO_INTERFACE) {
        underlay = bb_mirror_find_route(mirror->to, error);
        if (!underlay)
            return NULL;
    }
    if (!bb_mirror_check_linux(mirror, host, underlay, error))
        return NULL;
    return bb_mirror_plan_linux(mirror, host, classifier, error);
}

static int run_add(const BbMirrorOptions *options)
{
    BbMirrorWords words = words_of(options);
    BbMirrorClassifier classifier;
    g_autoptr(GError) error = NULL;
    g_autoptr(BbMirrorPlan) plan = NULL;
    if (!parse_classifier(options->classifier, &classifier, &error))
        return say(error);
    g_autoptr(BbMirror) mirror = bb_mirror_new(&words, &error);
    if (mirror)
        plan = plan_add(mirror, classifier, &error);
    if (!plan)
        return say(error);
    say_notes(plan, options);
    if (options->dry_run)
        return print_plan(plan);
    bb_stop_install(); // the first signal must not leave half a mirror
    return bb_mirror_run_plan(plan, &error) ? BB_EXIT_DONE : say(error);
}

// ---- del ---------------------------------------------------------------------------------------

// *address is what the selection lends; free it after it.
static bool select_target(const BbMirrorOptions *options, char **address,
                          BbMirrorSelection *selection, GError **error)
{
    static const char *const names[] = {"--to", "--to-gre", "--to-erspan", "--to-vxlan"};
    const char *const said[] = {options->to, options->to_gre, options->to_erspan,
                                options->to_vxlan};
    selection->any_target = true;
    for (guint i = 0; i < G_N_ELEMENTS(said); i++) {
        if (!said[i])
            continue;
        if (!selection->any_target) {
            g_set_error_literal(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                                "only one of --to, --to-gre, --to-erspan and --to-vxlan");
            return false;
        }
        selection->any_target = false;
        selection->target = (BbMirrorTarget)i;
        selection->to = said[i];
    }
    if (selection->any_target || selection->target == BB_MIRROR_TO_INTERFACE)
        return true;
    bool is_ipv6 = false;
    selection->to = *address =
        bb_mirror_parse_address(names[selection->target], selection->to, &is_ipv6, error);
    return *address != NULL;
}

// *names and *address are what the selection lends; free them after it.
static bool select_mirrors(const BbMirrorOptions *options, char ***names, char **address,
                           BbMirrorSelection *selection, GError **error)
{
    *names = bb_mirror_split((const char *const *)options->from, error);
    if (!*names || !bb_mirror_parse_direction(options->direction, &selection->direction, error) ||
        !select_target(options, address, selection, error))
        return false;
    selection->from = (*names)[0] ? (const char *const *)*names : NULL;
    selection->gone = options->gone;
    bool says_which = selection->from || options->direction || !selection->any_target;
    if (says_which != (bool)options->all || (selection->gone && !options->all))
        return true;
    g_set_error_literal(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                        "which mirrors? Either --all, or --from IF, --direction, --to IF ..., or "
                        "--gone");
    return false;
}

static int run_del(const BbMirrorOptions *options)
{
    g_auto(GStrv) names = NULL;
    g_autofree char *address = NULL;
    BbMirrorSelection selection = {0};
    g_autoptr(GError) error = NULL;
    if (!select_mirrors(options, &names, &address, &selection, &error))
        return say(error);
    g_autoptr(BbMirrorHost) host = bb_mirror_read_host(&error);
    if (!host)
        return say(error);
    g_autoptr(BbMirrorPlan) plan = bb_mirror_plan_linux_del(&selection, host);
    if (plan->commands->len == 0 && !options->quiet)
        bb_say("there is no such mirror of ours: nothing to remove");
    say_notes(plan, options);
    if (options->dry_run)
        return print_plan(plan);
    bb_stop_install();
    return bb_mirror_run_removal(plan, &error) ? BB_EXIT_DONE : say(error);
}

// ---- show --------------------------------------------------------------------------------------

static void print_mirror(const BbHostFilter *filter, const BbMirrorHost *host)
{
    const BbHostInterface *to = filter->to ? bb_host_find(host, filter->to) : NULL;
    g_autofree char *tunnel =
        to && bb_mirror_owns_tunnel(to) ? bb_mirror_describe_tunnel(to) : NULL;
    g_autofree char *packets = bb_number(filter->packets), *bytes = bb_number(filter->bytes);
    g_autofree char *where = tunnel ? g_strdup_printf("%s (%s)", filter->to, tunnel)
                                    : g_strdup(to ? filter->to : "an interface that is gone");
    printf("%-15s  %-7s  %-8s  %4u  %14s  %16s  %s\n", filter->interface,
           bb_mirror_direction_name(filter->direction), filter->kind ? filter->kind : "?",
           filter->pref, packets, bytes, where);
}

static int run_show(const BbMirrorOptions *options)
{
    bool any = false;
    g_autoptr(GError) error = NULL;
    g_autoptr(BbMirrorHost) host = bb_mirror_read_host(&error);
    if (!host)
        return say(error);
    for (guint i = 0; i < host->filters->len; i++) {
        const BbHostFilter *filter = host->filters->pdata[i];
        if (!bb_mirror_owns_filter(filter))
            continue;
        if (!any)
            printf("%-15s  %-7s  %-8s  %4s  %14s  %16s  %s\n", "FROM", "WHAT", "FILTER", "PREF",
                   "PACKETS", "BYTES", "TO");
        print_mirror(filter, host);
        any = true;
    }
    if (!any && !options->quiet)
        bb_say("there is no mirror of ours");
    return bb_end_stdout(BB_EXIT_DONE);
}

// ---- plan --------------------------------------------------------------------------------------

static int run_plan(const BbMirrorOptions *options)
{
    BbMirrorWords words = words_of(options);
    g_autoptr(GError) error = NULL;
    if (!options->vendor)
        return bb_say_usage(program, "for whom? --vendor NAME");
    const BbMirrorVendor *vendor = bb_mirror_find_vendor(options->vendor, &error);
    g_autoptr(BbMirror) mirror = vendor ? bb_mirror_new(&words, &error) : NULL;
    g_autofree char *text = mirror ? bb_mirror_plan_vendor(mirror, vendor, &error) : NULL;
    if (!text)
        return say(error);
    fputs(text, stdout);
    return bb_end_stdout(BB_EXIT_DONE);
}

// ---- all of them -------------------------------------------------------------------------------

static const BbMirrorVerb verbs[] = {
    {"add", "from direction to to-gre to-erspan to-vxlan local id classifier dry-run quiet",
     run_add},
    {"del", "from direction to to-gre to-erspan to-vxlan all gone dry-run quiet", run_del},
    {"show", "quiet", run_show},
    {"plan", "from direction to to-gre to-erspan to-vxlan local id session vendor", run_plan},
    {NULL, NULL, NULL},
};

static int run(int argc, char **argv)
{
    BbMirrorOptions options = {0};
    int status = BB_EXIT_DONE;
    const BbMirrorVerb *verb = bb_mirror_options_parse(&options, verbs, argc, argv, &status);
    if (verb)
        status = verb->run(&options);
    bb_mirror_options_clear(&options);
    return status;
}

const BbCommand bb_command_mirror = {
    .name = "mirror",
    .arguments = BB_MIRROR_ARGUMENTS,
    .summary = "port mirrors on this host; commands for those of switches and clouds",
    .run = run,
};
