// SPDX-License-Identifier: Apache-2.0
// In: messages. Out: a .bbt file (bbt(5)), written block by block.
// Memory: one block's columns, the block itself, and one number a name of the run.
#include "data/crc32c.h"
#include "data/trace_bbt.h"
#include "data/trace_bbt_column.h"
#include "data/trace_bbt_keys.h"

// Texts of a block: a block ends before its list of connections gets larger.
#define TEXTS_MAX ((gsize)8 << 20)

// What many messages share, with names of the run.
typedef struct {
    guint32 sender, receiver, op, status, proto, observer, file;
    guint32 id_form, path_form, parent_form;
    guint32 kind; // with BB_BBT_AT_RECEIVER
} Class;

typedef struct {
    BbTraceWriter base;
    guint64 *columns[BB_BBT_COLUMNS]; // of BB_BBT_WRITE_MESSAGES each, those of numbers
    gsize count;                      // messages in the block
    guint64 written;                  // messages in blocks before it
    BbBbtKeys *conns;                 // texts, each with its NUL
    BbBbtKeys *classes;               // of Class
    GArray *names;                    // name of the run -> name of the file, 0 for not yet
    guint32 names_count;              // names of the file
    guint64 names_text;               // bytes of these
    GByteArray *fresh;                // names that no block has yet
    guint32 fresh_first;              // the first of these
    BbBbtPacker *packer;
    GByteArray *block; // being written
    GByteArray *edges; // of the network, that no block has yet
    guint64 *next;     // by bb_bbt_stream_of
} BbtWriter;

static BbTraceWriter *bbt_open(void)
{
    BbtWriter *writer = g_new0(BbtWriter, 1);
    for (guint id = BB_BBT_TIME; id < BB_BBT_COLUMNS; id++)
        if (bb_bbt_is_of_numbers(id))
            writer->columns[id] = g_new(guint64, BB_BBT_WRITE_MESSAGES);
    writer->conns = bb_bbt_keys_new(BB_BBT_WRITE_MESSAGES);
    writer->classes = bb_bbt_keys_new(BB_BBT_WRITE_MESSAGES);
    writer->names = g_array_new(FALSE, TRUE, sizeof(guint32));
    writer->names_count = 1;
    writer->fresh = g_byte_array_new();
    writer->fresh_first = 1;
    writer->packer = bb_bbt_packer_new(BB_BBT_WRITE_MESSAGES);
    writer->block = g_byte_array_new();
    writer->edges = g_byte_array_new();
    writer->next = g_new(guint64, 2 * (BB_BBT_WRITE_MESSAGES + 1));
    return &writer->base;
}

static void bbt_free(BbTraceWriter *base)
{
    BbtWriter *writer = (BbtWriter *)base;
    for (guint id = BB_BBT_TIME; id < BB_BBT_COLUMNS; id++)
        g_free(writer->columns[id]);
    bb_bbt_keys_free(writer->conns);
    bb_bbt_keys_free(writer->classes);
    g_array_unref(writer->names);
    g_byte_array_unref(writer->fresh);
    bb_bbt_packer_free(writer->packer);
    g_byte_array_unref(writer->block);
    g_byte_array_unref(writer->edges);
    g_free(writer->next);
    g_free(writer);
}

static bool bbt_begin(BbTraceWriter *base, GError **error)
{
    g_autoptr(GByteArray) head = g_byte_array_new();
    g_byte_array_append(head, (const guint8 *)BB_TRACE_BBT_MAGIC, BB_TRACE_BBT_MAGIC_SIZE);
    bb_bytes_append(head, BB_BBT_VERSION, 2);
    bb_bytes_append(head, BB_BBT_HEAD_SIZE, 2);
    bb_bytes_append(head, bb_crc32c(0, head->data, head->len), 4);
    bb_trace_writer_put(base, head->data, head->len);
    return bb_trace_writer_part(base, 0, error);
}

// ---- blocks -------------------------------------------------------------------------------------

static bool write_block(BbtWriter *writer, guint32 type, GError **error)
{
    const GByteArray *block = writer->block;
    g_autoptr(GByteArray) head = g_byte_array_sized_new(BB_BBT_BLOCK_HEAD_SIZE);
    bb_bytes_append(head, type, 4);
    bb_bytes_append(head, 0, 4);
    bb_bytes_append(head, block->len, 4);
    bb_bytes_append(head, bb_crc32c(0, block->data, block->len), 4);
    bb_bytes_append(head, bb_crc32c(0, head->data, head->len), 4);
    bb_trace_writer_put(&writer->base, head->data, head->len);
    bb_trace_writer_put(&writer->base, block->data, block->len);
    return bb_trace_writer_part(&writer->base, writer->written, error);
}

