// SPDX-License-Identifier: Apache-2.0
// In: one line of a text trace (bbtrace-text(5)). Out: a message, or why there is none.
#include "data/trace_text_line.h"

#include "data/percent.h"
#include "data/trace_form.h"

#include <string.h>

#define NS_PER_S 1000000000

// What a line is parsed with.
typedef struct {
    BbNames *names;
    GString *extra;
    BbMessage *message;
} Line;

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

// Cuts the next field out of *rest; NULL if there is none.
static char *take_field(char **rest)
{
    char *start = *rest;
    while (is_space(*start))
        start++;
    char *end = start;
    while (*end && !is_space(*end))
        end++;
    *rest = *end ? end + 1 : end;
    *end = '\0';
    return end > start ? start : NULL;
}

#define TOO_LARGE "a number is too large (at most 18446744073709551614)"

// All of 64 bits: sums stop at the largest number.
static const char *parse_sum(const char *text, guint64 *sum)
{
    guint64 value = 0;
    if (!*text)
        return "a number is missing";
    for (; *text; text++) {
        if (!g_ascii_isdigit(*text))
            return "a number has other characters than decimal digits";
        if (__builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (guint64)(*text - '0'), &value))
            return TOO_LARGE;
    }
    *sum = value;
    return NULL;
}

// The largest of 64 bits means that there is none.
static const char *parse_number(const char *text, guint64 *number)
{
    guint64 value = 0;
    const char *reason = parse_sum(text, &value);
    if (!reason && value == G_MAXUINT64)
        return TOO_LARGE;
    if (!reason)
        *number = value;
    return reason;
}

// Up to nine decimals after the point, as nanoseconds.
static const char *parse_fraction(const char *text, gint64 *ns)
{
    gint64 value = 0, unit = NS_PER_S;
    if (!*text)
        return "a timestamp ends with its decimal point";
    for (; *text; text++) {
        if (!g_ascii_isdigit(*text))
            return "a timestamp is not a decimal number of seconds";
        if (unit == 1)
            return "a timestamp has more than nine decimals";
        unit /= 10;
        value += (*text - '0') * unit;
    }
    *ns = value;
    return NULL;
}

static const char *parse_time(const char *text, gint64 *time_ns)
{
    gint64 seconds = 0, fraction_ns = 0;
    if (*text == '-')
        return "a timestamp is negative: times count seconds since 1970";
    if (!g_ascii_isdigit(*text))
        return "a timestamp is not a decimal number of seconds";
    for (; g_ascii_isdigit(*text); text++) {
        seconds = seconds * 10 + (*text - '0');
        if (seconds > G_MAXINT64 / NS_PER_S)
            return "a timestamp is too large (after the year 2262): times are in seconds";
    }
    if (*text == '.') {
        const char *reason = parse_fraction(text + 1, &fraction_ns);
        if (reason)
            return reason;
    } else if (*text) {
        return "a timestamp is not a decimal number of seconds";
    }
    if (__builtin_add_overflow(seconds * NS_PER_S, fraction_ns, time_ns))
        return "a timestamp is too large (after the year 2262): times are in seconds";
    return NULL;
}

static const char *parse_name(Line *line, char *text, guint32 *name)
{
    const char *reason = bb_percent_decode(text);
    if (!reason)
        *name = bb_names_intern(line->names, text);
    return reason;
}

// `-` is no name; %2D is the name `-`.
static const char *parse_node(Line *line, char *text, guint32 *name)
{
    return strcmp(text, "-") == 0 ? NULL : parse_name(line, text, name);
}

static const char *parse_id(Line *line, char *text, BbId *id)
{
    const char *reason = bb_percent_decode(text);
    if (!reason)
        *id = bb_id_parse(line->names, text);
    return reason;
}

static const char *parse_operation(const char *text, BbMessage *message)
{
    static const struct {
        const char *text;
        BbKind kind;
        bool at_receiver;
    } operations[] = {
        {"CALL_SENT", BB_CALL, false}, {"RET_SENT", BB_RETURN, false}, {"MSG_SENT", BB_FREE, false},
        {"CALL_RECV", BB_CALL, true},  {"RET_RECV", BB_RETURN, true},  {"MSG_RECV", BB_FREE, true},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(operations); i++) {
        if (strcmp(text, operations[i].text) == 0) {
            message->kind = operations[i].kind;
            message->at_receiver = operations[i].at_receiver;
            return NULL;
        }
    }
    return "the operation is none of CALL_SENT, RET_SENT, MSG_SENT, CALL_RECV, RET_RECV, MSG_RECV";
}

static const char *take_recv(Line *line, char *value)
{
    return parse_time(value, &line->message->recv_ns);
}

static const char *take_end(Line *line, char *value)
{
    return parse_time(value, &line->message->end_ns);
}

static const char *take_op(Line *line, char *value)
{
    return parse_name(line, value, &line->message->op);
}

static const char *take_status(Line *line, char *value)
{
    return parse_name(line, value, &line->message->status);
}

static const char *take_bytes(Line *line, char *value)
{
    return parse_number(value, &line->message->bytes);
}

static const char *take_conn(Line *line, char *value)
{
    const char *reason = bb_percent_decode(value);
    line->message->conn = *value ? value : NULL;
    return reason;
}

static const char *take_off(Line *line, char *value)
{
    return parse_number(value, &line->message->offset);
}

