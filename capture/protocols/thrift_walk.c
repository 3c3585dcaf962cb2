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
    static const guint8 types[] = {STOP,   BOOL,   BOOL, BYTE, I16, I32,    I64,
                                   DOUBLE, STRING, LIST, SET,  MAP, STRUCT, UUID};
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

// count: of entries, of `each` values. Where all are of fixed size they are passed over at once.
static bool enter_container(BbThriftWalk *walk, guint64 count, guint each, guint8 first,
                            guint8 second)
{
    if (count == 0)
        return true;
    if (count > G_MAXINT32 || first == BAD_TYPE || second == BAD_TYPE || first == STOP ||
        second == STOP)
        return false;
    guint sizes[] = {fixed_size(walk, first), fixed_size(walk, second)};
    if (sizes[0] && sizes[1]) {
        walk->skip = count * (each == 2 ? sizes[0] + sizes[1] : sizes[0]);
        return true;
    }
    return descend(
        walk, (BbThriftLevel){.container = true, .left = count * each, .type = {first, second}});
}

// ---- one step each ------------------------------------------------------------------------------

static bool read_string(BbThriftWalk *walk, BbCursor *c)
{
    bool bad = false;
    guint64 length = walk->compact ? read_varint(c, &bad) : bb_cursor_be32(c);
    walk->skip = length;
    return !bad && length <= BB_THRIFT_FRAME_MAX;
}

// Of a list the values take turns with themselves.
static bool read_list(BbThriftWalk *walk, BbCursor *c)
{
    bool bad = false;
    guint8 head = bb_cursor_u8(c), type;
    guint64 count;
    if (walk->compact) {
        type = type_of_compact(head & 0x0f);
        count = head >> 4;
        if (count == COMPACT_LONG_LIST)
            count = read_varint(c, &bad);
    } else {
        type = type_of_binary(head);
        count = bb_cursor_be32(c);
    }
    return !bb_cursor_ok(c) || (!bad && enter_container(walk, count, 1, type, type));
}

static bool read_map(BbThriftWalk *walk, BbCursor *c)
{
    bool bad = false;
    guint8 key, value;
    guint64 count;
    if (walk->compact) {
        count = read_varint(c, &bad);
        guint8 types = count ? bb_cursor_u8(c) : 0; // an empty map ends here
        key = type_of_compact(types >> 4);
        value = type_of_compact(types & 0x0f);
    } else {
        key = type_of_binary(bb_cursor_u8(c));
        value = type_of_binary(bb_cursor_u8(c));
        count = bb_cursor_be32(c);
    }
    return !bb_cursor_ok(c) || (!bad && enter_container(walk, count, 2, key, value));
}

static bool read_value(BbThriftWalk *walk, BbCursor *c, guint8 type)
{
    bool bad = false;
    guint size = fixed_size(walk, type);
    if (size) {
        bb_cursor_skip(c, size);
        return true;
    }
    switch (type) {
    case I16:
    case I32:
    case I64:
        (void)read_varint(c, &bad);
        return !bad;
    case STRING:
        return read_string(walk, c);
    case STRUCT:
        return descend(walk, (BbThriftLevel){0});
    case MAP:
        return read_map(walk, c);
    case LIST:
    case SET:
        return read_list(walk, c);
    default:
        return false;
    }
}

// A field's head with its value, or the end. Compact booleans lie in the head.
static bool read_field(BbThriftWalk *walk, BbCursor *c)
{
    bool bad = false;
    guint8 head = bb_cursor_u8(c);
    if (bb_cursor_ok(c) && head == STOP) {
        walk->depth--;
        return true;
    }
    if (!walk->compact) {
        bb_cursor_skip(c, 2);
        return !bb_cursor_ok(c) || read_value(walk, c, type_of_binary(head));
    }
    if (head >> 4 == 0)
        (void)read_varint(c, &bad); // the field's number
    guint8 type = head & 0x0f;
    if (!bb_cursor_ok(c) || type == COMPACT_TRUE || type == COMPACT_FALSE)
        return !bad;
    return !bad && read_value(walk, c, type_of_compact(type));
}

static bool read_element(BbThriftWalk *walk, BbCursor *c)
{
    BbThriftLevel *level = &walk->level[walk->depth - 1];
    if (level->left == 0) {
        walk->depth--;
        return true;
    }
    guint8 type = level->type[level->turn];
    level->left--;
    level->turn ^= 1;
    return read_value(walk, c, type);
}

void bb_thrift_walk_begin(BbThriftWalk *walk, BbThriftEncoding encoding)
{
    walk->compact = encoding == BB_THRIFT_COMPACT;
    walk->depth = 1;
    walk->skip = 0;
    walk->level[0] = (BbThriftLevel){0};
}

static void pass_skipped(BbThriftWalk *walk, BbCursor *c)
{
    gsize count = (gsize)MIN(walk->skip, c->left);
    bb_cursor_skip(c, count);
    walk->skip -= count;
}

BbThriftVerdict bb_thrift_walk_on(BbThriftWalk *walk, BbCursor *c)
{
    pass_skipped(walk, c);
    while (walk->depth && walk->skip == 0) {
        // A step that lacks bytes is undone: it changes its own level and none but adds one.
        guint8 depth = walk->depth;
        BbThriftLevel level = walk->level[depth - 1];
        BbCursor before = *c;
        bool good = level.container ? read_element(walk, c) : read_field(walk, c);
        if (!bb_cursor_ok(c)) {
            *c = before;
            walk->depth = depth;
            walk->level[depth - 1] = level;
            walk->skip = 0;
            return BB_THRIFT_MORE;
        }
        if (!good)
            return BB_THRIFT_BAD;
        pass_skipped(walk, c);
    }
    return walk->depth || walk->skip ? BB_THRIFT_MORE : BB_THRIFT_OK;
}
