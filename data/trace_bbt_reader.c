// SPDX-License-Identifier: Apache-2.0
// In: the blocks of a .bbt file (bbt(5)). Out: its messages, its counters, and what is missing.
// Memory: one block, and the names of the file (BB_BBT_NAMES_MAX).
#include "data/trace_bbt_blocks.h"
#include "data/trace_bbt_column.h"

// Names that may be missing in one place: more than a block can hold.
#define NAMES_GAP_MAX (1u << 22)
#define UNKNOWN G_MAXUINT32
#define BATCH 512u

enum {
    BAD_VALUE = 1, // refers to a name that was lost, or has no sense
    BAD_PLACE = 2, // refers to a class or a connection that is not there
};

// What many messages share, with names of the run.
typedef struct {
    guint32 sender, receiver, op, status, proto, observer, file;
    guint32 id_form, path_form, parent_form;
    BbKind kind;
    bool at_receiver;
    bool bad;     // has a name that was lost, or no sense
    bool forward; // direction, for bb_bbt_stream_of
} Class;

typedef struct {
    BbTraceReader base;
    BbBbtBlocks *blocks;
    GArray *names;      // name of the file -> name of the run, or UNKNOWN
    guint64 names_text; // bytes of these
    guint64 expected;   // number of the next message: those before it were read, or are lost
    guint64 lost;       // known to be missing
    guint64 malformed;  // blocks with good checksums, but not as bbt(5) says
    bool done;          // the end mark was read

    // The block of messages that is being handed out: its columns, and a batch of rows as numbers,
    // few enough to stay in the processor's cache.
    BbBbtUnpacker *unpacker;
    BbBbtColumn columns[BB_BBT_COLUMNS];
    GPtrArray *conns;           // texts in the block; NULL as the first
    GArray *classes;            // of Class
    GArray *next;               // guint64 by bb_bbt_stream_of
    gsize rows_left;            // behind the batch
    gsize row, rows;            // of the batch: the next one, and how many
    gsize mask[BB_BBT_COLUMNS]; // row i is values[id][i & mask[id]]: 0 for a constant
    guint64 values[BB_BBT_COLUMNS][BATCH];
    guint8 bad[BATCH]; // BAD_: rows that cannot be handed out
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
    reader->classes = g_array_new(FALSE, TRUE, sizeof(Class));
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
    g_array_unref(reader->classes);
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
        if (!name || !bb_counters_is_name(name))
            return false;
        bb_counters_add(reader->base.counters, name, value);
    }
    return true;
}

static bool take_edge_name(const BbtReader *reader, guint32 name, guint32 *known)
{
    *known = name < reader->names->len ? g_array_index(reader->names, guint32, name) : UNKNOWN;
    return *known != UNKNOWN;
}

// Fields that a later version has behind ours are stepped over.
static bool take_edges(BbtReader *reader, BbBytes *block)
{
    guint32 fields = bb_bytes_u32(block);
    while (block->left > 0) {
        BbNetworkEdge edge = {0};
        guint32 client = bb_bytes_u32(block), server = bb_bytes_u32(block);
        for (guint32 field = 0; field < fields && !block->failed; field++) {
            guint64 value = bb_bytes_u64(block);
            if (field < BB_NETWORK_FIELDS)
                bb_network_set_field(&edge, field, value);
        }
        if (block->failed || !take_edge_name(reader, client, &edge.client) ||
            !take_edge_name(reader, server, &edge.server))
            return false;
        bb_network_add(reader->base.network, &edge);
    }
    return !block->failed;
}

