// SPDX-License-Identifier: Apache-2.0
// In: JSON Lines as merge/export_jsonl.c writes them, or others with such keys. Out: messages,
// counters, notes and facts on the network.
#include "merge/importer.h"

#include "data/trace.h"
#include "merge/bad_lines.h"
#include "merge/columns.h"
#include "merge/json_line.h"

#include <string.h>

typedef struct Reading {
    const BbImport *import;
    BbColumns *columns;
    GArray *members; // of BbJsonMember
} Reading;

static gpointer jsonl_begin(const BbImport *import)
{
    g_autofree char *problem = NULL;
    Reading *reading = g_new0(Reading, 1);
    reading->import = import;
    reading->columns = bb_columns_new(bb_import_setting(import, BB_COLUMNS_SETTING), &problem);
    reading->members = g_array_new(FALSE, FALSE, sizeof(BbJsonMember));
    g_assert(reading->columns); // the settings were checked
    return reading;
}

static void jsonl_end(gpointer data)
{
    Reading *reading = data;
    bb_columns_free(reading->columns);
    g_array_unref(reading->members);
    g_free(reading);
}

// Hexadecimal digits to the bytes they mean, in place.
static const char *decode_hex(char *text)
{
    char *to = text;
    for (; text[0]; text += 2) {
        gint high = g_ascii_xdigit_value(text[0]);
        gint low = high < 0 ? -1 : g_ascii_xdigit_value(text[1]);
        if (low < 0 || high + low == 0)
            return "a text of hexadecimal digits has others, or a NUL";
        *to++ = (char)(high << 4 | low);
    }
    *to = '\0';
    return NULL;
}

// KEY_hex has the bytes of a text that is not UTF-8. Returns false if the key is of no use.
static bool find_column(const Reading *reading, char *key, BbColumn *column, bool *hex)
{
    *hex = false;
    if (bb_columns_find(reading->columns, key, column))
        return true;
    if (!g_str_has_suffix(key, "_hex"))
        return false;
    key[strlen(key) - strlen("_hex")] = '\0';
    *hex = true;
    return bb_columns_find(reading->columns, key, column);
}

static const char *take_member(const Reading *reading, const BbJsonMember *member,
                               BbMessage *message)
{
    BbColumn column;
    bool hex = false;
    const char *reason = NULL;
    if (member->kind == BB_JSON_NULL || !find_column(reading, member->key, &column, &hex))
        return NULL;
    if (member->kind == BB_JSON_OTHER)
        return "the value of a field is neither text nor a number";
    if (hex)
        reason = decode_hex(member->text);
    return reason ? reason
                  : bb_field_take(column.field, member->text, column.unit, reading->import->names,
                                  message);
}

// Whether the line is about something else than a message: its first key says so, unless that is a
// field by the user's map.
static bool is_about(const Reading *reading, const char *what)
{
    BbColumn column;
    const BbJsonMember *first = (const BbJsonMember *)(const void *)reading->members->data;
    return reading->members->len > 0 && strcmp(first->key, what) == 0 &&
           !bb_columns_find(reading->columns, what, &column);
}

// A counter has the keys `counter` and `value`.
static const char *take_counter(const Reading *reading)
{
    const BbJsonMember *members = (const BbJsonMember *)(const void *)reading->members->data;
    guint64 value = 0;
    if (reading->members->len != 2 || strcmp(members[1].key, "value") != 0 ||
        members[0].kind != BB_JSON_STRING || members[1].kind != BB_JSON_NUMBER ||
        !bb_counters_is_name(members[0].text) ||
        !g_ascii_string_to_unsigned(members[1].text, 10, 0, G_MAXUINT64, &value, NULL))
        return "a counter is not {\"counter\": NAME, \"value\": N}";
    bb_counters_add(reading->import->counters, members[0].text, value);
    return NULL;
}

// A note is alone in its line, else that is a message with a field of this name. As many are kept
// as of a trace of our own.
static bool is_note(const Reading *reading)
{
    return reading->members->len == 1 &&
           (is_about(reading, "note") || is_about(reading, "note_hex"));
}

static const char *take_note(const Reading *reading)
{
    const BbJsonMember *member = (const BbJsonMember *)(const void *)reading->members->data;
    GPtrArray *notes = reading->import->notes;
    const char *reason = NULL;
    if (member->kind != BB_JSON_STRING)
        return "a note is not {\"note\": TEXT}";
    if (strcmp(member->key, "note_hex") == 0)
        reason = decode_hex(member->text);
    if (!reason && notes && notes->len < BB_TRACE_NOTES)
        g_ptr_array_add(notes, g_strndup(member->text, BB_TRACE_NOTE_SIZE));
    return reason;
}

