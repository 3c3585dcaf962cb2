// SPDX-License-Identifier: Apache-2.0
// Patterns of text as in a shell. Unlike GLib's, they may be matched against any bytes: names come
// from the network.
#pragma once

#include <stdbool.h>

// Whether pattern is the whole text. * stands for any text, ? for a letter (of UTF-8, or a byte
// that belongs to none). Time: at most the product of their lengths.
bool bb_glob_match(const char *pattern, const char *text);
