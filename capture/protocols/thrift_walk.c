// SPDX-License-Identifier: Apache-2.0
// In: the bytes of a Thrift structure, in pieces. Out: where it ends. Each step reads one field
// head, value or length, or nothing.
#include "capture/protocols/thrift_message.h"

// Types of values, the same for both encodings from here on.
enum {
    STOP = 0,
    BOOL = 2,
    BYTE = 3,
    DOUBLE = 4,
    I16 = 6,
    I32 = 8,
    I64 = 10,
    STRING = 11,
    STRUCT = 12,
    MAP = 13,
    SET = 14,
    LIST = 15,
    UUID = 16,
};

enum { BAD_TYPE = 0xff };
enum { COMPACT_TRUE = 1, COMPACT_FALSE = 2, COMPACT_LONG_LIST = 15 };

static guint8 type_of_compact(guint8 type)
{
    static const guint8 types[] = {STOP, BOOL, BOOL,   BYTE, I16, I32, I64,
                                   DOUBLE, STRING, LIST, SET, MAP, STRUCT, UUID};
    return type < G_N_ELEMENTS(types) ? types[type] : BAD_TYPE;
}

static guint8 type_of_binary(guint8 type)
{
    switch (type) {
    case STOP:
    case BOOL:
    case BYTE:
    case DOUBLE:
    case I16:
    case I32:
    case I64:
    case STRING:
    case STRUCT:
    case MAP:
    case SET:
    case LIST:
    case UUID:
        return type;
    default:
        return BAD_TYPE;
    }
}

static guint64 read_varint(BbCursor *c, bool *bad)
{
    guint64 value = 0;
    for (guint i = 0; i < 10; i++) {
        guint8 byte = bb_cursor_u8(c);
        value |= (guint64)(byte & 0x7f) << 7 * i;
        if (!(byte & 0x80))
            return value;
    }
    *bad = true;
    return 0;
}

// Bytes of a value, 0 where it says itself how many.
static guint fixed_size(const BbThriftWalk *walk, guint8 type)
{
    switch (type) {
    case BOOL:
    case BYTE:
        return 1;
    case DOUBLE:
        return 8;
    case I16:
        return walk->compact ? 0 : 2;
    case I32:
        return walk->compact ? 0 : 4;
    case I64:
        return walk->compact ? 0 : 8;
    case UUID:
        return 16;
    default:
        return 0;
    }
}

static bool descend(BbThriftWalk *walk, BbThriftLevel level)
{
    if (walk->depth == BB_THRIFT_DEPTH)
        return false;
    walk->level[walk->depth++] = level;
    return true;
}

// A container of that many values of fixed size is passed over at once.
static bool enter_container(BbThriftWalk *walk, guint64 count, guint8 key, guint8 value)
{
    if (count == 0)
        return true;
    if (count > G_MAXINT32 || key == BAD_TYPE || value == BAD_TYPE || key == STOP || value == STOP)
        return false;
    guint sizes[] = {fixed_size(walk, key), fixed_size(walk, value)};
    if (sizes[0] && sizes[1]) {
        walk->skip = count / 2 * (sizes[0] + sizes[1]);
        return true;
    }
    return descend(walk, (BbThriftLevel){.container = true, .left = count, .type = {key, value}});
}

