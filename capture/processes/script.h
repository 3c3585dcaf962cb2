// SPDX-License-Identifier: Apache-2.0
// What an interpreter runs: by that several services of one language are told apart.
#pragma once

#include <glib.h>
#include <stdbool.h>

// comm: the name of the program; text: its /proc/PID/cmdline, words that end with NUL (proc(5)),
// written by whoever began it: not trusted. Finds the script, module or class that is run, without
// its folder, if the program is an interpreter of those that are known (Python, Node.js, Java,
// Ruby, Perl, PHP, .NET, Deno, Bun); lent from text.
bool bb_script_find(const char *comm, const char *text, gsize length, const char **script,
                    gsize *script_length);
