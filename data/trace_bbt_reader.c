// SPDX-License-Identifier: Apache-2.0
// In: the blocks of a .bbt file (bbt(5)). Out: its messages, its counters, and what is missing.
// Memory: one block, and the names of the file (BB_BBT_NAMES_MAX).
#include "data/trace_bbt_blocks.h"
#include "data/trace_bbt_column.h"

// Names that may be missing in one place: more than a block can hold.
#define NAMES_GAP_MAX (1u << 22)
#define UNKNOWN G_MAXUINT32
#define BATCH 512u

typedef struct {
    BbTraceReader base;
    BbBbtBlocks *blocks;
    GArray *names;      // name of the file -> name of the run, or UNKNOWN
    guint64 names_text; // bytes of these
    guint64 expected;   // number of the next message: those before it were read, or are lost
    guint64 lost;       // known to be missing
    guint64 malformed;  // blocks with good checksums, but not as bbt(5) says
    bool done;          // the end mark was read

    // The block of messages that is being handed out: the columns as they are packed, and a batch
    // of rows as numbers, few enough to stay in the processor's cache.
    BbBbtUnpacker *unpacker;
    BbBbtColumn columns[BB_BBT_COLUMNS];
    GPtrArray *conns;           // texts in the block; NULL as the first
    GArray *next;               // by bb_bbt_stream_of
    gsize rows_left;            // behind the batch
    gsize row, rows;            // of the batch: the next one, and how many
    gsize mask[BB_BBT_COLUMNS]; // row i is values[id][i & mask[id]]: 0 for a constant
    guint64 values[BB_BBT_COLUMNS][BATCH];
    guint8 bad[BATCH]; // rows that cannot be handed out
} BbtReader;

static BbTraceReader *bbt_open(BbInput *input, GError **error)
{
    BbBbtBlocks *blocks = bb_bbt_blocks_open(input, error);
    if (!blocks)
        return NULL;
    BbtReader *reader = g_new0(BbtReader, 1);
    reader->blocks = blocks;
    reader->names = g_array_new(FALSE, FALSE, sizeof(guint32));
    guint32 none = BB_NAME_NONE;
    g_array_append_val(reader->names, none);
    reader->unpacker = bb_bbt_unpacker_new();
    reader->conns = g_ptr_array_new();
    g_ptr_array_add(reader->conns, NULL);
    reader->next = g_array_new(FALSE, TRUE, sizeof(guint64));
    return &reader->base;
}

static void bbt_free(BbTraceReader *base)
{
    BbtReader *reader = (BbtReader *)base;
    bb_bbt_blocks_free(reader->blocks);
    g_array_unref(reader->names);
    bb_bbt_unpacker_free(reader->unpacker);
    g_ptr_array_unref(reader->conns);
    g_array_unref(reader->next);
    g_free(reader);
}

// ---- names and counters -------------------------------------------------------------------------

// Blocks of names that were lost leave names that are not known.
static bool take_name(BbtReader *reader, guint64 name, const char *text, gsize length)
{
    if (length == 0 || name >= BB_BBT_NAMES_MAX || name > reader->names->len + NAMES_GAP_MAX ||
        reader->names_text + length > BB_BBT_NAMES_TEXT_MAX)
        return false;
    const guint32 unknown = UNKNOWN;
    while (reader->names->len <= name)
        g_array_append_val(reader->names, unknown);
    guint32 *known = &g_array_index(reader->names, guint32, name);
    if (*known != UNKNOWN)
        return false;
    *known = bb_names_intern_len(reader->base.names, text, length);
    reader->names_text += length;
    return true;
}

static bool take_names(BbtReader *reader, BbBytes *block)
{
    guint64 name = bb_bytes_u32(block);
    BbBbtColumn list;
    BbBytes texts;
    bb_bbt_unpacker_clear(reader->unpacker);
    if (!bb_bbt_column_take(block, &list) || list.id != BB_BBT_NAME_LIST ||
        !bb_bbt_column_open_bytes(&list, reader->unpacker, &texts))
        return false;
    while (texts.left > 0) {
        gsize length = 0;
        const char *text = bb_bytes_text(&texts, &length);
        if (!text || !take_name(reader, name++, text, length))
            return false;
    }
    return true;
}

static bool take_losses(BbtReader *reader, BbBytes *block)
{
    while (block->left > 0) {
        gsize length = 0;
        guint64 value = bb_bytes_u64(block);
        const char *name = bb_bytes_text(block, &length);
        if (!name || !bb_trace_is_counter_name(name))
            return false;
        bb_counters_add(reader->base.counters, name, value);
    }
    return true;
}

