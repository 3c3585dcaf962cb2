// SPDX-License-Identifier: Apache-2.0
// Words of command lines that may be copied: quoted where a shell would want that. The caller
// frees.
#pragma once

#include <glib.h>

char *bb_shell_word(const char *word);

// A path where a program takes options, too.
char *bb_shell_file(const char *path);
