// SPDX-License-Identifier: Apache-2.0
// The main work of bbpaths, which has no name of its own, and the table of its commands.
#pragma once

#include "cli/command.h"

extern const BbCommand *const bb_paths_commands[]; // ended by NULL

// From a trace to its patterns. As BbCommand.run.
int bb_paths_run(int argc, char **argv);
