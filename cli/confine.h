// SPDX-License-Identifier: Apache-2.0
// Gives up what reading packets does not need, before the first byte of a stranger is decoded: the
// user's rights (setuid(2)), capabilities(7), system calls (seccomp(2)), files (landlock(7)).
//
// Rights belong to threads: call it before the first thread is made, after whatever takes rights
// has been opened.
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/syscall.h>

// The sanitizers look into their own process, by calls that are forbidden here: with them system
// calls stay as they are.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BB_IS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BB_IS_SANITIZED true
#endif
#endif
#ifndef BB_IS_SANITIZED
#define BB_IS_SANITIZED false
#endif

// 32-bit machines have other names of calls. Where socketcall(2) stands for all calls of sockets
// (on s390x it does), no filter can tell a descriptor or an address, and arguments of clone(2) are
// in another order there: system calls stay as they are.
#if defined(__LP64__) && !defined(SYS_socketcall)
#define BB_CAN_FILTER_CALLS true
#else
#define BB_CAN_FILTER_CALLS false
#endif

#define BB_CONFINE_PATHS 1024u // of reads and of writes: beyond it files are not confined

typedef struct BbConfinement {
    const char *user;         // to become; NULL: stay
    bool keep_file_rights;    // root goes on to read and write the files of others
    const char *const *reads; // files and folders that will be read, NULL-terminated; or NULL
    // Likewise files that will be written, made, replaced or removed, each with whatever is in its
    // folder and below it (the nearest folder that is there); or folders. Of a device, that alone.
    const char *const *writes;
    const int *silent; // descriptors of packet sockets: nothing is ever written to them
    guint n_silent;
    bool listens;  // a Unix socket will be opened for commands
    bool resolves; // names of hosts and services will be looked up, in files alone: asking others
                   // fails instead of killing
} BbConfinement;

// Who has said sudo(8), if this is root and there is such a user; NULL otherwise. Lent.
const char *bb_confine_find_user(void);

// Returns false with an error where there is no such user, or rights cannot be given up. What this
// kernel has not (Landlock, seccomp) is left out; done gets in words what was done.
bool bb_confine(const BbConfinement *confinement, GString *done, GError **error);

// ---- the steps ---------------------------------------------------------------------------------

// Becomes the user, with its groups.
bool bb_confine_user(const char *name, GError **error);
// Drops all but those whose bits are set in kept from the bounding set. Takes CAP_SETPCAP, which
// becoming a user takes away: call it before; without it nothing is dropped.
void bb_confine_bounds(guint64 kept);
// The capabilities that a program keeps, as bits.
guint64 bb_confine_wanted(bool keep_file_rights);
// Gives up for good all capabilities but those whose bits are set in wanted.
bool bb_confine_capabilities(guint64 wanted, GError **error);
// Returns the version of Landlock that is in force, 0 where there is none.
int bb_confine_files(const BbConfinement *confinement);
// Whether the list of system calls is in force. What nobody needs is not there (ENOSYS); what
// somebody would need who had taken over the program (programs, sockets, other processes, sending a
// packet) kills it.
bool bb_confine_calls(const BbConfinement *confinement);
// The far shorter list of who only reads files and talks over sockets that are open: files are
// opened for reading alone, memory is not made executable, nothing is sent to an address. All else
// is not there (ENOSYS).
bool bb_confine_calls_to_reading(void);
