// SPDX-License-Identifier: Apache-2.0
// A field of CSV (RFC 4180) as it is written.
#pragma once

#include <glib.h>

// Appends text, in quotes where it must be, or has white space at an end that might get lost.
void bb_csv_append_text(GString *out, const char *text, gsize length);
