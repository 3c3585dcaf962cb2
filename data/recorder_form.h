// SPDX-License-Identifier: Apache-2.0
// Layout of a ring, as bbtrace-ring(5) tells it, and its records. Inside data/ only.
#pragma once

#include "data/bytes.h"
#include "data/crc32c.h"
#include "data/trace_form.h"

#define BB_RING_MAGIC BB_TRACE_RING_MAGIC
#define BB_RING_MAGIC_SIZE BB_TRACE_RING_MAGIC_SIZE
#define BB_RING_VERSION 1u
#define BB_RING_PAGE 4096u // the head of the file takes one; sub-buffers are made of them
#define BB_RING_HEAD_SIZE \
    24u // magic, u16 version, u16 0, u32 size of a sub-buffer, u32 number
        // of them, u32 checksum

// A sub-buffer: u32 magic, u32 committed bytes, u64 sequence number, u64 number of the first
// message in its run, u64 run, u32 size, u32 checksum of bytes 8 to 35.
#define BB_RING_SUB_MAGIC 0x42534242u // "BBSB"
#define BB_RING_SUB_HEAD 64u
#define BB_RING_SUB_CHECKED 28u
#define BB_RING_SUB_MIN ((gsize)64 << 10)
#define BB_RING_SUB_MAX ((gsize)16 << 20)

typedef struct BbRingSub {
    guint64 sequence, first, run;
    guint32 size, committed;
} BbRingSub;

// Writes all but magic and committed.
static inline void bb_ring_sub_write(guint8 *at, const BbRingSub *sub)
{
    const guint64 values[] = {GUINT64_TO_LE(sub->sequence), GUINT64_TO_LE(sub->first),
                              GUINT64_TO_LE(sub->run)};
    memcpy(at + 8, values, sizeof values);
    bb_bytes_put_u32(at + 32, sub->size);
    bb_bytes_put_u32(at + 36, bb_crc32c(0, at + 8, BB_RING_SUB_CHECKED));
    memset(at + 40, 0, BB_RING_SUB_HEAD - 40);
}

// Returns false where no good head is.
static inline bool bb_ring_sub_read(const guint8 *at, BbRingSub *sub)
{
    BbBytes bytes = {.at = at, .left = BB_RING_SUB_HEAD};
    if (bb_bytes_u32(&bytes) != BB_RING_SUB_MAGIC)
        return false;
    sub->committed = bb_bytes_u32(&bytes);
    sub->sequence = bb_bytes_u64(&bytes);
    sub->first = bb_bytes_u64(&bytes);
    sub->run = bb_bytes_u64(&bytes);
    sub->size = bb_bytes_u32(&bytes);
    return bb_bytes_u32(&bytes) == bb_crc32c(0, at + 8, BB_RING_SUB_CHECKED) && sub->sequence > 0 &&
           sub->run > 0 && sub->size >= BB_RING_SUB_MIN && sub->size <= BB_RING_SUB_MAX &&
           sub->size % BB_RING_PAGE == 0;
}

// Bytes of a name or a connection at most: so no ring has one text copied at great length, and a
// message with all of its texts fits into the smallest sub-buffer.
#define BB_RING_TEXT_MAX ((gsize)4 << 10)

// A record: u32 checksum, u32 size (all of it) and type, then its content. The checksum is that of
// the sub-buffer's sequence number and of all behind the checksum, so that a record of a former lap
// is none.
#define BB_RING_RECORD_HEAD 8u
enum { BB_RING_NAME = 1, BB_RING_CONN = 2, BB_RING_MESSAGE = 3 };

static inline guint32 bb_ring_seed(guint64 sequence)
{
    sequence = GUINT64_TO_LE(sequence);
    return bb_crc32c(0, &sequence, sizeof sequence);
}

// Fills in the head of the record that begins at begin and reaches to the end of out.
static inline void bb_ring_record_end(GByteArray *out, gsize begin, guint type, guint32 seed)
{
    guint8 *at = out->data + begin;
    gsize size = out->len - begin;
    bb_bytes_put_u32(at + 4, (guint32)size | (guint32)type << 24);
    bb_bytes_put_u32(at, bb_crc32c(seed, at + 4, size - 4));
}

// The content of a record of a message. Names in it are those of the sub-buffer (0 for none), conn
// is the number of its connection there (0 for none). time_ns is written as the difference to
// before_ns, the time of the message before it in the sub-buffer (0 for the first).
typedef struct BbRingMessage {
    BbMessage message; // conn and extra are not used
    guint64 conn;
    gint64 before_ns;
} BbRingMessage;

void bb_ring_message_append(GByteArray *out, const BbRingMessage *record);
// before_ns is given. Returns false where bytes are not what append writes.
bool bb_ring_message_take(BbBytes *bytes, BbRingMessage *record);