static bool take_done(BbtReader *reader, BbBytes *block)
{
    guint64 total = bb_bytes_u64(block);
    if (block->failed || total < reader->expected)
        return false;
    reader->lost += total - reader->expected;
    reader->done = true;
    return true;
}

// ---- columns ------------------------------------------------------------------------------------

// A bad value of a constant column spoils all rows.
static void mark_bad(BbtReader *reader, BbBbtColumnId id, gsize row)
{
    if (reader->mask[id])
        reader->bad[row] = 1;
    else
        memset(reader->bad, 1, reader->rows);
}

static inline guint64 value_at(const BbtReader *reader, BbBbtColumnId id, gsize row)
{
    return reader->values[id][row & reader->mask[id]];
}

static gsize values_of(const BbtReader *reader, BbBbtColumnId id)
{
    return reader->mask[id] ? reader->rows : 1;
}

static void unpack_column(BbtReader *reader, BbBbtColumnId id)
{
    BbBbtColumn *column = &reader->columns[id];
    guint64 absent = bb_bbt_absent(id);
    reader->mask[id] = 0;
    if (column->id == 0) {
        reader->values[id][0] = absent;
    } else if (column->width == 0 && column->transform == BB_BBT_PLAIN) {
        reader->values[id][0] = column->base;
    } else {
        reader->mask[id] = G_MAXSIZE;
        bb_bbt_column_unpack(column, reader->values[id], reader->rows, absent);
    }
}

// Makes offsets of what is less the next one of their connection and direction. The connections
// were checked; the names are still those of the file.
static void make_offsets(BbtReader *reader)
{
    if (reader->columns[BB_BBT_OFFSET].transform != BB_BBT_STREAM)
        return;
    guint64 *offsets = reader->values[BB_BBT_OFFSET];
    for (gsize i = 0; i < reader->rows; i++) {
        guint64 conn = reader->bad[i] ? 0 : value_at(reader, BB_BBT_CONN, i);
        gsize stream = bb_bbt_stream_of(conn, value_at(reader, BB_BBT_SENDER, i),
                                        value_at(reader, BB_BBT_RECEIVER, i));
        guint64 *next = &g_array_index(reader->next, guint64, stream);
        offsets[i] += *next;
        *next = bb_bbt_stream_next(offsets[i], value_at(reader, BB_BBT_BYTES, i));
    }
}

static guint32 name_of_run(const BbtReader *reader, guint64 name)
{
    return name < reader->names->len ? g_array_index(reader->names, guint32, name) : UNKNOWN;
}

static void map_names(BbtReader *reader, BbBbtColumnId id)
{
    gsize count = values_of(reader, id);
    for (gsize i = 0; i < count; i++) {
        guint32 name = name_of_run(reader, reader->values[id][i]);
        if (name == UNKNOWN)
            mark_bad(reader, id, i);
        reader->values[id][i] = name;
    }
}

// An id without stem has a number; an absent one has none.
static void map_forms(BbtReader *reader, BbBbtColumnId id)
{
    gsize count = values_of(reader, id);
    for (gsize i = 0; i < count; i++) {
        guint64 form = reader->values[id][i];
        if (form < BB_ID_STEM)
            continue;
        guint32 name = name_of_run(reader, form - BB_ID_STEM);
        if (name >= UNKNOWN - BB_ID_STEM)
            mark_bad(reader, id, i);
        reader->values[id][i] = BB_ID_STEM + (guint64)name;
    }
}

// Differences to time become times, but for absent ones.
static void make_times(BbtReader *reader, BbBbtColumnId id)
{
    const guint64 absent = bb_bbt_absent(id), *times = reader->values[BB_BBT_TIME];
    guint64 *values = reader->values[id];
    gsize mask = reader->mask[id], times_mask = reader->mask[BB_BBT_TIME];
    if (!mask && values[0] == absent)
        return;
    guint64 constant = values[0];
    for (gsize i = 0; i < reader->rows; i++) {
        guint64 difference = mask ? values[i] : constant;
        values[i] = difference == absent ? absent : times[i & times_mask] + difference;
        reader->bad[i] |= values[i] >> 63 && values[i] != absent;
    }
    reader->mask[id] = G_MAXSIZE;
}

