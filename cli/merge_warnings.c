// SPDX-License-Identifier: Apache-2.0
// In: what a merge found. Out: warnings of what may be wrong in the trace, with --quiet too, and
// their counters.
#include "cli/merge_report.h"

#include "cli/command.h"
#include "merge/repeats.h"

#define WARNINGS_SHOWN 5u // of each kind

static void warn_of_repeat(const BbMergeFindings *found, const BbRepeat *repeat)
{
    char **paths = found->options->paths;
    g_autofree char *twice = bb_number(repeat->twice);
    bb_say("warning: about %s messages of %s stand twice: %s and %s have them %.6f s apart, by the "
           "clock of one observer and by another (that a merge has corrected, or that of another "
           "host): give each observer's messages once",
           twice, bb_names_text(found->names, repeat->observer), paths[repeat->input],
           paths[repeat->other], (double)repeat->apart_ns / 1e9);
}

static void warn_of_repeats(const BbMergeFindings *found)
{
    g_autoptr(GArray) repeats = bb_repeats_list(bb_join_repeats(found->join), found->names);
    for (guint i = 0; i < MIN(repeats->len, WARNINGS_SHOWN); i++)
        warn_of_repeat(found, &g_array_index(repeats, BbRepeat, i));
    if (repeats->len > WARNINGS_SHOWN)
        bb_say("and messages of %u more observers stand twice", repeats->len - WARNINGS_SHOWN);
}

void bb_merge_warn(const BbMergeFindings *found)
{
    warn_of_repeats(found);
}

void bb_merge_count_warnings(const BbMergeFindings *found, BbCounters *counters)
{
    g_autoptr(GArray) repeats = bb_repeats_list(bb_join_repeats(found->join), found->names);
    guint64 twice = 0;
    for (guint i = 0; i < repeats->len; i++)
        twice += g_array_index(repeats, BbRepeat, i).twice;
    if (twice)
        bb_counters_add(counters, BB_REPEATS_TWICE, twice);
}
