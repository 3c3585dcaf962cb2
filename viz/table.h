// SPDX-License-Identifier: Apache-2.0
// Patterns as text for a terminal, at most 118 columns wide.
#pragma once

#include "viz/view.h"

bool bb_table_write(const BbView *view, FILE *out, GError **error);
