// SPDX-License-Identifier: Apache-2.0
// The process beside bbtrace capture that looks whose the sockets of this host are (--processes).
// It is made before an interface is open, so that it never sees a packet; it keeps the rights to
// look into other processes, where there are any, and nothing else.
#pragma once

#include "capture/processes/processes.h"
#include "cli/capture_arguments.h"

// Makes it. Call it before the first thread is made and anything is open. Returns the socket to it,
// or -1 with an error. It ends when that is closed, or this process ends.
int bb_capture_processes_start(const BbCaptureArguments *arguments, GError **error);

// Takes names from it, under the name of this host. fd is taken over. Waits until all sockets that
// are there are known, at most two seconds.
BbProcesses *bb_capture_processes_open(int fd);

// A sentence for the trace; the caller's.
char *bb_capture_processes_note(void);
