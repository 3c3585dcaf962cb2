// SPDX-License-Identifier: Apache-2.0
// A process that has given up its rights can do what it must, and nothing else: each case in a
// child of its own.
#include "cli/confine.h"
#include "tests/unit/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define DIED 1000 // and the signal

// What a child returns, or DIED and its signal.
static int in_child(int (*run)(gpointer data), gpointer data)
{
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        _exit(run(data));
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? DIED + WTERMSIG(status) : WEXITSTATUS(status);
}

// ---- system calls ------------------------------------------------------------------------------

static bool has_seccomp(void)
{
    return BB_CAN_FILTER_CALLS && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
}

static gpointer take_nothing(gpointer data)
{
    return data;
}

// Writing goes where it may; asking for what is not listed does no harm.
static int work_on(gpointer data)
{
    int *fds = data;
    BbConfinement confinement = {.silent = fds, .n_silent = 2};
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (!bb_confine_calls(&confinement))
        return 1;
    int between = fds[1] > fds[0] ? fds[0] + 1 : fds[1] + 1;
    if (write(between, "x", 1) != 1 || write(fds[2], "x", 1) != 1)
        return 2;
    if (syscall(SYS_getpriority, 0, 0) != -1 || errno != ENOSYS)
        return 3;
    if (fork() != -1 || errno != ENOSYS || kill(getppid(), SIGURG) != -1)
        return 4;
    g_thread_join(g_thread_new("one", take_nothing, NULL));
    g_autofree char *memory = g_malloc(1 << 24);
    memory[1 << 20] = 1;
    return 0;
}

typedef struct {
    const int *silent;
    long call, arguments[3];
} Forbidden;

static int do_forbidden(gpointer data)
{
    const Forbidden *f = data;
    BbConfinement confinement = {.silent = f->silent, .n_silent = 2};
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (!bb_confine_calls(&confinement))
        return 1;
    (void)syscall(f->call, f->arguments[0], f->arguments[1], f->arguments[2]);
    return 0;
}

// Descriptors: a silent one, one of ours, a silent one, one of ours.
static void open_four(int fds[4])
{
    for (guint i = 0; i < 4; i++)
        ck_assert_int_ge(fds[i] = open("/dev/null", O_WRONLY | O_CLOEXEC), 0);
    for (guint i = 1; i < 4; i++)
        ck_assert_int_eq(fds[i], fds[0] + (int)i);
}

static void close_four(const int fds[4])
{
    for (guint i = 0; i < 4; i++)
        ck_assert_int_eq(close(fds[i]), 0);
}

// Files can be read, and what is open can be talked over; nothing can be written or run.
static int read_only(gpointer data)
{
    const int *fds = data; // of a pair of sockets
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (!bb_confine_calls_to_reading())
        return 1;
    static const int writing[] = {O_WRONLY, O_RDWR, O_WRONLY | O_CREAT, O_RDONLY | O_TRUNC,
                                  O_RDONLY | O_CREAT};
    for (gsize i = 0; i < G_N_ELEMENTS(writing); i++)
        if (openat(AT_FDCWD, "/dev/null", writing[i], 0600) >= 0 || errno != ENOSYS)
            return 2;
    char byte;
    int fd = openat(AT_FDCWD, "/dev/zero", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, &byte, 1) != 1)
        return 3;
    if (send(fds[0], "x", 1, 0) != 1 || recv(fds[1], &byte, 1, 0) != 1)
        return 4;
    if (write(fds[0], "x", 1) != -1 || pwrite(fds[0], "x", 1, 0) != -1 || unlink("x") != -1 ||
        fork() != -1 || kill(getpid(), SIGURG) != -1 || socket(AF_UNIX, SOCK_STREAM, 0) != -1)
        return 5;
    return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
               ? 0
               : 6;
}

START_TEST(calls_to_reading)
{
    int fds[2];
    if (!has_seccomp() || BB_IS_SANITIZED)
        return;
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
    ck_assert_int_eq(in_child(read_only, fds), 0);
    ck_assert_int_eq(close(fds[0]), 0);
    ck_assert_int_eq(close(fds[1]), 0);
}
END_TEST

START_TEST(calls)
{
    int fds[4];
    if (!has_seccomp())
        return;
    open_four(fds);
    int order[3] = {fds[2], fds[0], fds[3]}; // in any order
    ck_assert_int_eq(in_child(work_on, order), 0);
    const Forbidden forbidden[] = {
        {order, SYS_socket, {AF_INET, SOCK_STREAM, 0}},
        {order, SYS_socket, {AF_PACKET, SOCK_RAW, 0}},
        {order, SYS_execve, {0, 0, 0}},
        {order, SYS_ptrace, {0, 0, 0}},
        {order, SYS_setuid, {0, 0, 0}},
        {order, SYS_write, {fds[0], (long)(gsize) "x", 1}},
        {order, SYS_write, {fds[2], (long)(gsize) "x", 1}},
        {order, SYS_sendto, {fds[2], (long)(gsize) "x", 1}},
        {order,
         SYS_write,
         {(long)(fds[2] | G_GINT64_CONSTANT(1) << 32), (long)(gsize) "x",
          1}}, // the same for the kernel
        {order, SYS_dup, {fds[0], 0, 0}},
        {order, SYS_fcntl, {fds[2], F_DUPFD, 0}},
        {order, SYS_sendmsg, {fds[3], 0, 0}},
    };
    for (guint i = 0; i < G_N_ELEMENTS(forbidden); i++)
        ck_assert_int_eq(in_child(do_forbidden, (gpointer)&forbidden[i]), DIED + SIGSYS);
    close_four(fds);
}
END_TEST

