// SPDX-License-Identifier: Apache-2.0
// bbpaths. In: argv. Out: the work of a command, or the main one: the causal path patterns in a
// message trace.
#include "cli/paths.h"

#include <locale.h>
#include <string.h>

const BbCommand *const bb_paths_commands[] = {
    &bb_command_blame,
    &bb_command_compare,
    &bb_command_report,
    &bb_command_score,
    &bb_command_show,
    &bb_command_tail,
    NULL,
};

int main(int argc, char **argv)
{
    if (!bb_hold_standard_files())
        return BB_EXIT_FAILED;
    bb_fail_at_limits();
    setlocale(LC_CTYPE, "");
    for (gsize i = 0; argc > 1 && bb_paths_commands[i]; i++)
        if (strcmp(argv[1], bb_paths_commands[i]->name) == 0)
            return bb_paths_commands[i]->run(argc - 1, argv + 1);
    return bb_paths_run(argc, argv);
}