// One of the two nodes of an edge. Returns whether the member is of it.
static bool take_node(const Reading *reading, const BbJsonMember *member, const char *key,
                      guint32 *name, const char **reason)
{
    bool starts = g_str_has_prefix(member->key, key);
    bool hex = starts && strcmp(member->key + strlen(key), "_hex") == 0;
    if (!hex && strcmp(member->key, key) != 0)
        return false;
    if (member->kind != BB_JSON_STRING)
        *reason = "a node of the network is no text";
    else if (hex)
        *reason = decode_hex(member->text);
    if (!*reason)
        *name = bb_names_intern(reading->import->names, member->text);
    return true;
}

// Facts that we do not know are passed over, as in a text trace.
static const char *take_fact(const BbJsonMember *member, BbNetworkEdge *edge)
{
    guint64 value = 0;
    for (guint field = 0; field < BB_NETWORK_FIELDS; field++) {
        if (strcmp(member->key, bb_network_field_name(field)) != 0)
            continue;
        if (member->kind != BB_JSON_NUMBER ||
            !g_ascii_string_to_unsigned(member->text, 10, 0, G_MAXUINT64, &value, NULL))
            return "a fact on the network is no whole number";
        bb_network_set_field(edge, field, value);
    }
    return NULL;
}

static const char *take_edge(const Reading *reading)
{
    const BbJsonMember *members = (const BbJsonMember *)(const void *)reading->members->data;
    BbNetworkEdge edge = {0};
    const char *reason = NULL;
    if (members[0].kind != BB_JSON_STRING || strcmp(members[0].text, "tcp") != 0)
        return "facts on the network are not {\"network\": \"tcp\", ...}";
    for (guint i = 1; i < reading->members->len && !reason; i++) {
        if (!take_node(reading, &members[i], "client", &edge.client, &reason) &&
            !take_node(reading, &members[i], "server", &edge.server, &reason))
            reason = take_fact(&members[i], &edge);
    }
    if (!reason)
        bb_network_add(reading->import->network, &edge);
    return reason;
}

static const char *take_message(const Reading *reading, BbMessage *message)
{
    *message = bb_message_empty();
    for (guint i = 0; i < reading->members->len; i++) {
        const BbJsonMember *member = &g_array_index(reading->members, BbJsonMember, i);
        const char *reason = take_member(reading, member, message);
        if (reason)
            return reason;
    }
    return message->time_ns == BB_TIME_NONE ? "a message has no time" : NULL;
}

// Returns false when the sink failed. *reason is why the line is bad.
static bool take_line(const Reading *reading, char *line, const char **reason, GError **error)
{
    BbMessage message;
    *reason = bb_json_line_parse(line, reading->members);
    if (*reason)
        return true;
    if (is_about(reading, "counter"))
        *reason = take_counter(reading);
    else if (is_about(reading, "network"))
        *reason = take_edge(reading);
    else if (is_note(reading))
        *reason = take_note(reading);
    else if (!(*reason = take_message(reading, &message)))
        return reading->import->sink(&message, reading->import->user, error);
    return true;
}

static bool jsonl_read(gpointer data, const char *path, GError **error)
{
    Reading *reading = data;
    g_autoptr(BbLines) lines = bb_lines_open(path, error);
    BbBadLines bad = {0};
    BbLineState state = BB_LINE_FAILED;
    char *line = NULL;
    if (!lines)
        return false;
    while ((state = bb_lines_next(lines, &line, error)) < BB_LINE_END) {
        const char *reason = bb_lines_reason(lines);
        if (state == BB_LINE_GOOD && line[strspn(line, " \t\r")] == '\0')
            continue;
        if (state == BB_LINE_GOOD && !take_line(reading, line, &reason, error))
            return false;
        if (!reason)
            bad.good++;
        else if (!bb_bad_lines_add(&bad, reading->import, bb_lines_name(lines),
                                   bb_lines_number(lines), reason, error))
            return false;
    }
    return state == BB_LINE_END && bb_bad_lines_end(&bad, reading->import, bb_lines_name(lines),
                                                    bb_lines_damage(lines), error);
}

static bool jsonl_finish(gpointer data, GError **error)
{
    return true;
}

static const char *const settings[] = {BB_COLUMNS_SETTING, NULL};

const BbImporter bb_importer_jsonl = {
    .name = "jsonl",
    .about = "JSON Lines, an object a message, as bbtrace export writes them",
    .settings = settings,
    .check = bb_columns_check,
    .begin = jsonl_begin,
    .read = jsonl_read,
    .finish = jsonl_finish,
    .end = jsonl_end,
};
