// SPDX-License-Identifier: Apache-2.0
// What the two programs share: subcommands as a table, options, words on stderr, exit statuses.
#pragma once

#include "data/trace.h"

// Exit statuses. Scripts rely on them: they stay as they are.
enum { BB_EXIT_DONE = 0, BB_EXIT_FAILED = 1, BB_EXIT_USAGE = 2 };

typedef struct BbCommand {
    const char *name, *arguments, *summary;
    int (*run)(int argc, char **argv); // argv[0] is the name; returns an exit status
} BbCommand;

extern const BbCommand bb_command_capture;
extern const BbCommand bb_command_cat;
extern const BbCommand bb_command_doctor;
extern const BbCommand bb_command_mirror;
extern const BbCommand bb_command_protocols;
extern const BbCommand bb_command_info;
extern const BbCommand bb_command_import;
extern const BbCommand bb_command_export;
extern const BbCommand bb_command_filter;
extern const BbCommand bb_command_anonymize;
extern const BbCommand bb_command_merge;
extern const BbCommand bb_command_clocks;
extern const BbCommand bb_command_generate;
extern const BbCommand bb_command_skew;
extern const BbCommand bb_command_snap;
extern const BbCommand bb_command_drop;
extern const BbCommand bb_command_blame;
extern const BbCommand bb_command_compare;
extern const BbCommand bb_command_report;
extern const BbCommand bb_command_score;
extern const BbCommand bb_command_show;
extern const BbCommand bb_command_tail;

// First thing in main: a standard descriptor that is closed would be that of the next file or
// socket to be opened, which then got words and traces. /dev/null takes its place, open the wrong
// way round, so that reading or writing there fails as before. Returns false where there is none.
bool bb_hold_standard_files(void);

// Second: a limit on the size of files is a failure to write, and no end by SIGXFSZ.
void bb_fail_at_limits(void);

// Parses options off argv. Returns false when the command is over, with *status: help was printed
// (done), or something was wrong (usage), which was said on stderr. description goes below the
// options in --help.
bool bb_options_parse(const char *program, const char *arguments, const char *summary,
                      const char *description, const GOptionEntry *entries, int *argc, char ***argv,
                      int *status);

// One line on stderr, with the name of the running program before it. The first tells of failure.
void bb_say_error(const char *format, ...) G_GNUC_PRINTF(1, 2);
void bb_say(const char *format, ...) G_GNUC_PRINTF(1, 2);
// What is said by bb_say from here on stands behind this, as "before.bbt: "; NULL: nothing. Lent.
void bb_say_of(const char *what);
// An error of wrong usage: says how to get help. Returns BB_EXIT_USAGE.
int bb_say_usage(const char *program, const char *format, ...) G_GNUC_PRINTF(2, 3);
// Likewise, of a command that takes one trace and got none, or several.
int bb_say_one_trace(const char *program, bool none);

// Whether an output of that name (NULL: none was given) is standard output.
bool bb_is_stdout(const char *path);
// Whether both paths are one regular file, so that writing to the one would destroy the other.
bool bb_is_same_file(const char *a, const char *b);
// Whether two outputs are one, or will be when they are written; both may be "-". /dev/null may
// take several.
bool bb_is_same_output(const char *a, const char *b);

// Refuses to begin: no path (they end with NULL) of what noun says, or standard input more than
// once. Returns an exit status, or -1 to go on.
int bb_check_paths(const char *program, const char *noun, char **paths);

// Brings standard output to its end. Returns status, or failed where not all could be written,
// which was said.
int bb_end_stdout(int status);

// Says what was missing or left out of a trace that has been read, if anything was.
void bb_say_trace_damage(const BbTraceReader *reader);

// "64M" and the like: bytes, with K, M, G as powers of 1024. Returns false if it is no size.
bool bb_parse_size(const char *text, guint64 *size);

// How many to show: a number of 1 or more, however large, or "all" as 0. Returns false if it is
// neither.
bool bb_parse_top(const char *text, guint *top);

// "30ms", "1us", "0.5s", "250ns", "2min", "1h" or "0" as nanoseconds. Returns false if it is no
// duration.
bool bb_parse_duration(const char *text, gint64 *ns);
// What to add to the words on a text, perhaps with a sign, that is none: the limit, where it is
// only too long, else "".
const char *bb_duration_excess(const char *text);

// A moment: seconds since 1970 with up to nine decimals, or a date with time of day (ISO 8601), UTC
// where it names no zone. Returns false if it is none.
bool bb_parse_time(const char *text, gint64 *time_ns);

// Warns of a time (NULL: none was given) that is a plain number of seconds, more than a year before
// a trace begins: a year is easily taken for a date. Returns whether there was reason to.
bool bb_say_early(const char *option, const char *text, gint64 first_ns);

// SIGINT, SIGTERM, and SIGHUP where it is not ignored, ask for an end instead of making one. A
// second SIGINT or SIGTERM kills.
void bb_stop_install(void);
bool bb_stop_requested(void);
// Sets an error where it was: what is written is not complete. Returns whether it was not.
bool bb_stop_check(GError **error);

// Where standard input is a pipe, the first SIGINT is passed over: Ctrl-C ends who writes into it,
// too, and what that has told until then is to be shown. A second one kills.
void bb_stop_leave_to_writer(void);

// From install on, SIGUSR2 asks for a snapshot. Requested says whether it came since the last time.
void bb_snap_install(void);
bool bb_snap_requested(void);
// Likewise SIGUSR1 for words on how the work goes.
void bb_report_install(void);
bool bb_report_requested(void);

// Whether stderr is a terminal on which a line can be drawn anew: one whose TERM is not dumb.
bool bb_can_redraw(void);

// A line that says how far long work is, redrawn on a terminal at most five times a second; nothing
// where that cannot be.
typedef struct BbProgress {
    gint64 next_us;
    bool on, drawn;
} BbProgress;
BbProgress bb_progress_start(bool quiet);
bool bb_progress_due(BbProgress *progress);
void bb_progress_show(BbProgress *progress, const char *format, ...) G_GNUC_PRINTF(2, 3);
void bb_progress_end(BbProgress *progress); // clears the line
// Tells of a picture that is laid out, and warns where that takes long. progress is a BbProgress.
void bb_say_layout(guint nodes, double seconds, gpointer progress);

// 1234567 as "1,234,567". The result is yours.
char *bb_number(guint64 value);
// With its noun: "1 snapshot", "2,345 snapshots". Likewise.
char *bb_counted(guint64 count, const char *noun);
