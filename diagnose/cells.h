// SPDX-License-Identifier: Apache-2.0
// Cells and rows of the tables in which scores are told, for a terminal.
#pragma once

#include "diagnose/score.h"

#define BB_CELL_LABEL 34u // columns of a row's label

// Flush left in so many columns, at least.
void bb_cell_left(GString *out, const char *text, guint columns);

// Flush right. 10 columns, "-" for NAN; 13 columns; 11 columns.
void bb_cell_percent(GString *out, double share);
void bb_cell_count(GString *out, guint64 count);
void bb_cell_duration(GString *out, gint64 ns);

// Rows. An empty line and the heads of a table; label, share, both numbers; label and share; and a
// whole table of said and true confidences.
void bb_cell_head(GString *out, const char *name, const char *columns);
void bb_cell_right(GString *out, const char *label, BbRight right);
void bb_cell_share(GString *out, const char *label, double share);
void bb_cell_calibration(GString *out, const char *label, const BbCalibration *calibration);