// ---- files -------------------------------------------------------------------------------------

typedef struct {
    const char *readable, *hidden, *out, *beside, *later;
} Paths;

static int use_files(gpointer data)
{
    const Paths *p = data;
    const char *reads[] = {p->readable, "/there/is/none", NULL},
               *writes[] = {p->out, p->later, "/dev/null", NULL};
    BbConfinement confinement = {.reads = reads, .writes = writes};
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (bb_confine_files(&confinement) == 0)
        return 77;
    if (open(p->readable, O_RDONLY | O_CLOEXEC) < 0)
        return 1;
    if (open(p->readable, O_WRONLY | O_CLOEXEC) >= 0 || errno != EACCES)
        return 2;
    if (open(p->hidden, O_RDONLY | O_CLOEXEC) >= 0 || errno != EACCES)
        return 3;
    if (!g_file_set_contents(p->out, "x", 1, NULL) || !g_file_set_contents(p->beside, "x", 1, NULL))
        return 4;
    if (g_unlink(p->beside) != 0)
        return 5;
    if (g_file_set_contents(p->hidden, "x", 1, NULL) ||
        open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0)
        return 6;
    if (g_mkdir_with_parents(p->later, 0700) != 0 || g_rmdir(p->later) != 0)
        return 7;
    if (open("/dev/null", O_WRONLY | O_CLOEXEC) < 0 || open("/dev/zero", O_RDONLY | O_CLOEXEC) >= 0)
        return 8;
    return 0;
}

START_TEST(files)
{
    g_autoptr(Scratch) in = scratch_new();
    g_autoptr(Scratch) out = scratch_new();
    Paths paths = {scratch_file(in, "readable", "x", 1), scratch_file(in, "hidden", "x", 1),
                   scratch_path(out, "trace.bbt"), scratch_path(out, "trace-2.bbt"),
                   scratch_path(out, "later/deep/")};
    int status = in_child(use_files, &paths);
    if (status == 77)
        g_printerr("files: this kernel has no Landlock: skipped\n");
    else
        ck_assert_int_eq(status, 0);
}
END_TEST

// More paths than rules are made for: files are left as they are.
START_TEST(many_paths)
{
    g_autoptr(GPtrArray) paths = g_ptr_array_new();
    for (guint i = 0; i <= BB_CONFINE_PATHS; i++)
        g_ptr_array_add(paths, (gpointer) "/tmp");
    g_ptr_array_add(paths, NULL);
    BbConfinement confinement = {.reads = (const char *const *)paths->pdata};
    ck_assert_int_eq(bb_confine_files(&confinement), 0);
}
END_TEST

// ---- rights ------------------------------------------------------------------------------------

// A line of /proc/self/status.
static char *status_of(const char *key)
{
    g_autofree char *text = NULL;
    if (!g_file_get_contents("/proc/self/status", &text, NULL, NULL))
        return NULL;
    const char *at = strstr(text, key);
    return at ? g_strndup(at, strcspn(at, "\n")) : NULL;
}

static int drop_capabilities(gpointer data)
{
    static const char *const sets[] = {"CapInh:", "CapPrm:", "CapEff:", "CapAmb:"};
    if (!bb_confine_capabilities(bb_confine_wanted(false), NULL))
        return 1;
    for (guint i = 0; i < G_N_ELEMENTS(sets); i++) {
        g_autofree char *line = status_of(sets[i]);
        if (!line || !g_str_has_suffix(line, "\t0000000000000000"))
            return 2;
    }
    return 0;
}

// CAP_DAC_OVERRIDE is 1, CAP_DAC_READ_SEARCH 2 (capabilities(7)).
static int keep_files(gpointer data)
{
    if (!bb_confine_capabilities(bb_confine_wanted(true), NULL))
        return 1;
    g_autofree char *line = status_of("CapEff:");
    return line && g_str_has_suffix(line, geteuid() == 0 ? "6" : "0") ? 0 : 2;
}

START_TEST(capabilities)
{
    ck_assert_int_eq(in_child(drop_capabilities, NULL), 0);
    ck_assert_int_eq(in_child(keep_files, NULL), 0);
}
END_TEST

static int become_nobody(gpointer data)
{
    const struct passwd *nobody = getpwnam("nobody");
    if (!nobody)
        return 77;
    g_autoptr(GError) error = NULL;
    if (geteuid() != 0)
        return bb_confine_user("nobody", &error) || !strstr(error->message, "only root");
    if (!bb_confine_user("nobody", NULL))
        return 1;
    uid_t uids[3];
    if (getresuid(&uids[0], &uids[1], &uids[2]) != 0 || uids[0] != nobody->pw_uid ||
        uids[1] != nobody->pw_uid || uids[2] != nobody->pw_uid || getegid() != nobody->pw_gid)
        return 2;
    return setuid(0) == 0 ? 3 : 0; // no way back
}

START_TEST(user)
{
    int status = in_child(become_nobody, NULL);
    ck_assert(status == 0 || status == 77);
    g_autoptr(GError) error = NULL;
    ck_assert(!bb_confine_user("no such user", &error));
    ck_assert_ptr_nonnull(strstr(error->message, "-Z"));
    ck_assert(bb_confine_user(g_get_user_name(), NULL)); // who we are already
}
END_TEST

TEST_MAIN("confine", calls, calls_to_reading, files, many_paths, capabilities, user)
