// SPDX-License-Identifier: Apache-2.0
// In: commands. Out: what they printed, what the host has, errors with a remedy.
#include "capture/mirror/tool.h"

#include <string.h>

// ---- one command -------------------------------------------------------------------------------

// In the PATH, or where it is on systems whose users have no such folders there. Yours.
static char *find_program(const char *name)
{
    static const char *const folders[] = {"/usr/sbin", "/sbin"};
    char *path = g_find_program_in_path(name);
    for (guint i = 0; !path && i < G_N_ELEMENTS(folders); i++) {
        path = g_build_filename(folders[i], name, NULL);
        if (!g_file_test(path, G_FILE_TEST_IS_EXECUTABLE))
            g_clear_pointer(&path, g_free);
    }
    return path;
}

static GSubprocess *start(const char *const *argv, GError **error)
{
    g_autoptr(GError) reason = NULL;
    g_autofree char *program = find_program(argv[0]);
    if (!program) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                    "there is no program %s: install iproute2", argv[0]);
        return NULL;
    }
    g_autofree const char **words =
        g_memdup2(argv, sizeof *argv * (g_strv_length((char **)argv) + 1));
    words[0] = program;
    g_autoptr(GSubprocessLauncher) launcher =
        g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
    g_subprocess_launcher_setenv(launcher, "LC_ALL", "C", TRUE); // errors are recognised by words
    GSubprocess *process = g_subprocess_launcher_spawnv(launcher, words, &reason);
    if (!process)
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "cannot run %s: %s", program,
                    reason->message);
    return process;
}

// The first line of what a program complained, without its "Error: ". Yours.
static char *complaint(GBytes *err)
{
    gsize length = 0;
    const char *text = g_bytes_get_data(err, &length);
    g_autofree char *whole =
        length ? g_strndup(text, MIN(length, 4096)) : g_strdup("no reason given");
    const char *line = whole;
    for (guint i = 0; i < 2; i++)
        if (g_str_has_prefix(line, i ? "RTNETLINK answers: " : "Error: "))
            line += strlen(i ? "RTNETLINK answers: " : "Error: ");
    g_autofree char *first = g_strndup(line, strcspn(line, "\n"));
    return g_strchomp(g_utf8_make_valid(first, -1));
}

// Runs it to its end. Returns false where it could not be run or failed; *why is what it said.
static bool run(const char *const *argv, GBytes **out, char **why)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) said = NULL, err = NULL;
    g_autoptr(GSubprocess) process = start(argv, &error);
    if (!process || !g_subprocess_communicate(process, NULL, NULL, &said, &err, &error)) {
        *why = g_strdup(error->message);
        return false;
    }
    if (!g_subprocess_get_successful(process)) {
        *why = complaint(err);
        return false;
    }
    if (out)
        *out = g_steal_pointer(&said);
    return true;
}

static bool lacks_rights(const char *why)
{
    return strstr(why, "Operation not permitted") || strstr(why, "Permission denied");
}

static void set_error(const char *const *argv, const char *why, const char *remedy, GError **error)
{
    g_autoptr(GString) line = g_string_new(NULL);
    bb_mirror_append_command(line, argv);
    const char *before = remedy ? "; if the kernel lacks it: " : "";
    if (lacks_rights(why)) {
        before = ": ";
        remedy = "a mirror needs CAP_NET_ADMIN: run it as root (sudo)";
    }
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "`%s` failed: %s%s%s", line->str, why, before,
                remedy ? remedy : "");
}

// ---- what the host has -------------------------------------------------------------------------