static bool write_names(BbtWriter *writer, GError **error)
{
    if (writer->fresh->len == 0)
        return true;
    g_byte_array_set_size(writer->block, 0);
    bb_bytes_append(writer->block, writer->fresh_first, 4);
    bb_bbt_packer_bytes(writer->packer, writer->block, BB_BBT_NAME_LIST, writer->fresh->data,
                        writer->fresh->len);
    g_byte_array_set_size(writer->fresh, 0);
    writer->fresh_first = writer->names_count;
    return write_block(writer, BB_BBT_NAMES, error);
}

// Replaces offsets by how far they are from the next one of their connection and direction.
static void expect_offsets(BbtWriter *writer)
{
    guint64 *const *columns = writer->columns;
    memset(writer->next, 0, 2 * (bb_bbt_keys_count(writer->conns) + 1) * sizeof(guint64));
    for (gsize i = 0; i < writer->count; i++) {
        guint64 class = columns[BB_BBT_CLASS][i], offset = columns[BB_BBT_OFFSET][i];
        guint64 *next = &writer->next[bb_bbt_stream_of(columns[BB_BBT_CONN][i],
                                                       (guint32)columns[BB_BBT_SENDER][class],
                                                       (guint32)columns[BB_BBT_RECEIVER][class])];
        columns[BB_BBT_OFFSET][i] = offset - *next;
        *next = bb_bbt_stream_next(offset, columns[BB_BBT_BYTES][i]);
    }
}

static void append_offsets(BbtWriter *writer)
{
    const guint64 *offsets = writer->columns[BB_BBT_OFFSET];
    guint64 absent = bb_bbt_absent(BB_BBT_OFFSET);
    gsize known = 0;
    while (known < writer->count && offsets[known] != absent)
        known++;
    if (known < writer->count) {
        bb_bbt_packer_numbers(writer->packer, writer->block, BB_BBT_OFFSET, offsets, writer->count,
                              absent);
        return;
    }
    expect_offsets(writer);
    bb_bbt_packer_stream(writer->packer, writer->block, BB_BBT_OFFSET, offsets, writer->count);
}

static void append_columns(BbtWriter *writer)
{
    for (guint8 id = BB_BBT_TIME; id < BB_BBT_COLUMNS; id++) {
        gsize count =
            bb_bbt_is_of_messages(id) ? writer->count : bb_bbt_keys_count(writer->classes);
        if (id == BB_BBT_OFFSET)
            append_offsets(writer);
        else if (bb_bbt_is_of_numbers(id))
            bb_bbt_packer_numbers(writer->packer, writer->block, id, writer->columns[id], count,
                                  bb_bbt_absent(id));
    }
    gsize size = 0;
    const guint8 *list = bb_bbt_keys_bytes(writer->conns, &size);
    if (size > 0)
        bb_bbt_packer_bytes(writer->packer, writer->block, BB_BBT_CONN_LIST, list, size);
}

static bool write_messages(BbtWriter *writer, GError **error)
{
    if (!write_names(writer, error))
        return false;
    if (writer->count == 0)
        return true;
    g_byte_array_set_size(writer->block, 0);
    bb_bytes_append(writer->block, writer->written, 8);
    bb_bytes_append(writer->block, writer->count, 4);
    bb_bytes_append(writer->block, bb_bbt_keys_count(writer->classes), 4);
    append_columns(writer);
    writer->written += writer->count;
    writer->count = 0;
    bb_bbt_keys_clear(writer->conns);
    bb_bbt_keys_clear(writer->classes);
    return write_block(writer, BB_BBT_MESSAGES, error);
}

static bool write_losses(BbtWriter *writer, const BbCounters *counters, GError **error)
{
    guint count = counters ? bb_counters_count(counters) : 0;
    if (count == 0)
        return true;
    g_byte_array_set_size(writer->block, 0);
    for (guint i = 0; i < count; i++) {
        const char *name = bb_counters_name(counters, i);
        bb_bytes_append(writer->block, bb_counters_value(counters, i), 8);
        g_byte_array_append(writer->block, (const guint8 *)name, (guint)strlen(name) + 1);
    }
    return write_block(writer, BB_BBT_LOSSES, error);
}

// ---- messages -----------------------------------------------------------------------------------

static bool refuse_message(const BbtWriter *writer, const char *why, GError **error)
{
    g_set_error(error, BB_TRACE_ERROR, BB_TRACE_ERROR_MESSAGE,
                "%s: message %" G_GUINT64_FORMAT " has %s, which a .bbt cannot hold: write a text "
                "trace instead",
                bb_output_name(writer->base.out), writer->base.messages + 1, why);
    return false;
}