static void check_below(BbtReader *reader, BbBbtColumnId id, guint64 limit)
{
    gsize count = values_of(reader, id);
    for (gsize i = 0; i < count; i++) {
        if (reader->values[id][i] >= limit)
            mark_bad(reader, id, i);
    }
}

static void check_kinds(BbtReader *reader)
{
    gsize count = values_of(reader, BB_BBT_KIND);
    for (gsize i = 0; i < count; i++) {
        if ((reader->values[BB_BBT_KIND][i] & ~(guint64)BB_BBT_AT_RECEIVER) > BB_FREE)
            mark_bad(reader, BB_BBT_KIND, i);
    }
}

// Unpacks the next rows of the block.
static void next_batch(BbtReader *reader)
{
    reader->row = 0;
    reader->rows = MIN(reader->rows_left, BATCH);
    reader->rows_left -= reader->rows;
    memset(reader->bad, 0, reader->rows);
    for (guint id = BB_BBT_TIME; id < BB_BBT_CONN_LIST; id++)
        unpack_column(reader, id);
    check_below(reader, BB_BBT_CONN, reader->conns->len);
    make_offsets(reader);
    check_below(reader, BB_BBT_TIME, (guint64)G_MAXINT64 + 1);
    make_times(reader, BB_BBT_RECV);
    make_times(reader, BB_BBT_END);
    check_kinds(reader);
    map_forms(reader, BB_BBT_ID_FORM);
    map_forms(reader, BB_BBT_PATH_FORM);
    map_forms(reader, BB_BBT_PARENT_FORM);
    for (guint id = BB_BBT_SENDER; id <= BB_BBT_OBSERVER; id++)
        map_names(reader, id);
}

// The list of connections: no more than messages.
static bool take_conns(BbtReader *reader, BbBbtColumn *list, gsize rows)
{
    BbBytes texts = {0};
    g_ptr_array_set_size(reader->conns, 1); // [0] is NULL
    if (list->id != 0 && !bb_bbt_column_open_bytes(list, reader->unpacker, &texts))
        return false;
    while (texts.left > 0) {
        gsize length = 0;
        const char *text = bb_bytes_text(&texts, &length);
        if (!text || reader->conns->len > rows)
            return false;
        g_ptr_array_add(reader->conns, (gpointer)text);
    }
    g_array_set_size(reader->next, 0);
    g_array_set_size(reader->next, 2 * reader->conns->len);
    return true;
}

// Takes the columns that we know; others are for later versions.
static bool take_columns(BbtReader *reader, BbBytes *block, gsize rows)
{
    BbBbtColumn *columns = reader->columns;
    memset(columns, 0, sizeof reader->columns);
    bb_bbt_unpacker_clear(reader->unpacker);
    while (block->left > 0) {
        BbBbtColumn column;
        if (!bb_bbt_column_take(block, &column))
            return false;
        if (column.id == 0 || column.id > BB_BBT_CONN_LIST)
            continue;
        if (columns[column.id].id != 0 ||
            (column.id != BB_BBT_CONN_LIST &&
             !bb_bbt_column_open(&column, reader->unpacker, rows)) ||
            (column.transform == BB_BBT_STREAM && column.id != BB_BBT_OFFSET))
            return false;
        columns[column.id] = column;
    }
    return columns[BB_BBT_TIME].id != 0 && take_conns(reader, &columns[BB_BBT_CONN_LIST], rows);
}

static bool take_messages(BbtReader *reader, BbBytes *block)
{
    guint64 first = bb_bytes_u64(block);
    guint32 rows = bb_bytes_u32(block);
    if (block->failed || first < reader->expected || first > G_MAXINT64 || rows == 0 ||
        rows > BB_BBT_READ_MESSAGES || !take_columns(reader, block, rows))
        return false;
    reader->rows_left = rows;
    reader->lost += first - reader->expected;
    reader->expected = first + rows;
    return true;
}

// ---- messages -----------------------------------------------------------------------------------

// Returns false where no more block comes.
static bool next_block(BbtReader *reader, GError **error)
{
    guint32 type = 0;
    BbBytes block = {0};
    bool good = true;
    if (reader->done || !bb_bbt_blocks_next(reader->blocks, &type, &block, error))
        return false;
    if (type == BB_BBT_MESSAGES)
        good = take_messages(reader, &block);
    else if (type == BB_BBT_NAMES)
        good = take_names(reader, &block);
    else if (type == BB_BBT_LOSSES)
        good = take_losses(reader, &block);
    else if (type == BB_BBT_DONE)
        good = take_done(reader, &block);
    reader->malformed += !good;
    return true;
}

