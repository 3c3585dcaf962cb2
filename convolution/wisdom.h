// SPDX-License-Identifier: Apache-2.0
// FFTW's wisdom in a file: what planning has measured, kept for the next run. Only a cache: it
// changes how long transforms take, not which are right. Main thread only, as all of FFTW's
// planning.
#pragma once

#include <glib.h>
#include <stdbool.h>

// A file that is larger is not read, and none larger is written (a thousand sizes are 300 KB).
#define BB_WISDOM_LIMIT (1 << 20)

// bbtrace/fftw-wisdom in the user's cache. The caller frees it.
char *bb_wisdom_path(void);

// Adds what the file knows to what the process knows. False where there is no such file, it is not
// a regular one, it is too long, or FFTW does not take it (another version's, damaged): nothing is
// added then.
bool bb_wisdom_load(const char *path);

// Writes what the process knows, whole or not at all; makes the folder. False where that failed.
bool bb_wisdom_save(const char *path);