// Gives name its place among the names of the file.
static bool add_name(BbtWriter *writer, guint32 name, GError **error)
{
    const char *text = bb_names_text(writer->base.names, name);
    gsize size = strlen(text);
    if (size > TEXTS_MAX)
        return refuse_message(writer, "a name of more than 8 MiB", error);
    if (writer->names_count >= BB_BBT_NAMES_MAX ||
        writer->names_text + size > BB_BBT_NAMES_TEXT_MAX)
        return refuse_message(writer, "one name too many", error);
    if (writer->fresh->len + size > TEXTS_MAX && !write_names(writer, error))
        return false;
    if (name >= writer->names->len)
        g_array_set_size(writer->names, name + 1);
    g_array_index(writer->names, guint32, name) = writer->names_count++;
    g_byte_array_append(writer->fresh, (const guint8 *)text, (guint)size + 1);
    writer->names_text += size;
    return true;
}

// The name of the file.
static bool number_of(BbtWriter *writer, guint32 name, guint32 *number, GError **error)
{
    *number = 0;
    if (name == BB_NAME_NONE)
        return true;
    if ((name >= writer->names->len || !g_array_index(writer->names, guint32, name)) &&
        !add_name(writer, name, error))
        return false;
    *number = g_array_index(writer->names, guint32, name);
    return true;
}

// Puts the name of the file, plus some, into a column of classes.
static bool put_name(BbtWriter *writer, BbBbtColumnId id, guint32 class, guint32 name, guint64 plus,
                     GError **error)
{
    guint32 number;
    if (!number_of(writer, name, &number, error))
        return false;
    writer->columns[id][class] = number + plus;
    return true;
}

static bool put_form(BbtWriter *writer, BbBbtColumnId id, guint32 class, guint32 form,
                     GError **error)
{
    if (form >= BB_ID_STEM)
        return put_name(writer, id, class, form - BB_ID_STEM, BB_ID_STEM, error);
    writer->columns[id][class] = form;
    return true;
}

static bool put_class(BbtWriter *writer, guint32 at, const Class *class, GError **error)
{
    writer->columns[BB_BBT_KIND][at] = class->kind;
    return put_name(writer, BB_BBT_SENDER, at, class->sender, 0, error) &&
           put_name(writer, BB_BBT_RECEIVER, at, class->receiver, 0, error) &&
           put_name(writer, BB_BBT_OP, at, class->op, 0, error) &&
           put_name(writer, BB_BBT_STATUS, at, class->status, 0, error) &&
           put_name(writer, BB_BBT_PROTO, at, class->proto, 0, error) &&
           put_name(writer, BB_BBT_OBSERVER, at, class->observer, 0, error) &&
           put_name(writer, BB_BBT_FILE, at, class->file, 0, error) &&
           put_form(writer, BB_BBT_ID_FORM, at, class->id_form, error) &&
           put_form(writer, BB_BBT_PATH_FORM, at, class->path_form, error) &&
           put_form(writer, BB_BBT_PARENT_FORM, at, class->parent_form, error);
}

static bool add_class(BbtWriter *writer, const BbMessage *message, GError **error)
{
    const Class class = {
        .sender = message->sender,
        .receiver = message->receiver,
        .op = message->op,
        .status = message->status,
        .proto = message->proto,
        .observer = message->observer,
        .file = message->file,
        .id_form = message->id.form,
        .path_form = message->path.form,
        .parent_form = message->parent.form,
        .kind = message->kind | (message->at_receiver ? BB_BBT_AT_RECEIVER : 0),
    };
    guint32 known = bb_bbt_keys_count(writer->classes);
    guint32 at = bb_bbt_keys_add(writer->classes, &class, sizeof class);
    writer->columns[BB_BBT_CLASS][writer->count] = at;
    return at < known || put_class(writer, at, &class, error);
}

// May end the block, and so must come first.
static bool add_conn(BbtWriter *writer, const char *conn, GError **error)
{
    guint64 place = 0;
    if (conn) {
        gsize size = strlen(conn) + 1, held = 0;
        (void)bb_bbt_keys_bytes(writer->conns, &held);
        if (size > TEXTS_MAX)
            return refuse_message(writer, "a connection of more than 8 MiB", error);
        if (held + size > TEXTS_MAX && !write_messages(writer, error))
            return false;
        place = 1 + (guint64)bb_bbt_keys_add(writer->conns, conn, size);
    }
    writer->columns[BB_BBT_CONN][writer->count] = place;
    return true;
}

static guint64 since(gint64 time_ns, gint64 from_ns)
{
    return time_ns == BB_TIME_NONE ? (guint64)BB_TIME_NONE : (guint64)time_ns - (guint64)from_ns;
}

