// SPDX-License-Identifier: Apache-2.0
// In: messages. Out: a .bbt file (bbt(5)), written block by block.
// Memory: one block's columns, the block before and after packing, one number a name of the run.
#include "data/crc32c.h"
#include "data/trace_bbt.h"
#include "data/trace_bbt_column.h"
#include "data/trace_bbt_texts.h"

#include <zstd.h>

#define ZSTD_LEVEL 1
// Texts of a block: a block ends before its list of connections gets larger.
#define TEXTS_MAX ((gsize)8 << 20)

typedef struct {
    BbTraceWriter base;
    guint64 *columns[BB_BBT_CONN_LIST]; // of BB_BBT_WRITE_MESSAGES each
    gsize count;                        // messages in the block
    guint64 written;                    // messages in blocks before it
    BbBbtTexts *conns;
    GArray *names;       // name of the run -> name of the file, 0 for not yet
    guint32 names_count; // names of the file
    guint64 names_text;  // bytes of these
    GByteArray *fresh;   // names that no block has yet
    guint32 fresh_first, fresh_count;
    GByteArray *raw, *stored;
    ZSTD_CCtx *zstd;
} BbtWriter;

static BbTraceWriter *bbt_open(void)
{
    BbtWriter *writer = g_new0(BbtWriter, 1);
    for (guint id = BB_BBT_TIME; id < BB_BBT_CONN_LIST; id++)
        writer->columns[id] = g_new(guint64, BB_BBT_WRITE_MESSAGES);
    writer->conns = bb_bbt_texts_new(BB_BBT_WRITE_MESSAGES);
    writer->names = g_array_new(FALSE, TRUE, sizeof(guint32));
    writer->names_count = 1;
    writer->fresh = g_byte_array_new();
    writer->fresh_first = 1;
    writer->raw = g_byte_array_new();
    writer->stored = g_byte_array_new();
    writer->zstd = ZSTD_createCCtx();
    return &writer->base;
}

static void bbt_free(BbTraceWriter *base)
{
    BbtWriter *writer = (BbtWriter *)base;
    for (guint id = BB_BBT_TIME; id < BB_BBT_CONN_LIST; id++)
        g_free(writer->columns[id]);
    bb_bbt_texts_free(writer->conns);
    g_array_unref(writer->names);
    g_byte_array_unref(writer->fresh);
    g_byte_array_unref(writer->raw);
    g_byte_array_unref(writer->stored);
    ZSTD_freeCCtx(writer->zstd);
    g_free(writer);
}

static bool bbt_begin(BbTraceWriter *base, GError **error)
{
    g_autoptr(GByteArray) head = g_byte_array_new();
    g_byte_array_append(head, (const guint8 *)BB_TRACE_BBT_MAGIC, BB_TRACE_BBT_MAGIC_SIZE);
    bb_bytes_append(head, BB_BBT_VERSION, 2);
    bb_bytes_append(head, BB_BBT_HEAD_SIZE, 2);
    bb_bytes_append(head, bb_crc32c(0, head->data, head->len), 4);
    return bb_trace_writer_put(base, head->data, head->len, error);
}

// ---- blocks -------------------------------------------------------------------------------------

// Packs raw into stored behind room for the head. Returns whether that made it smaller.
static bool pack_block(BbtWriter *writer, const GByteArray *raw)
{
    gsize bound = ZSTD_compressBound(raw->len);
    g_byte_array_set_size(writer->stored, (guint)(BB_BBT_BLOCK_HEAD_SIZE + bound));
    gsize size = ZSTD_compressCCtx(writer->zstd, writer->stored->data + BB_BBT_BLOCK_HEAD_SIZE,
                                   bound, raw->data, raw->len, ZSTD_LEVEL);
    if (ZSTD_isError(size) || size >= raw->len)
        return false;
    g_byte_array_set_size(writer->stored, (guint)(BB_BBT_BLOCK_HEAD_SIZE + size));
    return true;
}

