// SPDX-License-Identifier: Apache-2.0
// bbtrace: packets and foreign traces in, message traces out. In: argv. Out: a subcommand's work.
#include "cli/command.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

static const BbCommand *const commands[] = {
    &bb_command_capture, &bb_command_cat,      &bb_command_info,   &bb_command_import,
    &bb_command_export,  &bb_command_merge,    &bb_command_filter, &bb_command_anonymize,
    &bb_command_clocks,  &bb_command_generate, &bb_command_skew,   &bb_command_drop,
    &bb_command_snap,    &bb_command_doctor,   &bb_command_mirror, &bb_command_protocols,
};

static void print_help(void)
{
    puts("Usage: bbtrace COMMAND [OPTION...] ...\n\n"
         "Turns packets seen at a mirror port, or capture files, into a trace of messages, from "
         "which\n"
         "bbpaths infers the causal paths of a distributed system.\n\nCommands:");
    for (gsize i = 0; i < G_N_ELEMENTS(commands); i++)
        printf("  %-9s  %s\n", commands[i]->name, commands[i]->summary);
    puts("\nOptions:\n"
         "  --help     Print this, or after a command what there is to say about it\n"
         "  --version  Print the version\n\nbbtrace(1) tells more.");
}

static const BbCommand *find(const char *name)
{
    for (gsize i = 0; i < G_N_ELEMENTS(commands); i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

int main(int argc, char **argv)
{
    if (!bb_hold_standard_files())
        return BB_EXIT_FAILED;
    bb_fail_at_limits();
    setlocale(LC_CTYPE, "");
    const char *name = argc > 1 ? argv[1] : NULL;
    if (!name)
        return bb_say_usage("bbtrace", "which command?");
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_help();
        return bb_end_stdout(BB_EXIT_DONE);
    }
    if (strcmp(name, "--version") == 0) {
        puts("bbtrace " BB_VERSION);
        return bb_end_stdout(BB_EXIT_DONE);
    }
    const BbCommand *command = find(name);
    if (!command)
        return bb_say_usage("bbtrace", "there is no command '%s'", name);
    return command->run(argc - 1, argv + 1);
}