static const char *take_obs(Line *line, char *value)
{
    return parse_name(line, value, &line->message->observer);
}

static const char *take_file(Line *line, char *value)
{
    return parse_name(line, value, &line->message->file);
}

static const char *take_frame(Line *line, char *value)
{
    guint64 number = 0;
    const char *reason = parse_number(value, &number);
    if (!reason && (number == 0 || number > G_MAXUINT32))
        return "the number of a frame is 1 to 4294967295";
    line->message->frame = (guint32)number;
    return reason;
}

static const char *take_proto(Line *line, char *value)
{
    return parse_name(line, value, &line->message->proto);
}

static const char *take_path(Line *line, char *value)
{
    return parse_id(line, value, &line->message->path);
}

static const char *take_parent(Line *line, char *value)
{
    return parse_id(line, value, &line->message->parent);
}

static const struct {
    const char *name;
    const char *(*take)(Line *line, char *value);
} keys[] = {
    {"recv", take_recv},   {"end", take_end},   {"op", take_op},         {"status", take_status},
    {"bytes", take_bytes}, {"conn", take_conn}, {"off", take_off},       {"obs", take_obs},
    {"proto", take_proto}, {"path", take_path}, {"parent", take_parent}, {"file", take_file},
    {"frame", take_frame},
};

// Kept encoded as it came; what should have been encoded is now.
static void keep_unknown(Line *line, const char *key, const char *value)
{
    if (line->extra->len)
        g_string_append_c(line->extra, ' ');
    bb_percent_append(line->extra, key, "");
    g_string_append_c(line->extra, '=');
    bb_percent_append(line->extra, value, "");
}

static const char *take_key(Line *line, char *field, guint *seen)
{
    char *equals = strchr(field, '=');
    if (!equals)
        return "a field behind the id is not key=value";
    if (equals == field)
        return "a field behind the id has no key before its =";
    *equals = '\0';
    for (guint i = 0; i < G_N_ELEMENTS(keys); i++) {
        if (field[0] != keys[i].name[0] || strcmp(field, keys[i].name) != 0)
            continue;
        if (*seen >> i & 1u)
            return "a key stands twice";
        *seen |= 1u << i;
        return keys[i].take(line, equals + 1);
    }
    keep_unknown(line, field, equals + 1);
    return NULL;
}

static const char *take_fields(Line *line, char **rest)
{
    const char *time = take_field(rest), *operation = take_field(rest);
    char *sender = take_field(rest), *receiver = take_field(rest), *id = take_field(rest);
    if (!id)
        return "a line needs five fields: timestamp, operation, sender, receiver, id";
    const char *reason = parse_time(time, &line->message->time_ns);
    if (!reason)
        reason = parse_operation(operation, line->message);
    if (!reason)
        reason = parse_node(line, sender, &line->message->sender);
    if (!reason)
        reason = parse_node(line, receiver, &line->message->receiver);
    if (!reason && strcmp(id, "-") != 0)
        reason = parse_id(line, id, &line->message->id);
    return reason;
}

const char *bb_trace_line_parse(char *line, BbNames *names, GString *extra, BbMessage *message)
{
    Line parsed = {names, extra, message};
    *message = bb_message_empty();
    g_string_truncate(extra, 0);
    char *rest = line;
    guint seen = 0;
    const char *reason = take_fields(&parsed, &rest);
    for (char *field = NULL; !reason && (field = take_field(&rest));)
        reason = take_key(&parsed, field, &seen);
    message->extra = extra->len ? extra->str : NULL;
    return reason;
}

bool bb_trace_line_counter(const char *line, char **name, guint64 *value)
{
    if (!g_str_has_prefix(line, "# counter "))
        return false;
    g_autofree char *copy = g_strdup(line + strlen("# counter "));
    char *rest = copy;
    const char *field = take_field(&rest), *number = take_field(&rest);
    if (!number || !bb_counters_is_name(field) || take_field(&rest) || parse_sum(number, value))
        return false;
    *name = g_strdup(field);
    return true;
}

char *bb_trace_line_note(const char *line)
{
    if (!g_str_has_prefix(line, "# note "))
        return NULL;
    char *text = g_strdup(line + strlen("# note "));
    if (!*text || bb_percent_decode(text))
        g_clear_pointer(&text, g_free);
    return text;
}

static bool take_fact(BbNetworkEdge *edge, char *text)
{
    guint64 value = 0;
    char *equals = strchr(text, '=');
    if (!equals || parse_sum(equals + 1, &value))
        return false;
    *equals = '\0';
    for (guint field = 0; field < BB_NETWORK_FIELDS; field++)
        if (strcmp(text, bb_network_field_name(field)) == 0)
            bb_network_set_field(edge, field, value);
    return true;
}

bool bb_trace_line_network(const char *line, BbNames *names, BbNetworkEdge *edge)
{
    if (!g_str_has_prefix(line, "# network "))
        return false;
    g_autofree char *copy = g_strdup(line + strlen("# network "));
    char *rest = copy, *client = take_field(&rest), *server = take_field(&rest);
    Line parsed = {names, NULL, NULL};
    *edge = (BbNetworkEdge){0};
    if (!server || parse_node(&parsed, client, &edge->client) ||
        parse_node(&parsed, server, &edge->server))
        return false;
    for (char *fact = take_field(&rest); fact; fact = take_field(&rest))
        if (!take_fact(edge, fact))
            return false;
    return true;
}
