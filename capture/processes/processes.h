// SPDX-License-Identifier: Apache-2.0
// Names of the ends of connections by who owns them on this host: HOST/nginx.service,
// HOST/3f4e5d6c7b8a (a container), HOST/curl. What is known comes from another process
// (processes/watch.h), which is not trusted; a thread takes it.
//
// Memory: that of the table (processes/table.h), and 100 bytes for each of up to
// BB_PROCESSES_DECIDED connections under way.
#pragma once

#include "capture/processes/table.h"

typedef struct BbProcesses BbProcesses;

typedef struct BbProcessesCounts {
    guint64 unknown; // ends of this host without a process
    // Clients among those named that were gone too soon, but called a server that one alone calls
    // (bb_process_table_infer).
    guint64 inferred;
    guint64 waits;    // for a look
    gint64 waited_us; // in all
} BbProcessesCounts;

#define BB_PROCESSES_NAME 200u // bytes of a name, NUL included
#define BB_PROCESSES_DECIDED 65536u

// A name that is not known is asked for, and waited for: for so long at once, and for no more than
// this share of the time.
#define BB_PROCESSES_WAIT_US 10000
#define BB_PROCESSES_WAIT_PERCENT 5

// fd: the socket to the process that looks, taken over. host: before each name; at most 64 bytes
// count.
BbProcesses *bb_processes_new(int fd, const char *host);
// The other process ends, too.
void bb_processes_free(BbProcesses *processes);

// Waits until all sockets that are there have been told, but not longer than that. Returns whether
// they were.
bool bb_processes_wait(BbProcesses *processes, gint64 at_most_us);

// The name of who owns the end key->local of a connection, into name. Returns false where the
// address is not of this host, or its process is not known; the latter is counted once a
// connection, which then stays without until bb_processes_end, as it keeps the name that it got.
bool bb_processes_name(BbProcesses *processes, const BbSocketKey *key, bool is_server,
                       char name[BB_PROCESSES_NAME]);
// The same as far as it is known now, of a connection that nothing is decided about.
bool bb_processes_find(BbProcesses *processes, const BbSocketKey *key, bool is_server,
                       char name[BB_PROCESSES_NAME]);
// The connection is over.
void bb_processes_end(BbProcesses *processes, const BbSocketKey *key);

BbProcessesCounts bb_processes_counts(BbProcesses *processes);

// A warning to print, yours to free, or NULL: the other process has ended, or may not see all.
char *bb_processes_take_warning(BbProcesses *processes);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbProcesses, bb_processes_free)
