// SPDX-License-Identifier: Apache-2.0
// In: a field of a message. Out: its text, and back.
#include "merge/fields.h"

#include <string.h>

#define FIELD(field_name, column_name, kind, member)                                 \
    {                                                                                \
        field_name, column_name, BB_FIELD_##kind, G_STRUCT_OFFSET(BbMessage, member) \
    }

// What `extra` holds is of the text trace, and no .bbt has room for it.
static const BbField fields[] = {
    FIELD("time", "time_ns", TIME, time_ns),
    FIELD("kind", "kind", KIND, kind),
    FIELD("seen", "seen", SIDE, at_receiver),
    FIELD("from", "from", NAME, sender),
    FIELD("to", "to", NAME, receiver),
    FIELD("id", "id", ID, id),
    FIELD("recv", "recv_ns", TIME, recv_ns),
    FIELD("end", "end_ns", TIME, end_ns),
    FIELD("op", "op", NAME, op),
    FIELD("status", "status", NAME, status),
    FIELD("bytes", "bytes", NUMBER, bytes),
    FIELD("conn", "conn", TEXT, conn),
    FIELD("off", "off", NUMBER, offset),
    FIELD("obs", "obs", NAME, observer),
    FIELD("proto", "proto", NAME, proto),
    FIELD("file", "file", NAME, file),
    FIELD("frame", "frame", FRAME, frame),
    FIELD("path", "path", ID, path),
    FIELD("parent", "parent", ID, parent),
    {"extra", "extra", BB_FIELD_TEXT, G_STRUCT_OFFSET(BbMessage, extra), .write_only = true},
};

// Words for a kind; the first of each is written. Those of a text trace tell the side, too.
static const struct {
    const char *word;
    BbKind kind;
    enum { SIDE_OPEN, SIDE_SENDER, SIDE_RECEIVER } side;
} kinds[] = {
    {"call", BB_CALL, SIDE_OPEN},           {"return", BB_RETURN, SIDE_OPEN},
    {"message", BB_FREE, SIDE_OPEN},        {"request", BB_CALL, SIDE_OPEN},
    {"response", BB_RETURN, SIDE_OPEN},     {"reply", BB_RETURN, SIDE_OPEN},
    {"call_sent", BB_CALL, SIDE_SENDER},    {"ret_sent", BB_RETURN, SIDE_SENDER},
    {"msg_sent", BB_FREE, SIDE_SENDER},     {"call_recv", BB_CALL, SIDE_RECEIVER},
    {"ret_recv", BB_RETURN, SIDE_RECEIVER}, {"msg_recv", BB_FREE, SIDE_RECEIVER},
};

const BbField *bb_field_at(gsize index)
{
    return index < G_N_ELEMENTS(fields) ? &fields[index] : NULL;
}

const BbField *bb_field_find(const char *name)
{
    for (gsize i = 0; i < G_N_ELEMENTS(fields); i++)
        if (strcmp(fields[i].name, name) == 0)
            return &fields[i];
    return NULL;
}

bool bb_field_is_number(const BbField *field)
{
    return field->form == BB_FIELD_TIME || field->form == BB_FIELD_NUMBER ||
           field->form == BB_FIELD_FRAME;
}

// ---- out ----------------------------------------------------------------------------------------

static bool append_time(gint64 time_ns, GString *out)
{
    if (time_ns != BB_TIME_NONE)
        g_string_append_printf(out, "%" G_GINT64_FORMAT, time_ns);
    return time_ns != BB_TIME_NONE;
}

// Absent numbers of all kinds are the largest one.
static bool append_number(guint64 number, GString *out)
{
    G_STATIC_ASSERT(BB_BYTES_NONE == G_MAXUINT64 && BB_OFFSET_NONE == G_MAXUINT64);
    if (number != G_MAXUINT64)
        g_string_append_printf(out, "%" G_GUINT64_FORMAT, number);
    return number != G_MAXUINT64;
}

static bool append_frame(guint32 frame, GString *out)
{
    if (frame)
        g_string_append_printf(out, "%" G_GUINT32_FORMAT, frame);
    return frame != 0;
}

static bool append_text(const char *text, GString *out)
{
    if (!text || !*text)
        return false;
    g_string_append(out, text);
    return true;
}

// The id `-` is none; as a parent it is that of a root.
static bool append_id(const BbField *field, BbId id, const BbNames *names, GString *out)
{
    bool is_call = field->offset == G_STRUCT_OFFSET(BbMessage, id);
    if (!bb_id_is_known(id) || (is_call && id.form == BB_ID_DASH))
        return false;
    bb_id_append(out, names, id);
    return true;
}

