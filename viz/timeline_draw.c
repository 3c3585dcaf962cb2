// SPDX-License-Identifier: Apache-2.0
// In: the rows of a timeline, the width of a terminal. Out: lines of text.
//
// Every row is a list of cells; a column is as wide as its widest cell, and gone when all of its
// cells are empty. The bars take what is left.
#include "viz/timeline_row.h"

#include <string.h>

#include "data/caption.h"
#include "data/quantity.h"

#define TREE_SHARE 3    // the tree takes at most one in so many columns of the terminal,
#define TREE_LEAST 24   // or so many
#define NAME_LEAST 12   // of a name in a deep tree, even if the row gets longer
#define OP_LEAST 6      // of an operation, or it is left out
#define BAR_LEAST 12    // even if the row gets longer
#define STATUS_MOST 12  // columns of a status
#define SURE_FROM 0.99f // confidence that goes without saying

enum { TREE, START, TOOK, P50, P90, SELF, WAITED, BAR, STATUS, SURE, NOTE, COLUMNS };

typedef struct {
    const BbTimeline *timeline;
    const BbNames *names;
    const BbTimelineStyle *style;
    gint64 from_ns, to_ns; // what a whole bar stands for
    GPtrArray *cells;      // of char*: COLUMNS a row, the heads first
    guint width[COLUMNS];
    GString *cell;                     // scratch
    bool more[BB_PATHS_DEPTH_MAX + 2]; // by level: there are siblings further down
    bool has_dots;
} Drawing;

typedef struct {
    const char *down, *fork, *end, *self, *waits, *open, *line;
} Letters;

static const Letters unicode = {"│  ", "├─ ", "└─ ", "█", "░", "▸", "·"};
static const Letters ascii = {"|  ", "|- ", "`- ", "#", "-", ">", "."};

static const Letters *letters(const Drawing *drawing)
{
    return drawing->style->ascii ? &ascii : &unicode;
}

// ---- text --------------------------------------------------------------------------------------

static void encode_rest(GString *text, gsize from)
{
    for (gsize at = text->len; at-- > from;) {
        guchar byte = (guchar)text->str[at];
        if (byte < 0x80)
            continue;
        char encoded[4];
        g_snprintf(encoded, sizeof encoded, "%%%02X", byte);
        g_string_erase(text, (gssize)at, 1);
        g_string_insert(text, (gssize)at, encoded);
    }
}

static void append_text(GString *out, const char *text, const BbTimelineStyle *style)
{
    gsize from = out->len;
    bb_caption_append(out, text, "?");
    if (style->ascii)
        encode_rest(out, from);
}

void bb_timeline_append_name(GString *out, const BbNames *names, guint32 name,
                             const BbTimelineStyle *style)
{
    append_text(out, bb_names_text(names, name), style);
}

// Moves what is in the scratch cell into the table.
static void end_cell(Drawing *drawing, guint column)
{
    drawing->width[column] = MAX(drawing->width[column], bb_caption_width(drawing->cell->str));
    g_ptr_array_add(drawing->cells, g_strdup(drawing->cell->str));
    g_string_truncate(drawing->cell, 0);
}

// ---- cells -------------------------------------------------------------------------------------

// Node and operation in so many columns; the node whole where it can be.
static void append_call(GString *out, const Drawing *drawing, const BbTimelineRow *row, guint most)
{
    g_autoptr(GString) node = g_string_new(NULL), op = g_string_new(" ");
    append_text(node, bb_names_text(drawing->names, row->node), drawing->style);
    bb_caption_elide(node, most);
    g_string_append(out, node->str);
    if (row->op == BB_NAME_NONE)
        return;
    append_text(op, bb_names_text(drawing->names, row->op), drawing->style);
    guint left = most - MIN(bb_caption_width(node->str), most);
    if (left < OP_LEAST)
        return;
    bb_caption_elide(op, left);
    g_string_append(out, op->str);
}

static void put_tree(Drawing *drawing, const BbTimelineRow *row)
{
    guint most = MAX(drawing->style->columns / TREE_SHARE, TREE_LEAST);
    if (!drawing->timeline->of_pattern)
        g_string_append(drawing->cell, row->on_path ? "* " : "  ");
    drawing->more[row->level] = !row->last;
    for (guint level = 2; level < row->level; level++)
        g_string_append(drawing->cell, drawing->more[level] ? letters(drawing)->down : "   ");
    if (row->level > 1)
        g_string_append(drawing->cell, row->last ? letters(drawing)->end : letters(drawing)->fork);
    guint indent = bb_caption_width(drawing->cell->str);
    append_call(drawing->cell, drawing, row, MAX(most - MIN(indent, most), NAME_LEAST));
    end_cell(drawing, TREE);
}

static void put_duration(Drawing *drawing, guint column, gint64 ns, bool known)
{
    if (known)
        bb_quantity_append_duration(drawing->cell, ns);
    end_cell(drawing, column);
}

