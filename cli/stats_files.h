// SPDX-License-Identifier: Apache-2.0
// What --stats writes: one line of JSON (RFC 8259) a report, appended to FILE, and beside it an
// OpenMetrics 1.0 text file (https://github.com/prometheus/OpenMetrics,
// specification/OpenMetrics.md) with all counters as of the last report, replaced as a whole by
// rename(2). Its name is FILE with .prom in place of .json or .jsonl, or behind it.
//
// FILE and the folder are opened once. While the second file is written it is called NAME.tmp.
// Labels have to be UTF-8, and different for different names: bytes that are not are written as
// %XX, and % as %25.
#pragma once

#include "cli/status_report.h"

#define BB_STATS_EDGES 20u // edges in a line of JSON, those with most calls; the rest is "other"

typedef struct BbStatsFiles BbStatsFiles;

// names are lent.
BbStatsFiles *bb_stats_files_open(const char *path, const BbNames *names, GError **error);
void bb_stats_files_free(BbStatsFiles *files);

// The name of the OpenMetrics file. The result is yours.
char *bb_stats_files_metrics_path(const char *path);

// Writes both. Returns false with an error where one was not written; what is there stays whole.
// FILE may be a named pipe: nobody is waited for, and lines that nobody reads are lost
// (BB_STATS_ERROR_UNREAD); who begins to read gets whole lines from then on.
#define BB_STATS_ERROR bb_stats_error_quark()
GQuark bb_stats_error_quark(void);
enum { BB_STATS_ERROR_UNREAD };
bool bb_stats_files_write(BbStatsFiles *files, const BbStatusReport *report, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbStatsFiles, bb_stats_files_free)
