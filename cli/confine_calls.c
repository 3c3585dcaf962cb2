// SPDX-License-Identifier: Apache-2.0
// In: descriptors to which nothing may be written. Out: a process with few system calls
// (seccomp(2)).
#include "cli/confine.h"

#include <errno.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>

// What reading packets, decoding them in threads, and writing files takes.
static const int allowed[] = {
    // memory and threads
    SCMP_SYS(brk),
    SCMP_SYS(mmap),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(mprotect),
    SCMP_SYS(madvise),
    SCMP_SYS(msync),
    SCMP_SYS(futex),
    SCMP_SYS(clone),
    SCMP_SYS(clone3),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(set_tid_address),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(getcpu),
    SCMP_SYS(membarrier),
    SCMP_SYS(prlimit64),
    SCMP_SYS(getrlimit),
    SCMP_SYS(sysinfo),
    SCMP_SYS(getrandom),
    SCMP_SYS(getrusage),
    // files
    SCMP_SYS(openat),
    SCMP_SYS(open),
    SCMP_SYS(close),
    SCMP_SYS(read),
    SCMP_SYS(readv),
    SCMP_SYS(pread64),
    SCMP_SYS(pwrite64),
    SCMP_SYS(lseek),
    SCMP_SYS(fstat),
    SCMP_SYS(stat),
    SCMP_SYS(lstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(statx),
    SCMP_SYS(statfs),
    SCMP_SYS(fstatfs),
    SCMP_SYS(access),
    SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(getdents64),
    SCMP_SYS(getcwd),
    SCMP_SYS(fcntl),
    SCMP_SYS(dup),
    SCMP_SYS(fsync),
    SCMP_SYS(fdatasync),
    SCMP_SYS(sync_file_range),
    SCMP_SYS(ftruncate),
    SCMP_SYS(fallocate),
    SCMP_SYS(fadvise64),
    SCMP_SYS(unlink),
    SCMP_SYS(unlinkat),
    SCMP_SYS(rename),
    SCMP_SYS(renameat),
    SCMP_SYS(renameat2),
    SCMP_SYS(mkdir),
    SCMP_SYS(mkdirat),
    SCMP_SYS(flock),
    SCMP_SYS(fchmod),
    SCMP_SYS(chmod),
    SCMP_SYS(fchmodat),
    SCMP_SYS(umask),
    SCMP_SYS(pipe2),
    SCMP_SYS(eventfd2),
    // sockets that are open, and the control socket's guests
    SCMP_SYS(recvfrom),
    SCMP_SYS(recvmsg),
    SCMP_SYS(getsockopt),
    SCMP_SYS(setsockopt),
    SCMP_SYS(getsockname),
    SCMP_SYS(accept4),
    SCMP_SYS(shutdown),
    // waiting, time, signals, the end
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(select),
    SCMP_SYS(pselect6),
    SCMP_SYS(nanosleep),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(rt_sigpending),
    SCMP_SYS(getpid),
    SCMP_SYS(getppid),
    SCMP_SYS(gettid),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(tgkill),
    SCMP_SYS(uname),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
};

// What nobody who reads packets does.
static const int deadly[] = {
    SCMP_SYS(execve),
    SCMP_SYS(execveat),
    SCMP_SYS(fork),
    SCMP_SYS(vfork),
    SCMP_SYS(connect),
    SCMP_SYS(sendmsg),
    SCMP_SYS(sendmmsg),
    SCMP_SYS(ptrace),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev),
    SCMP_SYS(setuid),
    SCMP_SYS(setgid),
    SCMP_SYS(setresuid),
    SCMP_SYS(setresgid),
    SCMP_SYS(setgroups),
    SCMP_SYS(capset),
    SCMP_SYS(mount),
    SCMP_SYS(umount2),
    SCMP_SYS(chroot),
    SCMP_SYS(pivot_root),
    SCMP_SYS(setns),
    SCMP_SYS(unshare),
    SCMP_SYS(bpf),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(init_module),
    SCMP_SYS(finit_module),
    SCMP_SYS(kexec_load),
    SCMP_SYS(keyctl),
    SCMP_SYS(io_uring_setup),
    SCMP_SYS(reboot),
};

