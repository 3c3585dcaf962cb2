// SPDX-License-Identifier: Apache-2.0
// In: a message whose names are those of a sub-buffer. Out: the bytes of its record; and back.
#include "data/recorder_form.h"

enum {
    KIND = 3, // BbKind
    AT_RECEIVER = 1 << 2,
    HAS_RECV = 1 << 3,
    HAS_END = 1 << 4,
    HAS_BYTES = 1 << 5,
    HAS_ID = 1 << 6,
    HAS_PATH = 1 << 7,
    HAS_PARENT = 1 << 8,
    HAS_OFFSET = 1 << 9,
    HAS_CONN = 1 << 10,
    HAS_STATUS = 1 << 11,
    HAS_OBSERVER = 1 << 12,
    HAS_FILE = 1 << 13,
    HAS_FRAME = 1 << 14,
    UNKNOWN = 1 << 15,
};

// The content of a record as it grows: flags, and 20 numbers of up to 10 bytes at most.
typedef struct {
    guint8 bytes[2 + 20 * 10];
    guint used;
} Content;

// Seven bits a byte, the lowest first; the eighth says that more come.
static inline void append_number(Content *out, guint64 value)
{
    for (; value > 0x7f; value >>= 7)
        out->bytes[out->used++] = (guint8)(value & 0x7f) | 0x80;
    out->bytes[out->used++] = (guint8)value;
}

static guint64 take_number(BbBytes *bytes)
{
    guint64 value = 0;
    for (guint shift = 0; shift < 64; shift += 7) {
        guint8 byte = bb_bytes_u8(bytes);
        value |= (guint64)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    bytes->failed = true;
    return 0;
}

// A difference of times, which may be negative: small ones either way are short.
static void append_difference(Content *out, gint64 value_ns, gint64 from_ns)
{
    guint64 difference = (guint64)value_ns - (guint64)from_ns;
    append_number(out, difference << 1 ^ (difference >> 63 ? G_MAXUINT64 : 0));
}

static gint64 take_difference(BbBytes *bytes, gint64 from_ns)
{
    guint64 folded = take_number(bytes);
    return (gint64)((guint64)from_ns + (folded >> 1 ^ (folded & 1 ? G_MAXUINT64 : 0)));
}

static void append_id(Content *out, BbId id)
{
    append_number(out, id.form);
    append_number(out, id.number);
}

static BbId take_id(BbBytes *bytes)
{
    BbId id = {.form = (guint32)take_number(bytes)};
    id.number = take_number(bytes);
    return id;
}

static guint flags_of(const BbRingMessage *record)
{
    const BbMessage *m = &record->message;
    return (guint)m->kind | (m->at_receiver ? AT_RECEIVER : 0) |
           (m->recv_ns != BB_TIME_NONE ? HAS_RECV : 0) | (m->end_ns != BB_TIME_NONE ? HAS_END : 0) |
           (m->bytes != BB_BYTES_NONE ? HAS_BYTES : 0) | (bb_id_is_known(m->id) ? HAS_ID : 0) |
           (bb_id_is_known(m->path) ? HAS_PATH : 0) | (bb_id_is_known(m->parent) ? HAS_PARENT : 0) |
           (m->offset != BB_OFFSET_NONE ? HAS_OFFSET : 0) | (record->conn ? HAS_CONN : 0) |
           (m->status ? HAS_STATUS : 0) | (m->observer ? HAS_OBSERVER : 0) |
           (m->file ? HAS_FILE : 0) | (m->frame ? HAS_FRAME : 0);
}

static void append_content(Content *out, const BbRingMessage *record, guint flags)
{
    const BbMessage *m = &record->message;
    out->bytes[0] = (guint8)flags;
    out->bytes[1] = (guint8)(flags >> 8);
    out->used = 2;
    append_difference(out, m->time_ns, record->before_ns);
    append_number(out, m->sender);
    append_number(out, m->receiver);
    append_number(out, m->op);
    append_number(out, m->proto);
    if (flags & HAS_RECV)
        append_difference(out, m->recv_ns, m->time_ns);
    if (flags & HAS_END)
        append_difference(out, m->end_ns, m->time_ns);
    if (flags & HAS_BYTES)
        append_number(out, m->bytes);
    if (flags & HAS_ID)
        append_id(out, m->id);
    if (flags & HAS_PATH)
        append_id(out, m->path);
    if (flags & HAS_PARENT)
        append_id(out, m->parent);
    if (flags & HAS_OFFSET)
        append_number(out, m->offset);
    if (flags & HAS_CONN)
        append_number(out, record->conn);
    if (flags & HAS_STATUS)
        append_number(out, m->status);
    if (flags & HAS_OBSERVER)
        append_number(out, m->observer);
    if (flags & HAS_FILE)
        append_number(out, m->file);
    if (flags & HAS_FRAME)
        append_number(out, m->frame);
}

void bb_ring_message_append(GByteArray *out, const BbRingMessage *record)
{
    Content content;
    append_content(&content, record, flags_of(record));
    g_byte_array_append(out, content.bytes, content.used);
}

static bool is_time(gint64 time_ns)
{
    return time_ns >= 0 || time_ns == BB_TIME_NONE;
}

bool bb_ring_message_take(BbBytes *bytes, BbRingMessage *record)
{
    BbMessage *m = &record->message;
    *m = bb_message_empty();
    guint flags = bb_bytes_u16(bytes);
    if ((flags & KIND) > BB_FREE || flags & UNKNOWN)
        return false;
    m->kind = (BbKind)(flags & KIND);
    m->at_receiver = flags & AT_RECEIVER;
    m->time_ns = take_difference(bytes, record->before_ns);
    m->sender = (guint32)take_number(bytes);
    m->receiver = (guint32)take_number(bytes);
    m->op = (guint32)take_number(bytes);
    m->proto = (guint32)take_number(bytes);
    if (flags & HAS_RECV)
        m->recv_ns = take_difference(bytes, m->time_ns);
    if (flags & HAS_END)
        m->end_ns = take_difference(bytes, m->time_ns);
    if (flags & HAS_BYTES)
        m->bytes = take_number(bytes);
    if (flags & HAS_ID)
        m->id = take_id(bytes);
    if (flags & HAS_PATH)
        m->path = take_id(bytes);
    if (flags & HAS_PARENT)
        m->parent = take_id(bytes);
    if (flags & HAS_OFFSET)
        m->offset = take_number(bytes);
    record->conn = flags & HAS_CONN ? take_number(bytes) : 0;
    if (flags & HAS_STATUS)
        m->status = (guint32)take_number(bytes);
    if (flags & HAS_OBSERVER)
        m->observer = (guint32)take_number(bytes);
    if (flags & HAS_FILE)
        m->file = (guint32)take_number(bytes);
    if (flags & HAS_FRAME)
        m->frame = (guint32)take_number(bytes);
    return !bytes->failed && bytes->left == 0 && m->time_ns >= 0 && is_time(m->recv_ns) &&
           is_time(m->end_ns);
}
