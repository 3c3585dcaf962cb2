// SPDX-License-Identifier: Apache-2.0
// What bbtrace clocks writes: the table as text or JSON, the plot as SVG.
#pragma once

#include "merge/clocks.h"

#include <stdio.h>

// One line an observer: name, offset in seconds, drift in ppm, uncertainty in seconds, `-` for what
// cannot be known. Lines with # tell of steps, bounds, and pairs of observers.
void bb_clocks_write_text(const BbClocks *clocks, const BbNames *names, FILE *out);
void bb_clocks_write_json(const BbClocks *clocks, const BbNames *names, FILE *out);
// One panel for each comparison that a clock hangs on: messages both ways, the line between them.
void bb_clocks_write_svg(const BbClocks *clocks, const BbNames *names, FILE *out);