static void put_figures(Drawing *drawing, const BbTimelineRow *row)
{
    bool of_pattern = drawing->timeline->of_pattern && row->returned;
    put_duration(drawing, START, row->start_ns, true);
    put_duration(drawing, TOOK, row->mean_ns, row->returned);
    put_duration(drawing, P50, row->p50_ns, of_pattern);
    put_duration(drawing, P90, row->p90_ns, of_pattern);
    put_duration(drawing, SELF, row->self_ns, row->returned && !row->unanswered);
    if (of_pattern)
        bb_quantity_append_share(drawing->cell, row->waited);
    end_cell(drawing, WAITED);
}

static bool is_doubtful(const BbTimelineRow *row)
{
    return row->sure >= 0 && row->sure < SURE_FROM;
}

bool bb_timeline_shows_sure(const BbTimeline *timeline)
{
    for (guint i = 0; i < timeline->rows->len; i++)
        if (is_doubtful(&g_array_index(timeline->rows, BbTimelineRow, i)))
            return true;
    return false;
}

static void put_notes(Drawing *drawing, const BbTimelineRow *row)
{
    GString *cell = drawing->cell;
    if (row->unanswered && !drawing->timeline->of_messages) {
        g_string_append(cell, "no return"); // one that came too late has a status
    } else if (row->status != BB_NAME_NONE) {
        append_text(cell, bb_names_text(drawing->names, row->status), drawing->style);
        bb_caption_elide(cell, STATUS_MOST);
        if (row->errors > 0)
            g_string_append_c(cell, '!');
    }
    end_cell(drawing, STATUS);
    if (is_doubtful(row))
        g_string_append_printf(cell, "0.%02d", (int)(100 * row->sure)); // never rounded up
    end_cell(drawing, SURE);
    g_autoptr(GString) id = g_string_new(NULL);
    if (bb_id_is_known(row->id)) {
        bb_id_append(id, drawing->names, row->id);
        append_text(cell, id->str, drawing->style);
    }
    if (drawing->timeline->of_pattern && row->errors > 0)
        bb_quantity_append_counted(cell, row->errors, "error");
    end_cell(drawing, NOTE);
}

static void put_heads(Drawing *drawing)
{
    static const char *const heads[COLUMNS] = {
        [TREE] = "",         [START] = "start", [TOOK] = "took",     [P50] = "p50",
        [P90] = "p90",       [SELF] = "self",   [WAITED] = "waited", [BAR] = "",
        [STATUS] = "status", [SURE] = "sure",   [NOTE] = "id"};
    bool of_pattern = drawing->timeline->of_pattern;
    for (guint column = 0; column < COLUMNS; column++) {
        const char *head = heads[column];
        if (of_pattern && column == TOOK)
            head = "mean";
        g_ptr_array_add(drawing->cells, g_strdup(of_pattern && column == NOTE ? "" : head));
    }
}

// ---- bars --------------------------------------------------------------------------------------

// Which cell of the bars holds the time; the last one holds the end too.
static guint cell_of(const Drawing *drawing, gint64 ns)
{
    double whole = (double)drawing->to_ns - (double)drawing->from_ns;
    double share = whole > 0 ? ((double)ns - (double)drawing->from_ns) / whole : 0;
    guint cells = drawing->width[BAR];
    return MIN((guint)(CLAMP(share, 0, 1) * cells), cells - 1);
}

static gint64 end_of(const BbTimelineRow *row)
{
    return bb_time_after(row->start_ns, MAX(row->mean_ns, 0));
}

// When its caller had the return.
static gint64 back_of(const BbTimelineRow *row)
{
    return bb_time_after(end_of(row), row->wire_ns);
}

// Cells in which one of the row's calls, or its return, is under way all the time.
static void paint_waits(const Drawing *drawing, guint index, char *paint)
{
    const BbTimelineRow *rows = &g_array_index(drawing->timeline->rows, BbTimelineRow, 0);
    guint n = drawing->timeline->rows->len;
    for (guint i = index + 1; i < n && rows[i].level > rows[index].level; i++) {
        if (rows[i].level != rows[index].level + 1 || !rows[i].returned)
            continue;
        guint from = cell_of(drawing, rows[i].start_ns), to = cell_of(drawing, back_of(&rows[i]));
        for (guint cell = from + 1; cell < to; cell++)
            if (paint[cell] == 's')
                paint[cell] = 'w';
    }
}

// Cells of the row's own time in which it stood in line, whole ones.
static void paint_line(Drawing *drawing, gint64 from_ns, gint64 to_ns, char *paint)
{
    guint to = cell_of(drawing, to_ns);
    for (guint cell = cell_of(drawing, from_ns); cell < to; cell++)
        if (paint[cell] == 's') {
            paint[cell] = 'l';
            drawing->has_dots = true;
        }
}

