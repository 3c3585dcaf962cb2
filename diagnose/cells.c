// SPDX-License-Identifier: Apache-2.0
// In: figures. Out: their text, aligned.
#include "diagnose/cells.h"

#include <math.h>

#include "data/caption.h"
#include "data/quantity.h"

void bb_cell_left(GString *out, const char *text, guint columns)
{
    guint width = bb_caption_width(text);
    g_string_append_printf(out, "%s%*s", text, width < columns ? (int)(columns - width) : 0, "");
}

// In a cell of 10 columns; "-" where there is none.
void bb_cell_percent(GString *out, double share)
{
    if (isnan(share))
        g_string_append_printf(out, "%10s", "-");
    else
        g_string_append_printf(out, "%8.2f %%", 100 * share);
}

void bb_cell_count(GString *out, guint64 count)
{
    g_autoptr(GString) text = g_string_new(NULL);
    bb_quantity_append_count(text, count);
    g_string_append_printf(out, "%13s", text->str);
}

void bb_cell_duration(GString *out, gint64 ns)
{
    g_autoptr(GString) text = g_string_new(NULL);
    bb_quantity_append_duration(text, ns);
    g_string_append_printf(out, "%11s", text->str);
}

void bb_cell_head(GString *out, const char *name, const char *columns)
{
    g_string_append_c(out, '\n');
    bb_cell_left(out, name, BB_CELL_LABEL);
    g_string_append_printf(out, "%s\n", columns);
}

void bb_cell_right(GString *out, const char *label, BbRight right)
{
    g_string_append(out, "  ");
    bb_cell_left(out, label, BB_CELL_LABEL - 2);
    bb_cell_percent(out, bb_right_share(right));
    bb_cell_count(out, right.right);
    bb_cell_count(out, right.all);
    g_string_append_c(out, '\n');
}

void bb_cell_share(GString *out, const char *label, double share)
{
    g_string_append(out, "  ");
    bb_cell_left(out, label, BB_CELL_LABEL - 2);
    bb_cell_percent(out, share);
    g_string_append_c(out, '\n');
}

void bb_cell_calibration(GString *out, const char *label, const BbCalibration *calibration)
{
    bb_cell_head(out, label, "  stated     right         of");
    for (guint i = 0; i < BB_CALIBRATION_BINS; i++) {
        const BbCalibrationBin *bin = &calibration->bins[i];
        if (bin->count == 0)
            continue;
        g_autofree char *range =
            g_strdup_printf("%.2f to %.2f", bb_calibration_bound(i), bb_calibration_bound(i + 1));
        g_string_append(out, "  ");
        bb_cell_left(out, range, BB_CELL_LABEL - 2);
        bb_cell_percent(out, bin->sum / (double)bin->count);
        bb_cell_percent(out, (double)bin->right / (double)bin->count);
        bb_cell_count(out, bin->count);
        g_string_append_c(out, '\n');
    }
    bb_cell_share(out, "expected calibration error", bb_calibration_error(calibration));
    if (calibration->not_stated == 0)
        return;
    g_string_append(out, "  ");
    bb_cell_left(out, "not stated", BB_CELL_LABEL + 18);
    bb_cell_count(out, calibration->not_stated);
    g_string_append_c(out, '\n');
}
