// SPDX-License-Identifier: Apache-2.0
// In: the first bytes of a Thrift message. Out: encoding, method, sequence number, and whether its
// result is an exception.
#include "capture/protocols/thrift_message.h"

#define COMPACT_ID 0x82u
#define COMPACT_VERSION 1u
#define LETTERS_CERTAIN 8u // of a compact message's name: two bits each

// Identifiers of the IDL; a multiplexed service stands before a colon.
static bool is_name(const guint8 *name, gsize length)
{
    for (gsize i = 0; i < length; i++)
        if (!g_ascii_isalnum(name[i]) && !(name[i] && strchr("_.:$-/", name[i])))
            return false;
    return length > 0;
}

static BbThriftVerdict read_name(BbThriftHead *head, BbCursor *c, guint32 length)
{
    if (bb_cursor_ok(c) && (length == 0 || length > BB_THRIFT_NAME_MAX))
        return BB_THRIFT_BAD;
    if (bb_cursor_ok(c) && !is_name(c->at, MIN(c->left, length)) && c->left)
        return BB_THRIFT_BAD;
    head->name = bb_cursor_take(c, length);
    head->name_length = length;
    return head->name ? BB_THRIFT_OK : BB_THRIFT_MORE;
}

// At most five bytes, seven bits each, the lowest first.
static guint32 read_varint(BbCursor *c, bool *bad)
{
    guint64 value = 0;
    for (guint i = 0; i < 5; i++) {
        guint8 byte = bb_cursor_u8(c);
        value |= (guint64)(byte & 0x7f) << 7 * i;
        if (!(byte & 0x80))
            return (guint32)value;
    }
    *bad = true;
    return 0;
}

static bool is_type(guint type)
{
    return type >= BB_THRIFT_CALL && type <= BB_THRIFT_ONEWAY;
}

static BbThriftVerdict read_compact(BbThriftHead *head, BbCursor *c)
{
    bool bad = false;
    head->encoding = BB_THRIFT_COMPACT;
    bb_cursor_skip(c, 1);
    guint8 byte = bb_cursor_u8(c);
    head->type = (BbThriftType)(byte >> 5);
    if (bb_cursor_ok(c) && ((byte & 0x1f) != COMPACT_VERSION || !is_type(head->type)))
        return BB_THRIFT_BAD;
    head->seqid = read_varint(c, &bad);
    guint32 length = read_varint(c, &bad);
    return bad ? BB_THRIFT_BAD : read_name(head, c, length);
}

static BbThriftVerdict read_strict(BbThriftHead *head, BbCursor *c)
{
    guint32 word = bb_cursor_be32(c);
    head->encoding = BB_THRIFT_STRICT;
    head->type = (BbThriftType)(word & 0xff);
    if (bb_cursor_ok(c) && (word >> 8 != 0x800100u || !is_type(word & 0xff)))
        return BB_THRIFT_BAD;
    BbThriftVerdict verdict = read_name(head, c, bb_cursor_be32(c));
    head->seqid = bb_cursor_be32(c);
    return verdict == BB_THRIFT_OK && !bb_cursor_ok(c) ? BB_THRIFT_MORE : verdict;
}

static BbThriftVerdict read_old(BbThriftHead *head, BbCursor *c)
{
    head->encoding = BB_THRIFT_OLD;
    BbThriftVerdict verdict = read_name(head, c, bb_cursor_be32(c));
    if (verdict != BB_THRIFT_OK)
        return verdict;
    guint8 type = bb_cursor_u8(c);
    head->type = (BbThriftType)type;
    if (bb_cursor_ok(c) && !is_type(type))
        return BB_THRIFT_BAD;
    head->seqid = bb_cursor_be32(c);
    return bb_cursor_ok(c) ? BB_THRIFT_OK : BB_THRIFT_MORE;
}

BbThriftVerdict bb_thrift_head_read(BbThriftHead *head, const guint8 *data, gsize length)
{
    BbCursor c = bb_cursor(data, length);
    BbThriftVerdict verdict;
    *head = (BbThriftHead){0};
    if (!length)
        return BB_THRIFT_MORE;
    if (data[0] == COMPACT_ID)
        verdict = read_compact(head, &c);
    else if (data[0] & 0x80)
        verdict = length > 1 && data[1] != 1 ? BB_THRIFT_BAD : read_strict(head, &c);
    else
        verdict = data[0] ? BB_THRIFT_BAD : read_old(head, &c);
    head->length = length - c.left;
    return verdict;
}

BbThriftVerdict bb_thrift_result_read(const BbThriftHead *head, const guint8 *data, gsize length,
                                      bool *exception)
{
    BbCursor c = bb_cursor(data, length);
    guint8 type = bb_cursor_u8(&c);
    *exception = false;
    if (!bb_cursor_ok(&c))
        return BB_THRIFT_MORE;
    if (type == 0) // nothing: the result is void
        return BB_THRIFT_OK;
    if (head->encoding != BB_THRIFT_COMPACT)
        *exception = bb_cursor_be16(&c) != 0;
    else if (type >> 4) // the number's distance from 0
        *exception = true;
    else
        *exception = bb_cursor_u8(&c) != 0;
    return bb_cursor_ok(&c) ? BB_THRIFT_OK : BB_THRIFT_MORE;
}

// ---- probes -------------------------------------------------------------------------------------

static BbMatch side_of(const BbThriftHead *head)
{
    return head->type == BB_THRIFT_CALL || head->type == BB_THRIFT_ONEWAY ? BB_MATCH_REQUEST
                                                                          : BB_MATCH_REPLY;
}

// Encodings whose heads have no 32 bits that are fixed are likely only, but for long names.
BbMatch bb_thrift_probe_bare(const guint8 *data, gsize length)
{
    BbThriftHead head;
    switch (bb_thrift_head_read(&head, data, length)) {
    case BB_THRIFT_BAD:
        return BB_MATCH_NO;
    case BB_THRIFT_MORE:
        return BB_MATCH_MORE;
    default:
        break;
    }
    bool certain = head.encoding == BB_THRIFT_STRICT ||
                   (head.encoding == BB_THRIFT_COMPACT && head.name_length >= LETTERS_CERTAIN);
    return certain ? side_of(&head) : BB_MATCH_LIKELY;
}

BbMatch bb_thrift_probe_framed(const guint8 *data, gsize length)
{
    BbThriftHead head;
    BbCursor c = bb_cursor(data, length);
    guint32 size = bb_cursor_be32(&c);
    if (!bb_cursor_ok(&c))
        return length && data[0] > BB_THRIFT_FRAME_MAX >> 24 ? BB_MATCH_NO : BB_MATCH_MORE;
    if (size < 4 || size > BB_THRIFT_FRAME_MAX)
        return BB_MATCH_NO;
    switch (bb_thrift_head_read(&head, c.at, MIN(c.left, size))) {
    case BB_THRIFT_BAD:
        return BB_MATCH_NO;
    case BB_THRIFT_MORE:
        return c.left < size ? BB_MATCH_MORE : BB_MATCH_NO;
    default:
        return head.encoding == BB_THRIFT_OLD || head.name_length < 3 ? BB_MATCH_LIKELY
                                                                      : side_of(&head);
    }
}