static void note_end(BbtReader *reader)
{
    BbTraceReader *base = &reader->base;
    guint64 damaged = bb_bbt_blocks_damaged(reader->blocks) + reader->malformed;
    guint64 skipped = bb_bbt_blocks_skipped(reader->blocks);
    const char *unpacking = bb_input_damage(base->input);
    bool more = reader->done && bb_bbt_blocks_more(reader->blocks);
    if (reader->done && !more && !unpacking && damaged + skipped + reader->lost == 0)
        return;
    bb_trace_reader_add_damage(base, "%" G_GUINT64_FORMAT " messages recovered", base->messages);
    if (reader->lost > 0)
        bb_trace_reader_add_damage(base, "%" G_GUINT64_FORMAT " known to be lost", reader->lost);
    if (damaged > 0)
        bb_trace_reader_add_damage(base, "%" G_GUINT64_FORMAT " damaged blocks skipped", damaged);
    if (skipped > 0)
        bb_trace_reader_add_damage(base, "%" G_GUINT64_FORMAT " bytes skipped", skipped);
    if (bb_bbt_blocks_met_another(reader->blocks))
        bb_trace_reader_add_damage(base, "another trace follows in the same file and is not read");
    else if (!reader->done)
        bb_trace_reader_add_damage(base, "no end mark: the file is cut, or its writer did not end");
    if (more)
        bb_trace_reader_add_damage(base, "what follows the end mark is not read");
    if (unpacking)
        bb_trace_reader_add_damage(base, "%s", unpacking);
}

static inline BbId id_at(const BbtReader *reader, BbBbtColumnId form, gsize row)
{
    return (BbId){
        .form = (guint32)value_at(reader, form, row),
        .number = value_at(reader, form + 1, row),
    };
}

// Field by field: compilers build a whole struct aside and copy it, which takes twice as long.
static void assemble(const BbtReader *reader, gsize row, BbMessage *message)
{
    guint64 kind = value_at(reader, BB_BBT_KIND, row);
    message->time_ns = (gint64)value_at(reader, BB_BBT_TIME, row);
    message->recv_ns = (gint64)value_at(reader, BB_BBT_RECV, row);
    message->end_ns = (gint64)value_at(reader, BB_BBT_END, row);
    message->bytes = value_at(reader, BB_BBT_BYTES, row);
    message->id = id_at(reader, BB_BBT_ID_FORM, row);
    message->path = id_at(reader, BB_BBT_PATH_FORM, row);
    message->parent = id_at(reader, BB_BBT_PARENT_FORM, row);
    message->offset = value_at(reader, BB_BBT_OFFSET, row);
    message->conn = g_ptr_array_index(reader->conns, value_at(reader, BB_BBT_CONN, row));
    message->extra = NULL;
    message->sender = (guint32)value_at(reader, BB_BBT_SENDER, row);
    message->receiver = (guint32)value_at(reader, BB_BBT_RECEIVER, row);
    message->op = (guint32)value_at(reader, BB_BBT_OP, row);
    message->status = (guint32)value_at(reader, BB_BBT_STATUS, row);
    message->proto = (guint32)value_at(reader, BB_BBT_PROTO, row);
    message->observer = (guint32)value_at(reader, BB_BBT_OBSERVER, row);
    message->kind = (BbKind)(kind & ~(guint64)BB_BBT_AT_RECEIVER);
    message->at_receiver = (kind & BB_BBT_AT_RECEIVER) != 0;
}

static bool bbt_next(BbTraceReader *base, BbMessage *message, GError **error)
{
    BbtReader *reader = (BbtReader *)base;
    for (;;) {
        while (reader->row < reader->rows) {
            gsize row = reader->row++;
            if (!reader->bad[row]) {
                assemble(reader, row, message);
                return true;
            }
            reader->lost++;
        }
        if (reader->rows_left > 0) {
            next_batch(reader);
            continue;
        }
        GError *failure = NULL;
        if (next_block(reader, &failure))
            continue;
        if (failure)
            g_propagate_error(error, failure);
        else
            note_end(reader);
        return false;
    }
}

const BbTraceReaderForm bb_trace_bbt_reader = {
    .form = BB_TRACE_BBT,
    .open = bbt_open,
    .next = bbt_next,
    .free = bbt_free,
};
