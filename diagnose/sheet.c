// SPDX-License-Identifier: Apache-2.0
// In: cells, row by row. Out: aligned lines.
#include "diagnose/sheet.h"

#include "data/caption.h"

#define GAP 2 // blanks between columns

struct BbSheet {
    guint columns;
    GPtrArray *cells; // of GString*, the heads first
};

static void free_cell(gpointer cell)
{
    g_string_free(cell, TRUE);
}

BbSheet *bb_sheet_new(const char *const *heads)
{
    BbSheet *sheet = g_new0(BbSheet, 1);
    sheet->cells = g_ptr_array_new_with_free_func(free_cell);
    for (; heads[sheet->columns]; sheet->columns++)
        g_ptr_array_add(sheet->cells, g_string_new(heads[sheet->columns]));
    return sheet;
}

void bb_sheet_free(BbSheet *sheet)
{
    if (!sheet)
        return;
    g_ptr_array_unref(sheet->cells);
    g_free(sheet);
}

GString *bb_sheet_cell(BbSheet *sheet)
{
    GString *cell = g_string_new(NULL);
    g_ptr_array_add(sheet->cells, cell);
    return cell;
}

// Of which all cells were begun.
static guint count_rows(const BbSheet *sheet)
{
    return sheet->cells->len / sheet->columns - 1;
}

static const char *cell_at(const BbSheet *sheet, guint row, guint column)
{
    const GString *cell = g_ptr_array_index(sheet->cells, row * sheet->columns + column);
    return cell->str;
}

static guint column_width(const BbSheet *sheet, guint column)
{
    guint widest = 0;
    for (guint row = 0; row <= count_rows(sheet); row++) {
        guint width = bb_caption_width(cell_at(sheet, row, column));
        widest = MAX(widest, width);
    }
    return widest;
}

void bb_sheet_write(const BbSheet *sheet, FILE *out)
{
    guint last = sheet->columns - 1;
    g_autofree guint *width = g_new(guint, sheet->columns);
    for (guint column = 0; column < last; column++)
        width[column] = column_width(sheet, column);
    for (guint row = 0; row <= count_rows(sheet); row++) {
        for (guint column = 0; column < last; column++) {
            const char *text = cell_at(sheet, row, column);
            fprintf(out, "%*s%s", (int)(width[column] - bb_caption_width(text) + GAP), "", text);
        }
        fprintf(out, "%*s%s\n", GAP, "", cell_at(sheet, row, last));
    }
}