bool bb_field_append(const BbField *field, const BbMessage *message, const BbNames *names,
                     GString *out)
{
    gconstpointer member = G_STRUCT_MEMBER_P(message, field->offset);
    switch (field->form) {
    case BB_FIELD_TIME:
        return append_time(*(const gint64 *)member, out);
    case BB_FIELD_NUMBER:
        return append_number(*(const guint64 *)member, out);
    case BB_FIELD_FRAME:
        return append_frame(*(const guint32 *)member, out);
    case BB_FIELD_NAME:
        return append_text(bb_names_text(names, *(const guint32 *)member), out);
    case BB_FIELD_ID:
        return append_id(field, *(const BbId *)member, names, out);
    case BB_FIELD_KIND:
        return append_text(kinds[message->kind].word, out);
    case BB_FIELD_SIDE:
        return message->at_receiver && append_text("receiver", out);
    case BB_FIELD_TEXT:
        return append_text(*(const char *const *)member, out);
    }
    g_return_val_if_reached(false);
}

// ---- in -----------------------------------------------------------------------------------------

static const char *take_number(const char *text, guint64 *number)
{
    guint64 value = 0;
    for (; *text; text++) {
        if (!g_ascii_isdigit(*text))
            return "a number has other characters than decimal digits";
        if (__builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (guint64)(*text - '0'), &value) || value == G_MAXUINT64)
            return "a number is too large (at most 18446744073709551614)";
    }
    *number = value;
    return NULL;
}

static const char *take_frame(const char *text, guint32 *frame)
{
    guint64 number = 0;
    if (!g_ascii_string_to_unsigned(text, 10, 1, G_MAXUINT32, &number, NULL))
        return "the number of a frame is 1 to 4294967295";
    *frame = (guint32)number;
    return NULL;
}

static const char *take_kind(const char *text, BbMessage *message)
{
    for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (g_ascii_strcasecmp(text, kinds[i].word) != 0)
            continue;
        message->kind = kinds[i].kind;
        if (kinds[i].side != SIDE_OPEN)
            message->at_receiver = kinds[i].side == SIDE_RECEIVER;
        return NULL;
    }
    return "the kind is none of call, return, message (or request, response, reply, CALL_SENT, "
           "RET_SENT, MSG_SENT, CALL_RECV, RET_RECV, MSG_RECV)";
}

static const char *take_side(const char *text, BbMessage *message)
{
    if (strcmp(text, "sender") != 0 && strcmp(text, "receiver") != 0)
        return "a message is seen by its `sender` or its `receiver`";
    message->at_receiver = *text == 'r';
    return NULL;
}

// A number that is too large is most often of a smaller unit.
static const char *take_time(const char *text, BbStampUnit unit, gint64 *time_ns)
{
    const char *reason = bb_stamp_parse(text, unit, time_ns);
    const char *point = strchr(text, '.');
    bool is_number =
        !text[strspn(text, ".0123456789")] && (!point || (point > text && !strchr(point + 1, '.')));
    if (!reason || !is_number)
        return reason;
    return "a time is after the year 2262: if its unit is ms, us or ns say so, as --columns "
           "time=ts:ms";
}

const char *bb_field_take(const BbField *field, const char *text, BbStampUnit unit, BbNames *names,
                          BbMessage *message)
{
    gpointer member = G_STRUCT_MEMBER_P(message, field->offset);
    if (!*text || field->write_only)
        return NULL;
    switch (field->form) {
    case BB_FIELD_TIME:
        return take_time(text, unit, member);
    case BB_FIELD_NUMBER:
        return take_number(text, member);
    case BB_FIELD_FRAME:
        return take_frame(text, member);
    case BB_FIELD_NAME:
        *(guint32 *)member = bb_names_intern(names, text);
        return NULL;
    case BB_FIELD_ID:
        if (strcmp(text, "-") != 0 || field->offset != G_STRUCT_OFFSET(BbMessage, id))
            *(BbId *)member = bb_id_parse(names, text);
        return NULL;
    case BB_FIELD_KIND:
        return take_kind(text, message);
    case BB_FIELD_SIDE:
        return take_side(text, message);
    case BB_FIELD_TEXT:
        *(const char **)member = text;
        return NULL;
    }
    g_return_val_if_reached(NULL);
}
