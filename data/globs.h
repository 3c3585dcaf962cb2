// SPDX-License-Identifier: Apache-2.0
// A list of patterns (data/glob.h), one of which is to match: "C*,web?". They are parted by commas;
// a comma in what is to match is met by a '?'.
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct BbGlobs BbGlobs;

// NULL where one of the patterns is empty.
BbGlobs *bb_globs_new(const char *list);
void bb_globs_free(BbGlobs *globs);

// Whether some pattern is the whole text.
bool bb_globs_match(const BbGlobs *globs, const char *text);

// The patterns, as given; NULL ends them. Lent.
const char *const *bb_globs_patterns(const BbGlobs *globs);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbGlobs, bb_globs_free)