static bool write_block(BbtWriter *writer, guint32 type, const GByteArray *raw, GError **error)
{
    bool packed = pack_block(writer, raw);
    const guint8 *bytes = packed ? writer->stored->data + BB_BBT_BLOCK_HEAD_SIZE : raw->data;
    gsize size = packed ? writer->stored->len - BB_BBT_BLOCK_HEAD_SIZE : raw->len;
    g_autoptr(GByteArray) head = g_byte_array_sized_new(BB_BBT_BLOCK_HEAD_SIZE);
    bb_bytes_append(head, type, 4);
    bb_bytes_append(head, packed ? BB_BBT_FLAG_ZSTD : 0, 4);
    bb_bytes_append(head, size, 4);
    bb_bytes_append(head, raw->len, 4);
    bb_bytes_append(head, bb_crc32c(0, bytes, size), 4);
    bb_bytes_append(head, bb_crc32c(0, head->data, head->len), 4);
    return bb_trace_writer_put(&writer->base, head->data, head->len, error) &&
           bb_trace_writer_put(&writer->base, bytes, size, error);
}

static bool write_names(BbtWriter *writer, GError **error)
{
    if (writer->fresh_count == 0)
        return true;
    g_byte_array_set_size(writer->raw, 0);
    bb_bytes_append(writer->raw, writer->fresh_first, 4);
    bb_bytes_append(writer->raw, writer->fresh_count, 4);
    g_byte_array_append(writer->raw, writer->fresh->data, writer->fresh->len);
    g_byte_array_set_size(writer->fresh, 0);
    writer->fresh_first += writer->fresh_count;
    writer->fresh_count = 0;
    return write_block(writer, BB_BBT_NAMES, writer->raw, error);
}

// Appends the columns that have values; the head says how many those are.
static void append_columns(BbtWriter *writer)
{
    GByteArray *raw = writer->raw;
    guint32 columns = 0;
    bb_bytes_append(raw, writer->written, 8);
    bb_bytes_append(raw, writer->count, 4);
    guint columns_at = raw->len;
    bb_bytes_append(raw, 0, 4);
    for (guint8 id = BB_BBT_TIME; id < BB_BBT_CONN_LIST; id++) {
        guint before = raw->len;
        bb_bbt_column_pack(raw, id, writer->columns[id], writer->count, bb_bbt_absent(id));
        columns += raw->len > before;
    }
    gsize size = 0;
    const guint8 *list = bb_bbt_texts_bytes(writer->conns, &size);
    if (size > 0) {
        bb_bbt_column_pack_bytes(raw, BB_BBT_CONN_LIST, list, size);
        columns++;
    }
    columns = GUINT32_TO_LE(columns);
    memcpy(raw->data + columns_at, (const guint8 *)&columns, sizeof columns);
}

static bool write_messages(BbtWriter *writer, GError **error)
{
    if (!write_names(writer, error))
        return false;
    if (writer->count == 0)
        return true;
    g_byte_array_set_size(writer->raw, 0);
    append_columns(writer);
    writer->written += writer->count;
    writer->count = 0;
    bb_bbt_texts_clear(writer->conns);
    return write_block(writer, BB_BBT_MESSAGES, writer->raw, error);
}

static bool write_losses(BbtWriter *writer, const BbCounters *counters, GError **error)
{
    guint count = counters ? bb_counters_count(counters) : 0;
    if (count == 0)
        return true;
    g_byte_array_set_size(writer->raw, 0);
    bb_bytes_append(writer->raw, count, 4);
    for (guint i = 0; i < count; i++) {
        const char *name = bb_counters_name(counters, i);
        bb_bytes_append(writer->raw, bb_counters_value(counters, i), 8);
        bb_bytes_append(writer->raw, strlen(name), 4);
        g_byte_array_append(writer->raw, (const guint8 *)name, (guint)strlen(name));
    }
    return write_block(writer, BB_BBT_LOSSES, writer->raw, error);
}

// ---- messages -----------------------------------------------------------------------------------

static bool refuse_text(const BbtWriter *writer, const char *what, GError **error)
{
    g_set_error(error, BB_TRACE_ERROR, BB_TRACE_ERROR_MESSAGE,
                "%s: message %" G_GUINT64_FORMAT " has a %s of more than 8 MiB, which no .bbt "
                "can hold: shorten it, or write a text trace",
                writer->base.path, writer->base.messages + 1, what);
    return false;
}