// For its turn, and for the pools of its calls.
static void paint_lines(Drawing *drawing, guint index, char *paint)
{
    const BbTimelineRow *rows = &g_array_index(drawing->timeline->rows, BbTimelineRow, 0);
    guint n = drawing->timeline->rows->len;
    if (rows[index].turn_ns > 0)
        paint_line(drawing, rows[index].start_ns,
                   bb_time_after(rows[index].start_ns, rows[index].turn_ns), paint);
    for (guint i = index + 1; i < n && rows[i].level > rows[index].level; i++)
        if (rows[i].level == rows[index].level + 1 && rows[i].pool_ns > 0)
            paint_line(drawing, bb_time_after(rows[i].start_ns, -rows[i].pool_ns), rows[i].start_ns,
                       paint);
}

static void put_bar(Drawing *drawing, guint index)
{
    const BbTimelineRow *row = &g_array_index(drawing->timeline->rows, BbTimelineRow, index);
    const Letters *with = letters(drawing);
    guint from = cell_of(drawing, row->start_ns), to = cell_of(drawing, end_of(row));
    g_autofree char *paint = g_strnfill(drawing->width[BAR], ' ');
    memset(paint + from, row->unanswered ? 'o' : 's', to - from + 1);
    if (row->returned) {
        paint_waits(drawing, index, paint);
        paint_lines(drawing, index, paint);
    }
    for (guint cell = 0; cell <= to; cell++) {
        const char *letter = paint[cell] == 's'   ? with->self
                             : paint[cell] == 'w' ? with->waits
                             : paint[cell] == 'o' ? with->open
                             : paint[cell] == 'l' ? with->line
                                                  : " ";
        g_string_append(drawing->cell, letter);
    }
}

static void find_span(Drawing *drawing)
{
    const GArray *rows = drawing->timeline->rows;
    for (guint i = 0; i < rows->len; i++) {
        const BbTimelineRow *row = &g_array_index(rows, BbTimelineRow, i);
        drawing->from_ns = MIN(drawing->from_ns, row->start_ns);
        drawing->to_ns = MAX(drawing->to_ns, end_of(row));
    }
}

// ---- lines -------------------------------------------------------------------------------------

static void choose_widths(Drawing *drawing)
{
    guint used = 0;
    for (guint column = 0; column < COLUMNS; column++) {
        const char *head = g_ptr_array_index(drawing->cells, column);
        if (drawing->width[column] > 0)
            drawing->width[column] = MAX(drawing->width[column], (guint)strlen(head));
        used += drawing->width[column] > 0 ? drawing->width[column] + 2 : 0;
    }
    guint columns = drawing->style->columns;
    drawing->width[BAR] = MAX(columns - MIN(used, columns), BAR_LEAST);
}

static void append_cell(GString *out, const Drawing *drawing, guint column, const char *text)
{
    bool right = column >= START && column <= WAITED;
    guint width = drawing->width[column], own = bb_caption_width(text);
    int blanks = (int)(width - MIN(width, own));
    if (width == 0)
        return;
    g_string_append_printf(out, "%*s%s%*s%s", right ? blanks : 0, "", text, right ? 0 : blanks, "",
                           column < NOTE ? "  " : "");
}

static void append_line(GString *out, Drawing *drawing, guint line)
{
    for (guint column = 0; column < COLUMNS; column++) {
        const char *text = g_ptr_array_index(drawing->cells, line * COLUMNS + column);
        if (column == BAR && line > 0) {
            put_bar(drawing, line - 1);
            append_cell(out, drawing, column, drawing->cell->str);
            g_string_truncate(drawing->cell, 0);
        } else {
            append_cell(out, drawing, column, text);
        }
    }
    while (out->len > 0 && out->str[out->len - 1] == ' ')
        g_string_truncate(out, out->len - 1);
    g_string_append_c(out, '\n');
}

bool bb_timeline_append(GString *out, const BbTimeline *timeline, const BbNames *names,
                        const BbTimelineStyle *style)
{
    g_autoptr(GString) cell = g_string_new(NULL);
    g_autoptr(GPtrArray) cells = g_ptr_array_new_with_free_func(g_free);
    Drawing drawing = {timeline, names, style, 0, 0, cells, {0}, cell, {false}, false};
    find_span(&drawing);
    put_heads(&drawing);
    for (guint i = 0; i < timeline->rows->len; i++) {
        const BbTimelineRow *row = &g_array_index(timeline->rows, BbTimelineRow, i);
        put_tree(&drawing, row);
        put_figures(&drawing, row);
        g_ptr_array_add(cells, g_strdup("")); // the bar, once its width is known
        put_notes(&drawing, row);
    }
    choose_widths(&drawing);
    for (guint line = 0; line <= timeline->rows->len; line++)
        append_line(out, &drawing, line);
    return drawing.has_dots;
}
