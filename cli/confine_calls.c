// SPDX-License-Identifier: Apache-2.0
// In: descriptors to which nothing may be written. Out: a process with few system calls
// (seccomp(2)).
#include "cli/confine.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

// What reading packets, decoding them in threads, and writing files takes. See add_own and
// add_sockets for those that are looked at more closely.
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
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(set_tid_address),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(getcpu),
    SCMP_SYS(membarrier),
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
    SCMP_SYS(write),
    SCMP_SYS(writev),
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
    SCMP_SYS(sendto),
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
    SCMP_SYS(rt_sigtimedwait),
    SCMP_SYS(getpid),
    SCMP_SYS(getppid),
    SCMP_SYS(gettid),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
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

// Calls by which something could be sent on a descriptor, its first argument, or on a copy of it.
static const int sending[] = {
    SCMP_SYS(write), SCMP_SYS(writev), SCMP_SYS(pwrite64), SCMP_SYS(sendto),
    SCMP_SYS(dup),   SCMP_SYS(fcntl),  SCMP_SYS(bind),
};

// Sockets are no way out of here; one of AF_UNIX may be a way in.
static int add_sockets(scmp_filter_ctx filter, const BbConfinement *confinement)
{
    const struct {
        int call;
        guint32 action; // ENOSYS, which is that of the filter, cannot be given again
    } calls[] = {
        {SCMP_SYS(connect), SCMP_ACT_KILL_PROCESS},
        {SCMP_SYS(bind), confinement->listens ? SCMP_ACT_ALLOW : SCMP_ACT_KILL_PROCESS},
        {SCMP_SYS(listen), confinement->listens ? SCMP_ACT_ALLOW : SCMP_ACT_KILL_PROCESS},
    };
    int status = 0;
    if (!confinement->resolves)
        status = seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, SCMP_SYS(socket), 1,
                                  SCMP_A0(SCMP_CMP_NE, AF_UNIX));
    if (status == 0 && (confinement->listens || !confinement->resolves))
        status = seccomp_rule_add(filter, calls[1].action, SCMP_SYS(socket), 1,
                                  SCMP_A0(SCMP_CMP_EQ, AF_UNIX));
    for (gsize i = confinement->resolves ? 1 : 0; status == 0 && i < G_N_ELEMENTS(calls); i++)
        status = seccomp_rule_add(filter, calls[i].action, calls[i].call, 0);
    return status;
}

// Threads are made, but no processes: clone3(2), whose flags cannot be looked at, is not there, and
// the C library does without. Signals go to this process, limits are those of this one.
static int add_own(scmp_filter_ctx filter)
{
    int status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                                  SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
    if (status == 0)
        status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                                  SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()));
    if (status == 0)
        status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 1,
                                  SCMP_A0(SCMP_CMP_EQ, 0));
    if (status == 0) // threads have names
        status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 1,
                                  SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME));
    return status;
}

static int add_rules(scmp_filter_ctx filter, const BbConfinement *confinement)
{
    int status = add_own(filter);
    for (gsize i = 0; status == 0 && i < G_N_ELEMENTS(allowed); i++)
        status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
    for (gsize i = 0; status == 0 && i < G_N_ELEMENTS(deadly); i++)
        status = seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, deadly[i], 0);
    for (gsize i = 0; status == 0 && i < G_N_ELEMENTS(requests); i++)
        status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
                                  SCMP_A1(SCMP_CMP_EQ, requests[i]));
    return status == 0 ? add_sockets(filter, confinement) : status;
}

// The kernel takes 32 bits of a descriptor.
static int add_silence(scmp_filter_ctx filter, const BbConfinement *confinement)
{
    int status = 0;
    for (guint i = 0; i < confinement->n_silent; i++)
        for (gsize k = 0; status == 0 && k < G_N_ELEMENTS(sending); k++)
            status = seccomp_rule_add(
                filter, SCMP_ACT_KILL_PROCESS, sending[k], 1,
                SCMP_A0(SCMP_CMP_MASKED_EQ, G_MAXUINT32, (scmp_datum_t)confinement->silent[i]));
    return status;
}

static bool load(guint32 otherwise, int (*add)(scmp_filter_ctx, const BbConfinement *),
                 const BbConfinement *confinement)
{
    scmp_filter_ctx filter = seccomp_init(otherwise);
    if (!filter)
        return false;
    bool done = add(filter, confinement) == 0 && seccomp_load(filter) == 0;
    seccomp_release(filter);
    return done;
}

// Of two filters the kernel does what the stricter one says (seccomp(2)).
bool bb_confine_calls(const BbConfinement *confinement)
{
    if (!BB_CAN_FILTER_CALLS)
        return false;
    return load(SCMP_ACT_ALLOW, add_silence, confinement) &&
           load(SCMP_ACT_ERRNO(ENOSYS), add_rules, confinement);
}