// Requests that ask whether, and how wide, a terminal is there; what an interface is.
static const unsigned long requests[] = {
    TCGETS, TIOCGWINSZ, FIONREAD, SIOCGIFNAME, SIOCGIFINDEX, SIOCGIFFLAGS,
};

// Calls that write to the descriptor which is their first argument.
static const int writing[] = {SCMP_SYS(write), SCMP_SYS(writev), SCMP_SYS(sendto)};

static int compare_numbers(gconstpointer a, gconstpointer b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

// A call is allowed on all descriptors but the silent ones, on which it kills. A rule looks at an
// argument once: below the first, above the last, and one by one those between them.
static int allow_but_silent(scmp_filter_ctx filter, int call, const BbConfinement *confinement)
{
    guint n = confinement->n_silent;
    if (n == 0)
        return seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0);
    g_autofree int *silent = g_memdup2(confinement->silent, n * sizeof *silent);
    qsort(silent, n, sizeof *silent, compare_numbers);
    scmp_datum_t first = (scmp_datum_t)silent[0], last = (scmp_datum_t)silent[n - 1];
    int status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, SCMP_A0(SCMP_CMP_LT, first));
    if (status == 0)
        status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, SCMP_A0(SCMP_CMP_GT, last));
    guint at = 0;
    for (scmp_datum_t fd = first; status == 0 && fd <= last; fd++) {
        bool is_silent = fd == (scmp_datum_t)silent[at];
        while (at + 1 < n && (scmp_datum_t)silent[at] <= fd)
            at++;
        status = seccomp_rule_add(filter, is_silent ? SCMP_ACT_KILL_PROCESS : SCMP_ACT_ALLOW, call,
                                  1, SCMP_A0(SCMP_CMP_EQ, fd));
    }
    return status;
}

// Sockets are no way out of here; one of AF_UNIX may be a way in.
static int add_listening(scmp_filter_ctx filter, bool listens)
{
    guint32 action = listens ? SCMP_ACT_ALLOW : SCMP_ACT_KILL_PROCESS;
    int status = seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, SCMP_SYS(socket), 1,
                                  SCMP_A0(SCMP_CMP_NE, AF_UNIX));
    if (status == 0)
        status =
            seccomp_rule_add(filter, action, SCMP_SYS(socket), 1, SCMP_A0(SCMP_CMP_EQ, AF_UNIX));
    if (status == 0)
        status = seccomp_rule_add(filter, action, SCMP_SYS(bind), 0);
    if (status == 0)
        status = seccomp_rule_add(filter, action, SCMP_SYS(listen), 0);
    return status;
}

static int add_rules(scmp_filter_ctx filter, const BbConfinement *confinement)
{
    int status = 0;
    for (gsize i = 0; status == 0 && i < G_N_ELEMENTS(allowed); i++)
        status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
    for (gsize i = 0; status == 0 && i < G_N_ELEMENTS(deadly); i++)
        status = seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, deadly[i], 0);
    for (gsize i = 0; status == 0 && i < G_N_ELEMENTS(requests); i++)
        status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
                                  SCMP_A1(SCMP_CMP_EQ, requests[i]));
    if (status == 0) // threads have names
        status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 1,
                                  SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME));
    for (gsize i = 0; status == 0 && i < G_N_ELEMENTS(writing); i++)
        status = allow_but_silent(filter, writing[i], confinement);
    return status == 0 ? add_listening(filter, confinement->listens) : status;
}

bool bb_confine_calls(const BbConfinement *confinement)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
    if (!filter)
        return false;
    bool done = add_rules(filter, confinement) == 0 && seccomp_load(filter) == 0;
    seccomp_release(filter);
    return done;
}
