// SPDX-License-Identifier: Apache-2.0
// bbtrace cat. In: traces. Out: one trace in the text form, on standard output.
#include "cli/import.h"

static int run_cat(int argc, char **argv)
{
    gboolean skip = FALSE;
    const GOptionEntry entries[] = {
        {"skip-bad-lines", 0, 0, G_OPTION_ARG_NONE, &skip,
         "Count malformed lines of a text trace instead of stopping at them", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    int status = BB_EXIT_DONE;
    if (!bb_options_parse("bbtrace cat", "TRACE...",
                          "Writes traces as one text trace, in order of time, on standard output.",
                          NULL, entries, &argc, &argv, &status))
        return status;
    status = bb_check_paths("bbtrace cat", "trace", argv + 1);
    if (status >= 0)
        return status;
    const BbImportJob job = {.importer = bb_importer_find("text"),
                             .paths = argv + 1,
                             .out = "-",
                             .form = BB_TRACE_TEXT,
                             .skip_bad = skip,
                             .may_be_empty = true,
                             .quiet = true};
    return bb_import_run(&job);
}

const BbCommand bb_command_cat = {
    .name = "cat",
    .arguments = "TRACE...",
    .summary = "a trace as text",
    .run = run_cat,
};
