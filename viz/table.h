// SPDX-License-Identifier: Apache-2.0
// Patterns as text for a terminal, 120 columns wide unless trees are very deep.
#pragma once

#include "viz/view.h"

bool bb_table_write(const BbView *view, FILE *out, GError **error);