// Gives name its place among the names of the file.
static bool add_name(BbtWriter *writer, guint32 name, GError **error)
{
    const char *text = bb_names_text(writer->base.names, name);
    gsize size = strlen(text);
    if (size > TEXTS_MAX)
        return refuse_text(writer, "name", error);
    if (writer->names_count >= BB_BBT_NAMES_MAX ||
        writer->names_text + size > BB_BBT_NAMES_TEXT_MAX) {
        g_set_error(error, BB_TRACE_ERROR, BB_TRACE_ERROR_MESSAGE,
                    "%s: message %" G_GUINT64_FORMAT " has one name more than a .bbt can hold: "
                    "write a text trace, or several",
                    writer->base.path, writer->base.messages + 1);
        return false;
    }
    if (writer->fresh->len + size > TEXTS_MAX && !write_names(writer, error))
        return false;
    if (name >= writer->names->len)
        g_array_set_size(writer->names, bb_names_count(writer->base.names));
    g_array_index(writer->names, guint32, name) = writer->names_count++;
    bb_bytes_append(writer->fresh, size, 4);
    g_byte_array_append(writer->fresh, (const guint8 *)text, (guint)size);
    writer->fresh_count++;
    writer->names_text += size;
    return true;
}

static bool put_name(BbtWriter *writer, BbBbtColumnId id, guint32 name, guint64 plus,
                     GError **error)
{
    if (name != BB_NAME_NONE &&
        (name >= writer->names->len || g_array_index(writer->names, guint32, name) == 0) &&
        !add_name(writer, name, error))
        return false;
    guint32 number = name == BB_NAME_NONE ? 0 : g_array_index(writer->names, guint32, name);
    writer->columns[id][writer->count] = number + plus;
    return true;
}

static bool put_id(BbtWriter *writer, BbBbtColumnId form, BbId id, GError **error)
{
    writer->columns[form + 1][writer->count] = id.number;
    if (id.form >= BB_ID_STEM)
        return put_name(writer, form, id.form - BB_ID_STEM, BB_ID_STEM, error);
    writer->columns[form][writer->count] = id.form;
    return true;
}

static bool put_conn(BbtWriter *writer, const char *conn, GError **error)
{
    if (!conn) {
        writer->columns[BB_BBT_CONN][writer->count] = 0;
        return true;
    }
    gsize size = strlen(conn), held = 0;
    if (size > TEXTS_MAX)
        return refuse_text(writer, "connection", error);
    (void)bb_bbt_texts_bytes(writer->conns, &held);
    if (held + size > TEXTS_MAX && !write_messages(writer, error))
        return false;
    writer->columns[BB_BBT_CONN][writer->count] = bb_bbt_texts_add(writer->conns, conn, size);
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
    writer->columns[BB_BBT_KIND][row] =
        (guint64)message->kind | (message->at_receiver ? BB_BBT_AT_RECEIVER : 0);
    writer->columns[BB_BBT_BYTES][row] = message->bytes;
    writer->columns[BB_BBT_OFFSET][row] = message->offset;
}

static bool bbt_push(BbTraceWriter *base, const BbMessage *message, GError **error)
{
    BbtWriter *writer = (BbtWriter *)base;
    // The connection first: it may end the block, and so change the row.
    if (!put_conn(writer, message->conn, error) ||
        !put_id(writer, BB_BBT_ID_FORM, message->id, error) ||
        !put_id(writer, BB_BBT_PATH_FORM, message->path, error) ||
        !put_id(writer, BB_BBT_PARENT_FORM, message->parent, error) ||
        !put_name(writer, BB_BBT_SENDER, message->sender, 0, error) ||
        !put_name(writer, BB_BBT_RECEIVER, message->receiver, 0, error) ||
        !put_name(writer, BB_BBT_OP, message->op, 0, error) ||
        !put_name(writer, BB_BBT_STATUS, message->status, 0, error) ||
        !put_name(writer, BB_BBT_PROTO, message->proto, 0, error) ||
        !put_name(writer, BB_BBT_OBSERVER, message->observer, 0, error))
        return false;
    put_numbers(writer, message);
    writer->count++;
    return writer->count < BB_BBT_WRITE_MESSAGES || write_messages(writer, error);
}

static bool bbt_flush(BbTraceWriter *base, GError **error)
{
    return write_messages((BbtWriter *)base, error);
}

static bool bbt_end(BbTraceWriter *base, const BbCounters *counters, GError **error)
{
    BbtWriter *writer = (BbtWriter *)base;
    if (!write_messages(writer, error) || !write_losses(writer, counters, error))
        return false;
    g_byte_array_set_size(writer->raw, 0);
    bb_bytes_append(writer->raw, writer->written, 8);
    return write_block(writer, BB_BBT_DONE, writer->raw, error);
}

const BbTraceWriterForm bb_trace_bbt_writer = {
    .form = BB_TRACE_BBT,
    .open = bbt_open,
    .begin = bbt_begin,
    .push = bbt_push,
    .flush = bbt_flush,
    .end = bbt_end,
    .free = bbt_free,
};
