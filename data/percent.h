// SPDX-License-Identifier: Apache-2.0
// Percent-encoding (RFC 3986, section 2.1) of the fields of a text trace.
#pragma once

#include <glib.h>
#include <stdbool.h>

// Appends text with those bytes encoded that a field cannot hold: white space and control
// characters (of Unicode too, since readers may split there), bytes that are not UTF-8, and the
// characters of also, at most two of ASCII: `%` at least, unless text was encoded before.
void bb_percent_append(GString *out, const char *text, const char *also);

// Decodes text in place. Returns NULL, or the static reason why it cannot: a % without two
// hexadecimal digits, or an encoded NUL, which no text can hold.
const char *bb_percent_decode(char *text);
