// SPDX-License-Identifier: Apache-2.0
// Layout of a .bbt file, as bbt(5) tells it. Inside data/ only.
#pragma once

#include "data/trace_form.h"

#define BB_BBT_VERSION 1u
#define BB_BBT_HEAD_SIZE 16u       // magic, u16 version, u16 size of the head, u32 checksum
#define BB_BBT_BLOCK_HEAD_SIZE 20u // type, flags, size, checksums of content and head; all u32
#define BB_BBT_BLOCK_MAX (16u << 20)

// Types of blocks: four upper-case letters, the first one in the lowest byte.
#define BB_BBT_TYPE(a, b, c, d) \
    ((guint32)(a) | (guint32)(b) << 8 | (guint32)(c) << 16 | (guint32)(d) << 24)
#define BB_BBT_NAMES BB_BBT_TYPE('N', 'A', 'M', 'E')
#define BB_BBT_MESSAGES BB_BBT_TYPE('M', 'E', 'S', 'G')
#define BB_BBT_LOSSES BB_BBT_TYPE('L', 'O', 'S', 'S')
#define BB_BBT_EDGES BB_BBT_TYPE('E', 'D', 'G', 'E')
#define BB_BBT_NOTES BB_BBT_TYPE('N', 'O', 'T', 'E')
#define BB_BBT_DONE BB_BBT_TYPE('D', 'O', 'N', 'E')

#define BB_BBT_WRITE_MESSAGES 8192u // a block, when written
#define BB_BBT_READ_MESSAGES 65536u // a block at most, when read

// Names of a file, and bytes of their texts.
#define BB_BBT_NAMES_MAX (1u << 26)
#define BB_BBT_NAMES_TEXT_MAX ((guint64)1 << 30)

typedef enum {
    // Of messages.
    BB_BBT_TIME = 1,
    BB_BBT_RECV, // difference to time
    BB_BBT_END,  // difference to time
    BB_BBT_BYTES,
    BB_BBT_ID_NUMBER,
    BB_BBT_PATH_NUMBER,
    BB_BBT_PARENT_NUMBER,
    BB_BBT_CLASS, // place in the block's list of classes
    BB_BBT_CONN,  // 1 + place in the block's list of connections, 0 for none
    BB_BBT_OFFSET,
    // Of classes: what many messages share.
    BB_BBT_KIND,   // BbKind, and BB_BBT_AT_RECEIVER
    BB_BBT_SENDER, // names of the file, 0 for none
    BB_BBT_RECEIVER,
    BB_BBT_OP,
    BB_BBT_STATUS,
    BB_BBT_PROTO,
    BB_BBT_OBSERVER,
    BB_BBT_ID_FORM, // 0 absent, 1 dash, 2 sixteen hex digits, 3 + name of the stem
    BB_BBT_PATH_FORM,
    BB_BBT_PARENT_FORM,
    // Of bytes: texts, each ended by a NUL.
    BB_BBT_CONN_LIST,
    BB_BBT_NAME_LIST, // in a block of names
    BB_BBT_FRAME,     // of messages
    BB_BBT_FILE,      // of classes
    BB_BBT_COLUMNS,
} BbBbtColumnId;

#define BB_BBT_AT_RECEIVER 4u

static inline bool bb_bbt_is_of_messages(guint id)
{
    return (id >= BB_BBT_TIME && id <= BB_BBT_OFFSET) || id == BB_BBT_FRAME;
}

static inline bool bb_bbt_is_of_classes(guint id)
{
    return (id >= BB_BBT_KIND && id <= BB_BBT_PARENT_FORM) || id == BB_BBT_FILE;
}

static inline bool bb_bbt_is_of_numbers(guint id)
{
    return bb_bbt_is_of_messages(id) || bb_bbt_is_of_classes(id);
}

// The value of a row without a value, by column.
static inline guint64 bb_bbt_absent(guint id)
{
    switch (id) {
    case BB_BBT_TIME:
    case BB_BBT_RECV:
    case BB_BBT_END:
        return (guint64)BB_TIME_NONE;
    case BB_BBT_BYTES:
    case BB_BBT_OFFSET:
        return G_MAXUINT64;
    case BB_BBT_KIND:
        return BB_FREE;
    default:
        return 0;
    }
}

// Where the next message of a connection begins if no byte comes between: what offsets are written
// as differences to. conn, sender and receiver are values of the columns; 0 stands at a block's
// begin.
static inline gsize bb_bbt_stream_of(guint64 conn, guint32 sender, guint32 receiver)
{
    return 2 * conn + (sender < receiver);
}

static inline guint64 bb_bbt_stream_next(guint64 offset, guint64 bytes)
{
    return bytes == BB_BYTES_NONE ? offset : offset + bytes;
}
