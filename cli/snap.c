// SPDX-License-Identifier: Apache-2.0
// bbtrace snap. In: a flight recorder that runs, or the ring of one that is gone. Out: a snapshot.
#include "cli/command.h"

#include "cli/disguise.h"
#include "cli/recorder_options.h"
#include "cli/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define ANSWER_MAX 8192u

static const char program[] = "bbtrace snap";

typedef struct Snap {
    char *socket, *reason, *recover, *out;
    gboolean quiet;
} Snap;

static void snap_clear(Snap *snap)
{
    g_free(snap->socket);
    g_free(snap->reason);
    g_free(snap->recover);
    g_free(snap->out);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Snap, snap_clear)

// ---- a recorder that runs -----------------------------------------------------------------------

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (g_strlcpy(address.sun_path, path, sizeof address.sun_path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        int reason = errno;
        close(fd);
        errno = reason;
        return -1;
    }
    return fd;
}

static bool send_all(int fd, const char *text)
{
    for (gsize left = strlen(text); left > 0;) {
        gssize sent = send(fd, text, left, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR)
            return false;
        text += MAX(sent, 0);
        left -= (gsize)MAX(sent, 0);
    }
    return true;
}

// The line that comes, without its end; NULL where none comes.
static char *receive_line(int fd)
{
    char line[ANSWER_MAX];
    for (gsize used = 0; used < sizeof line;) {
        gssize got = recv(fd, line + used, sizeof line - used, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return NULL;
        char *end = memchr(line + used, '\n', (gsize)got);
        used += (gsize)got;
        if (end)
            return g_strndup(line, (gsize)(end - line));
    }
    return NULL;
}

static int say_answer(const char *path, const char *answer)
{
    if (answer && g_str_has_prefix(answer, "done ")) {
        puts(answer + strlen("done "));
        return bb_end_stdout(BB_EXIT_DONE);
    }
    if (answer && g_str_has_prefix(answer, "error "))
        bb_say_error("%s: the capture says: %s", path, answer + strlen("error "));
    else
        bb_say_error("%s: the capture went away without an answer: its ring can be read by "
                     "`bbtrace snap --recover`",
                     path);
    return BB_EXIT_FAILED;
}

static int ask(const Snap *snap, const char *path)
{
    g_autofree char *command =
        snap->reason ? g_strdup_printf("snap %s\n", snap->reason) : g_strdup("snap\n");
    int fd = connect_to(path);
    if (fd < 0) {
        int reason = errno;
        bb_say_error("%s: cannot reach a capture there: %s: %s", path, g_strerror(reason),
                     reason == EACCES || reason == EPERM
                         ? "ask as the user of that capture, or as root"
                         : "is it running, with --flight-recorder? The ring of one that is gone is "
                           "read by `bbtrace snap --recover`");
        return BB_EXIT_FAILED;
    }
    g_autofree char *answer = send_all(fd, command) ? receive_line(fd) : NULL;
    close(fd);
    return say_answer(path, answer);
}

// ---- one that is gone ---------------------------------------------------------------------------

static int recover(const Snap *snap)
{
    g_autoptr(GError) error = NULL;
    guint64 messages = 0;
    g_autofree char *damage = NULL;
    g_autofree char *ring = g_file_test(snap->recover, G_FILE_TEST_IS_DIR)
                                ? bb_recorder_ring_path(snap->recover)
                                : g_strdup(snap->recover);
    g_autofree char *disguise = bb_disguise_ring_note(ring);
    const char *const notes[] = {"what was left in the ring of a flight recorder", disguise, NULL};
    const BbSnapshot snapshot = {.ring = ring, .out = snap->out, .notes = notes, .stops = true};
    if (bb_is_same_file(ring, snap->out))
        return bb_say_usage(program, "-w would overwrite %s: give another file", ring);
    bb_stop_install();
    if (!bb_snapshot_write(&snapshot, &messages, &damage, &error)) {
        bb_say_error("%s", error->message);
        return BB_EXIT_FAILED;
    }
    g_autofree char *number = bb_counted(messages, "message");
    if (damage)
        bb_say("warning: %s", damage);
    if (!snap->quiet)
        bb_say("%s", number);
    return BB_EXIT_DONE;
}

// ---- options ------------------------------------------------------------------------------------

static int check_recover(const Snap *snap, int argc)
{
    if (bb_is_stdout(snap->out))
        return bb_say_usage(program, "--recover needs -w FILE: where the trace is to be written");
    if (argc > 1 || snap->socket || snap->reason)
        return bb_say_usage(program, "--recover reads a file: no folder, --socket or --reason");
    return recover(snap);
}

static int check_ask(const Snap *snap, int argc, char **argv)
{
    if (argc > 2 || (argc < 2 && !snap->socket) || (argc == 2 && snap->socket))
        return bb_say_usage(program, "give the folder of a flight recorder, or its --socket");
    if (snap->out)
        return bb_say_usage(program, "-w belongs to --recover: a capture that runs puts snapshots "
                                     "into its own folder");
    if (snap->reason && (strlen(snap->reason) > 200 || strpbrk(snap->reason, "\r\n")))
        return bb_say_usage(program, "--reason takes one line of at most 200 bytes");
    g_autofree char *path = argc == 2 ? bb_recorder_socket_path(argv[1]) : g_strdup(snap->socket);
    return ask(snap, path);
}

static int run(int argc, char **argv)
{
    g_auto(Snap) snap = {0};
    const GOptionEntry entries[] = {
        {"socket", 0, 0, G_OPTION_ARG_FILENAME, &snap.socket,
         "The control socket of the capture, in place of its folder", "PATH"},
        {"reason", 0, 0, G_OPTION_ARG_STRING, &snap.reason, "A word on why, kept in the snapshot",
         "TEXT"},
        {"recover", 0, 0, G_OPTION_ARG_FILENAME, &snap.recover,
         "Make a trace of this ring, or of that in this folder, without a capture", "FILE"},
        {"write", 'w', 0, G_OPTION_ARG_FILENAME, &snap.out, "With --recover: the trace, as .bbt",
         "FILE"},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &snap.quiet, "No summary", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    int status = BB_EXIT_DONE;
    if (!bb_options_parse(program, "[FOLDER]",
                          "Has a running bbtrace capture --flight-recorder take a snapshot, waits "
                          "for it, and prints its path.",
                          NULL, entries, &argc, &argv, &status))
        return status;
    return snap.recover ? check_recover(&snap, argc) : check_ask(&snap, argc, argv);
}

const BbCommand bb_command_snap = {
    .name = "snap",
    .arguments = "[FOLDER]",
    .summary = "a flight recorder's ring -> a trace",
    .run = run,
};