static bool take_notes(BbtReader *reader, BbBytes *block)
{
    while (block->left > 0) {
        gsize length = 0;
        const char *text = bb_bytes_text(block, &length);
        if (!text)
            return false;
        bb_trace_reader_add_note(&reader->base, text);
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

// ---- blocks of messages -------------------------------------------------------------------------

// The list of connections: no more than messages.
static bool take_conns(BbtReader *reader, gsize rows)
{
    BbBbtColumn *list = &reader->columns[BB_BBT_CONN_LIST];
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

static guint32 take_class_name(const BbtReader *reader, guint64 name, Class *class)
{
    guint32 known =
        name < reader->names->len ? g_array_index(reader->names, guint32, name) : UNKNOWN;
    class->bad |= known == UNKNOWN;
    return known;
}

static guint32 take_form(const BbtReader *reader, guint64 form, Class *class)
{
    if (form < BB_ID_STEM)
        return (guint32)form;
    guint32 name = take_class_name(reader, form - BB_ID_STEM, class);
    class->bad |= name > G_MAXUINT32 - BB_ID_STEM;
    return BB_ID_STEM + name;
}

static void take_class(const BbtReader *reader, const guint64 *values, Class *class)
{
    guint64 kind = values[BB_BBT_KIND] & ~(guint64)BB_BBT_AT_RECEIVER;
    class->bad = kind > BB_FREE;
    class->kind = (BbKind)kind;
    class->at_receiver = (values[BB_BBT_KIND] & BB_BBT_AT_RECEIVER) != 0;
    class->forward = values[BB_BBT_SENDER] < values[BB_BBT_RECEIVER];
    class->sender = take_class_name(reader, values[BB_BBT_SENDER], class);
    class->receiver = take_class_name(reader, values[BB_BBT_RECEIVER], class);
    class->op = take_class_name(reader, values[BB_BBT_OP], class);
    class->status = take_class_name(reader, values[BB_BBT_STATUS], class);
    class->proto = take_class_name(reader, values[BB_BBT_PROTO], class);
    class->observer = take_class_name(reader, values[BB_BBT_OBSERVER], class);
    class->file = take_class_name(reader, values[BB_BBT_FILE], class);
    class->id_form = take_form(reader, values[BB_BBT_ID_FORM], class);
    class->path_form = take_form(reader, values[BB_BBT_PATH_FORM], class);
    class->parent_form = take_form(reader, values[BB_BBT_PARENT_FORM], class);
}

static void take_classes(BbtReader *reader, gsize count)
{
    g_array_set_size(reader->classes, (guint)count);
    for (gsize i = 0; i < count; i++) {
        guint64 values[BB_BBT_COLUMNS];
        for (guint id = BB_BBT_KIND; id < BB_BBT_COLUMNS; id++) {
            if (!bb_bbt_is_of_classes(id))
                continue;
            values[id] = bb_bbt_absent(id);
            if (reader->columns[id].id != 0)
                bb_bbt_column_unpack(&reader->columns[id], &values[id], 1, values[id]);
        }
        take_class(reader, values, &g_array_index(reader->classes, Class, i));
    }
}

// Takes the columns that we know; others are for later versions.
static bool take_columns(BbtReader *reader, BbBytes *block, gsize rows, gsize classes)
{
    memset(reader->columns, 0, sizeof reader->columns);
    bb_bbt_unpacker_clear(reader->unpacker);
    while (block->left > 0) {
        BbBbtColumn column;
        if (!bb_bbt_column_take(block, &column))
            return false;
        bool of_messages = bb_bbt_is_of_messages(column.id);
        if (!of_messages && !bb_bbt_is_of_classes(column.id) && column.id != BB_BBT_CONN_LIST)
            continue;
        if (reader->columns[column.id].id != 0 ||
            (column.transform == BB_BBT_STREAM && column.id != BB_BBT_OFFSET) ||
            (column.id != BB_BBT_CONN_LIST &&
             !bb_bbt_column_open(&column, reader->unpacker, of_messages ? rows : classes)))
            return false;
        reader->columns[column.id] = column;
    }
    return reader->columns[BB_BBT_TIME].id != 0;
}

static bool take_messages(BbtReader *reader, BbBytes *block)
{
    guint64 first = bb_bytes_u64(block);
    guint32 rows = bb_bytes_u32(block), classes = bb_bytes_u32(block);
    if (block->failed || first < reader->expected || first > G_MAXINT64 || rows == 0 ||
        rows > BB_BBT_READ_MESSAGES || classes == 0 || classes > rows ||
        !take_columns(reader, block, rows, classes) || !take_conns(reader, rows))
        return false;
    take_classes(reader, classes);
    reader->rows_left = rows;
    reader->lost += first - reader->expected;
    reader->expected = first + rows;
    return true;
}

// ---- rows ---------------------------------------------------------------------------------------

static inline guint64 value_at(const BbtReader *reader, BbBbtColumnId id, gsize row)
{
    return reader->values[id][row & reader->mask[id]];
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

static void check_places(BbtReader *reader)
{
    for (gsize i = 0; i < reader->rows; i++) {
        guint64 class = value_at(reader, BB_BBT_CLASS, i);
        if (class >= reader->classes->len || value_at(reader, BB_BBT_CONN, i) >= reader->conns->len)
            reader->bad[i] = BAD_PLACE;
        else
            reader->bad[i] = g_array_index(reader->classes, Class, class).bad ? BAD_VALUE : 0;
    }
}

// Makes offsets of what is less the next one of their connection and direction.
static void make_offsets(BbtReader *reader)
{
    if (reader->columns[BB_BBT_OFFSET].transform != BB_BBT_STREAM)
        return;
    for (gsize i = 0; i < reader->rows; i++) {
        if (reader->bad[i] & BAD_PLACE)
            continue;
        const Class *class =
            &g_array_index(reader->classes, Class, value_at(reader, BB_BBT_CLASS, i));
        gsize stream = 2 * value_at(reader, BB_BBT_CONN, i) + class->forward;
        guint64 *next = &g_array_index(reader->next, guint64, stream);
        guint64 *offset = &reader->values[BB_BBT_OFFSET][i];
        *offset += *next;
        *next = bb_bbt_stream_next(*offset, value_at(reader, BB_BBT_BYTES, i));
    }
}

static void check_times(BbtReader *reader)
{
    for (gsize i = 0; i < reader->rows; i++)
        reader->bad[i] |= value_at(reader, BB_BBT_TIME, i) >> 63 ? BAD_VALUE : 0;
}

// Differences to time become times, but for absent ones.
static void make_times(BbtReader *reader, BbBbtColumnId id)
{
    const guint64 absent = bb_bbt_absent(id), *times = reader->values[BB_BBT_TIME];
    guint64 *values = reader->values[id], first = values[0];
    gsize mask = reader->mask[id], times_mask = reader->mask[BB_BBT_TIME];
    if (!mask && first == absent)
        return;
    for (gsize i = 0; i < reader->rows; i++) {
        guint64 difference = mask ? values[i] : first;
        values[i] = difference == absent ? absent : times[i & times_mask] + difference;
        reader->bad[i] |= values[i] >> 63 && values[i] != absent ? BAD_VALUE : 0;
    }
    reader->mask[id] = G_MAXSIZE;
}

// Unpacks the next rows of the block.
static void next_batch(BbtReader *reader)
{
    reader->row = 0;
    reader->rows = MIN(reader->rows_left, BATCH);
    reader->rows_left -= reader->rows;
    for (guint id = BB_BBT_TIME; id <= BB_BBT_OFFSET; id++)
        unpack_column(reader, id);
    unpack_column(reader, BB_BBT_FRAME);
    check_places(reader);
    make_offsets(reader);
    check_times(reader);
    make_times(reader, BB_BBT_RECV);
    make_times(reader, BB_BBT_END);
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
    else if (type == BB_BBT_EDGES)
        good = take_edges(reader, &block);
    else if (type == BB_BBT_NOTES)
        good = take_notes(reader, &block);
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
    bb_trace_reader_add_damage(base, "%" G_GUINT64_FORMAT " message%s recovered", base->messages,
                               base->messages == 1 ? "" : "s");
    if (reader->lost > 0) {
        bb_counters_add(base->counters, BB_TRACE_LOST, reader->lost);
        bb_trace_reader_add_damage(base, "%" G_GUINT64_FORMAT " known to be lost", reader->lost);
    }
    if (damaged > 0)
        bb_trace_reader_add_damage(base, "%" G_GUINT64_FORMAT " damaged block%s skipped", damaged,
                                   damaged == 1 ? "" : "s");
    if (skipped > 0)
        bb_trace_reader_add_damage(base, "%" G_GUINT64_FORMAT " byte%s skipped", skipped,
                                   skipped == 1 ? "" : "s");
    if (bb_bbt_blocks_met_another(reader->blocks))
        bb_trace_reader_add_damage(base, "another trace follows in the same file and is not read");
    else if (!reader->done)
        bb_trace_reader_add_damage(base, "%s",
                                   bb_input_is_written(base->input)
                                       ? "no end mark yet: the file is still being written"
                                       : "no end mark: the file is cut, or its writer did not end");
    if (more)
        bb_trace_reader_add_damage(base, "what follows the end mark is not read");
    if (unpacking)
        bb_trace_reader_add_damage(base, "%s", unpacking);
}

// Field by field: compilers build a whole struct aside and copy it, which takes twice as long.
static void assemble(const BbtReader *reader, gsize row, BbMessage *message)
{
    const Class *class =
        &g_array_index(reader->classes, Class, value_at(reader, BB_BBT_CLASS, row));
    message->time_ns = (gint64)value_at(reader, BB_BBT_TIME, row);
    message->recv_ns = (gint64)value_at(reader, BB_BBT_RECV, row);
    message->end_ns = (gint64)value_at(reader, BB_BBT_END, row);
    message->bytes = value_at(reader, BB_BBT_BYTES, row);
    message->id.number = value_at(reader, BB_BBT_ID_NUMBER, row);
    message->id.form = class->id_form;
    message->path.number = value_at(reader, BB_BBT_PATH_NUMBER, row);
    message->path.form = class->path_form;
    message->parent.number = value_at(reader, BB_BBT_PARENT_NUMBER, row);
    message->parent.form = class->parent_form;
    message->offset = value_at(reader, BB_BBT_OFFSET, row);
    message->conn = g_ptr_array_index(reader->conns, value_at(reader, BB_BBT_CONN, row));
    message->extra = NULL;
    message->sender = class->sender;
    message->receiver = class->receiver;
    message->op = class->op;
    message->status = class->status;
    message->proto = class->proto;
    message->observer = class->observer;
    message->file = class->file;
    message->frame = (guint32)value_at(reader, BB_BBT_FRAME, row);
    message->kind = class->kind;
    message->at_receiver = class->at_receiver;
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