// What a command that only reads prints; NULL with an error.
static GBytes *ask(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static GBytes *ask(GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *line = g_strdup_vprintf(format, args);
    va_end(args);
    g_auto(GStrv) argv = g_strsplit(line, " ", -1);
    g_autofree char *why = NULL;
    GBytes *out = NULL;
    if (!run((const char *const *)argv, &out, &why))
        set_error((const char *const *)argv, why, NULL, error);
    return out;
}

// An ingress qdisc holds filters of one direction, and shows them whatever the direction asked for.
static bool read_filters(BbMirrorHost *host, const char *interface, BbQdisc qdisc, GError **error)
{
    guint last = qdisc == BB_QDISC_CLSACT ? BB_MIRROR_EGRESS : BB_MIRROR_INGRESS;
    for (guint d = BB_MIRROR_INGRESS; d <= last; d <<= 1) {
        BbMirrorDirection direction = (BbMirrorDirection)d;
        g_autoptr(GBytes) rows = ask(error, "tc -json -statistics filter show dev %s %s", interface,
                                     bb_mirror_direction_name(direction));
        gsize length = 0;
        const char *text = rows ? g_bytes_get_data(rows, &length) : NULL;
        if (!rows || !bb_host_add_filters(host, interface, direction, text, length, error))
            return false;
    }
    return true;
}

static bool read_all(BbMirrorHost *host, GError **error)
{
    gsize length = 0;
    g_autoptr(GBytes) links = ask(error, "ip -json -details link show");
    const char *text = links ? g_bytes_get_data(links, &length) : NULL;
    if (!links || !bb_host_add_links(host, text, length, error))
        return false;
    g_autoptr(GBytes) qdiscs = ask(error, "tc -json qdisc show");
    text = qdiscs ? g_bytes_get_data(qdiscs, &length) : NULL;
    if (!qdiscs || !bb_host_add_qdiscs(host, text, length, error))
        return false;
    for (guint i = 0; i < host->interfaces->len; i++) {
        const BbHostInterface *interface = host->interfaces->pdata[i];
        if (interface->qdisc != BB_QDISC_NONE &&
            !read_filters(host, interface->name, interface->qdisc, error))
            return false;
    }
    return true;
}

BbMirrorHost *bb_mirror_read_host(GError **error)
{
    g_autoptr(BbMirrorHost) host = bb_host_new();
    return read_all(host, error) ? g_steal_pointer(&host) : NULL;
}

char *bb_mirror_find_route(const char *address, GError **error)
{
    gsize length = 0;
    g_autoptr(GBytes) route = ask(NULL, "ip -json route get %s", address);
    const char *text = route ? g_bytes_get_data(route, &length) : NULL;
    char *interface = route ? bb_host_parse_route(text, length) : NULL;
    if (!interface)
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_HOST_UNREACHABLE,
                    "there is no route to the collector %s: ip route get %s", address, address);
    return interface;
}

// ---- plans -------------------------------------------------------------------------------------

static bool run_command(const BbMirrorCommand *command, GError **error)
{
    g_autofree char *why = NULL;
    if (run((const char *const *)command->run, NULL, &why) || command->optional)
        return true;
    if (command->instead && !lacks_rights(why)) {
        g_clear_pointer(&why, g_free);
        if (run((const char *const *)command->instead, NULL, &why))
            return true;
    }
    set_error((const char *const *)(command->instead ? command->instead : command->run), why,
              command->remedy, error);
    return false;
}

// Undoes the first commands, the last of them first. Returns what could not be undone, a line each.
static char *undo(const BbMirrorPlan *plan, guint count)
{
    g_autoptr(GString) left = g_string_new(NULL);
    while (count-- > 0) {
        const BbMirrorCommand *command = plan->commands->pdata[count];
        g_autofree char *why = NULL;
        if (!command->undo || run((const char *const *)command->undo, NULL, &why))
            continue;
        g_string_append(left, left->len ? ", " : "");
        bb_mirror_append_command(left, (const char *const *)command->undo);
    }
    return left->len ? g_strdup(left->str) : NULL;
}

bool bb_mirror_run_plan(const BbMirrorPlan *plan, GError **error)
{
    for (guint i = 0; i < plan->commands->len; i++) {
        g_autoptr(GError) reason = NULL;
        if (run_command(plan->commands->pdata[i], &reason))
            continue;
        g_autofree char *left = undo(plan, i);
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s; %s%s", reason->message,
                    left ? "not all could be undone, please run: " : "nothing is left behind",
                    left ? left : "");
        return false;
    }
    return true;
}

bool bb_mirror_run_removal(const BbMirrorPlan *plan, GError **error)
{
    bool done = true;
    for (guint i = 0; i < plan->commands->len; i++)
        done &= run_command(plan->commands->pdata[i], done ? error : NULL);
    return done;
}
