// SPDX-License-Identifier: Apache-2.0
// In: nothing. Out: a process that can read files and answer over open sockets (seccomp(2)).
#include "cli/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <sys/mman.h>

static const int allowed[] = {
    // memory
    SCMP_SYS(brk),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(futex),
    SCMP_SYS(getrandom),
    // files and folders
    SCMP_SYS(read),
    SCMP_SYS(close),
    SCMP_SYS(fstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(lseek),
    SCMP_SYS(readlinkat),
    SCMP_SYS(getdents64),
    // sockets that are open
    SCMP_SYS(recvfrom),
    // waiting, time, signals, the end
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
};

// Calls of which only some arguments are allowed: these bits of it have this value.
static const struct {
    int call;
    unsigned argument;
    scmp_datum_t bits, value;
} limited[] = {
    {SCMP_SYS(openat), 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY},
    {SCMP_SYS(mmap), 2, PROT_EXEC, 0},
    {SCMP_SYS(mprotect), 2, PROT_EXEC, 0},
    {SCMP_SYS(fcntl), 1, G_MAXUINT32, F_GETFL}, // these two of fdopendir(3)
    {SCMP_SYS(fcntl), 1, G_MAXUINT32, F_SETFD},
    {SCMP_SYS(sendto), 4, G_MAXUINT64, 0}, // no address
};

bool bb_confine_calls_to_reading(void)
{
    if (!BB_CAN_FILTER_CALLS)
        return false;
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
    if (!filter)
        return false;
    int status = 0;
    for (gsize i = 0; status == 0 && i < G_N_ELEMENTS(allowed); i++)
        status = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
    for (gsize i = 0; status == 0 && i < G_N_ELEMENTS(limited); i++)
        status = seccomp_rule_add(
            filter, SCMP_ACT_ALLOW, limited[i].call, 1,
            SCMP_CMP(limited[i].argument, SCMP_CMP_MASKED_EQ, limited[i].bits, limited[i].value));
    bool done = status == 0 && seccomp_load(filter) == 0;
    seccomp_release(filter);
    return done;
}
