// SPDX-License-Identifier: Apache-2.0
// In: what was asked of bbtrace capture. Out: a process that looks at sockets, and names from it.
#include "cli/capture_processes.h"

#include "capture/processes/owner.h"
#include "capture/processes/watch.h"
#include "cli/capture_confine.h"
#include "cli/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/netlink.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define FIRST_LOOK_US (2 * G_USEC_PER_SEC)
#define OWN_FD 3
#define NOBODY "nobody"

// ---- the other process --------------------------------------------------------------------------

// Whoever ends this capture ends that process; signals are for this one.
static void ignore_signals(void)
{
    static const int all[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGPIPE, SIGUSR1, SIGUSR2};
    for (gsize i = 0; i < G_N_ELEMENTS(all); i++)
        (void)signal(all[i], SIG_IGN);
}

// Nothing of the parent's stays open, so that nobody waits for this process to close it.
static bool keep_only(int fd)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, OWN_FD + 1); // it may be one of those that are replaced
    int nothing = open("/dev/null", O_RDWR);
    if (own < 0 || nothing < 0 || dup2(nothing, 0) < 0 || dup2(nothing, 1) < 0 ||
        dup2(nothing, 2) < 0 || dup2(own, OWN_FD) < 0)
        return false;
    closefrom(OWN_FD + 1);
    return true;
}

// Who it becomes: where root names nobody else, the user who owns nothing. NULL: it stays.
static const char *find_user(const BbCaptureArguments *arguments)
{
    const char *user = bb_capture_confine_user(arguments);
    bool keeps = prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0;
    if (user || geteuid() != 0 || !keeps)
        return user;
    const struct passwd *nobody = getpwnam(NOBODY);
    return nobody && nobody->pw_uid != 0 ? NOBODY : NULL;
}

// What is left are the rights to look into other processes. A user namespace may have no other
// users: then it stays who it is, unless one was asked for.
static bool give_up_rights(const BbCaptureArguments *arguments, GError **error)
{
    const guint64 kept = G_GUINT64_CONSTANT(1) << CAP_SYS_PTRACE | G_GUINT64_CONSTANT(1)
                                                                       << CAP_DAC_READ_SEARCH;
    const char *asked = bb_capture_confine_user(arguments), *user = find_user(arguments);
    bb_confine_bounds(kept);
    if (user && !bb_confine_user(user, asked ? error : NULL) && asked)
        return false;
    if (!bb_confine_capabilities(kept, error))
        return false;
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    return true;
}

// A change of rights forgets about the parent's death: this comes behind it.
static bool die_with(pid_t parent)
{
    return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && getppid() == parent;
}

// Tells the parent that all is well, by an empty text; or why not. Returns whether it is.
static bool report(int fd, const char *text)
{
    (void)send(fd, text, strlen(text) + 1, MSG_NOSIGNAL);
    return !*text;
}

// Landlock would keep it from looking into other processes (landlock(7), ptrace restrictions).
static void watch(int fd, const BbCaptureArguments *arguments, pid_t parent)
{
    g_autoptr(GError) error = NULL;
    (void)prctl(PR_SET_NAME, "bbtrace-sockets", 0, 0, 0);
    ignore_signals();
    if (!keep_only(fd)) {
        (void)report(fd, "/dev/null cannot be opened");
        return;
    }
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (!arguments->unconfined && !give_up_rights(arguments, &error)) {
        (void)report(OWN_FD, error ? error->message : "rights cannot be given up");
        return;
    }
    if (!die_with(parent))
        return;
    if (!arguments->unconfined && !BB_IS_SANITIZED)
        (void)bb_confine_calls_to_reading();
    if (report(OWN_FD, ""))
        bb_watch_run(OWN_FD, proc, netlink);
}

// ---- this process -------------------------------------------------------------------------------

static bool fail(GError **error, const char *what)
{
    int reason = errno;
    g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(reason),
                "--processes: %s: %s: capture without it", what, g_strerror(reason));
    return false;
}

// Nobody waits for the other process: it leaves nothing behind.
static bool divide(const int fds[2], const BbCaptureArguments *arguments, GError **error)
{
    pid_t parent = getpid();
    (void)signal(SIGCHLD, SIG_IGN);
    pid_t child = fork();
    if (child < 0)
        return fail(error, "no process can be made");
    if (child > 0)
        return true;
    watch(fds[1], arguments, parent);
    _exit(0);
}

// What the other process reports (see report).
static bool is_well(int fd, GError **error)
{
    char text[512];
    gssize size = recv(fd, text, sizeof text - 1, 0);
    text[MAX(size, 0)] = '\0';
    if (size == 1 && !text[0])
        return true;
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
                "--processes: the process that looks at sockets: %s: capture without it",
                text[0] ? text : "it has ended");
    return false;
}

int bb_capture_processes_start(const BbCaptureArguments *arguments, GError **error)
{
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
        (void)fail(error, "no sockets can be made");
        return -1;
    }
    bool made = divide(fds, arguments, error);
    (void)close(fds[1]);
    if (made && is_well(fds[0], error))
        return fds[0];
    (void)close(fds[0]);
    return -1;
}

// Up to its first dot, as a part of names.
static void find_host(char host[BB_OWNER_NAME])
{
    char name[256] = "";
    (void)gethostname(name, sizeof name - 1);
    bb_owner_clean(name, strcspn(name, "."), host);
}

BbProcesses *bb_capture_processes_open(int fd)
{
    char host[BB_OWNER_NAME];
    find_host(host);
    BbProcesses *processes = bb_processes_new(fd, host);
    (void)bb_processes_wait(processes, FIRST_LOOK_US);
    return processes;
}

char *bb_capture_processes_note(void)
{
    char host[BB_OWNER_NAME];
    find_host(host);
    return g_strdup_printf("nodes of host %s are named by unit of systemd, container or program: "
                           "%s/NAME; by address where the process is not known",
                           host, host);
}
