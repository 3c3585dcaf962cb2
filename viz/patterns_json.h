// SPDX-License-Identifier: Apache-2.0
// Patterns as one JSON object (bbpaths(1), --format json).
#pragma once

#include "viz/view.h"

bool bb_patterns_json_write(const BbView *view, FILE *out, GError **error);
