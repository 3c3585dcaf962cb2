// SPDX-License-Identifier: Apache-2.0
// In which order the files of one capture are read: shells and people sort them by name, where
// cap10 comes before cap2.
#pragma once

#include <glib.h>

// The same files in the order of their first packets, NULL-terminated; the names are lent, free the
// array. A file that cannot be looked at before it is read (a pipe), is no capture or has no packet
// keeps its place behind the one it was given after. A file that is given again is left out.
// Appends a warning for each of these, and one where the order is another than that given.
const char **bb_file_order(const char *const *files, GQueue *warnings);