static void put_numbers(BbtWriter *writer, const BbMessage *message)
{
    gsize row = writer->count;
    writer->columns[BB_BBT_TIME][row] = (guint64)message->time_ns;
    writer->columns[BB_BBT_RECV][row] = since(message->recv_ns, message->time_ns);
    writer->columns[BB_BBT_END][row] = since(message->end_ns, message->time_ns);
    writer->columns[BB_BBT_BYTES][row] = message->bytes;
    writer->columns[BB_BBT_ID_NUMBER][row] = message->id.number;
    writer->columns[BB_BBT_PATH_NUMBER][row] = message->path.number;
    writer->columns[BB_BBT_PARENT_NUMBER][row] = message->parent.number;
    writer->columns[BB_BBT_OFFSET][row] = message->offset;
    writer->columns[BB_BBT_FRAME][row] = message->frame;
}

static bool bbt_push(BbTraceWriter *base, const BbMessage *message, GError **error)
{
    BbtWriter *writer = (BbtWriter *)base;
    if (!add_conn(writer, message->conn, error) || !add_class(writer, message, error))
        return false;
    put_numbers(writer, message);
    writer->count++;
    return writer->count < BB_BBT_WRITE_MESSAGES || write_messages(writer, error);
}

static bool bbt_flush(BbTraceWriter *base, GError **error)
{
    return write_messages((BbtWriter *)base, error);
}

// A message takes 10 to 16 bytes, texts half of theirs.
static gsize bbt_waiting(const BbTraceWriter *base)
{
    const BbtWriter *writer = (const BbtWriter *)base;
    gsize conns = 0;
    (void)bb_bbt_keys_bytes(writer->conns, &conns);
    return writer->count * 16 + (conns + writer->fresh->len) / 2;
}

#define EDGES_MAX 16384u // in a block: 2 MiB

// Gives the names of an edge their numbers, and appends it.
static bool append_edge(BbtWriter *writer, const BbNetworkEdge *edge, GError **error)
{
    guint32 nodes[2];
    if (!number_of(writer, edge->client, &nodes[0], error) ||
        !number_of(writer, edge->server, &nodes[1], error))
        return false;
    bb_bytes_append(writer->edges, nodes[0], 4);
    bb_bytes_append(writer->edges, nodes[1], 4);
    for (guint field = 0; field < BB_NETWORK_FIELDS; field++)
        bb_bytes_append(writer->edges, bb_network_field(edge, field), 8);
    return true;
}

static bool write_edges(BbtWriter *writer, GError **error)
{
    if (!write_names(writer, error))
        return false;
    g_byte_array_set_size(writer->block, 0);
    bb_bytes_append(writer->block, BB_NETWORK_FIELDS, 4);
    g_byte_array_append(writer->block, writer->edges->data, writer->edges->len);
    g_byte_array_set_size(writer->edges, 0);
    return write_block(writer, BB_BBT_EDGES, error);
}

static bool bbt_network(BbTraceWriter *base, const BbNetwork *network, GError **error)
{
    BbtWriter *writer = (BbtWriter *)base;
    if (!write_messages(writer, error))
        return false;
    for (guint i = 0; i < bb_network_count(network); i++) {
        if (i && i % EDGES_MAX == 0 && !write_edges(writer, error))
            return false;
        if (!append_edge(writer, bb_network_at(network, i), error))
            return false;
    }
    return write_edges(writer, error);
}

static bool bbt_note(BbTraceWriter *base, const char *text, GError **error)
{
    BbtWriter *writer = (BbtWriter *)base;
    if (!write_messages(writer, error))
        return false;
    g_byte_array_set_size(writer->block, 0);
    g_byte_array_append(writer->block, (const guint8 *)text, (guint)strlen(text) + 1);
    return write_block(writer, BB_BBT_NOTES, error);
}

static bool bbt_end(BbTraceWriter *base, const BbCounters *counters, GError **error)
{
    BbtWriter *writer = (BbtWriter *)base;
    if (!write_messages(writer, error) || !write_losses(writer, counters, error))
        return false;
    g_byte_array_set_size(writer->block, 0);
    bb_bytes_append(writer->block, writer->written, 8);
    return write_block(writer, BB_BBT_DONE, error);
}

static void bbt_forget(BbTraceWriter *base, guint64 messages)
{
    BbtWriter *writer = (BbtWriter *)base;
    writer->count = 0;
    writer->written = messages;
    g_byte_array_set_size(writer->fresh, 0);
    g_byte_array_set_size(writer->edges, 0);
}

const BbTraceWriterForm bb_trace_bbt_writer = {
    .form = BB_TRACE_BBT,
    .open = bbt_open,
    .begin = bbt_begin,
    .push = bbt_push,
    .flush = bbt_flush,
    .waiting = bbt_waiting,
    .network = bbt_network,
    .note = bbt_note,
    .end = bbt_end,
    .forget = bbt_forget,
    .free = bbt_free,
};
