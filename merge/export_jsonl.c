// SPDX-License-Identifier: Apache-2.0
// In: messages. Out: JSON Lines, an object a message with the columns of merge/fields.h; at the end
// the facts on the network as objects {"network": "tcp", "client": NAME, "server": NAME, ...},
// notes as objects {"note": TEXT}, and counters as objects {"counter": NAME, "value": N}.
//
// JSON has no text that is not UTF-8: it goes by KEY_hex, its bytes as hexadecimal digits.
#include "merge/exporter.h"

#include "data/json.h"
#include "data/outfile.h"
#include "merge/fields.h"

typedef struct Writing {
    BbOutfile *file;
    BbJson *json;
    const BbNames *names;
    GString *text, *key;
} Writing;

static gpointer jsonl_open(const char *path, const BbNames *names, GError **error)
{
    g_autoptr(BbOutfile) file = bb_outfile_open(path, error);
    if (!file)
        return NULL;
    Writing *writing = g_new0(Writing, 1);
    writing->json = bb_json_new(bb_outfile_stream(file));
    writing->file = g_steal_pointer(&file);
    writing->names = names;
    writing->text = g_string_new(NULL);
    writing->key = g_string_new(NULL);
    return writing;
}

static void jsonl_free(gpointer data)
{
    Writing *writing = data;
    bb_json_free(writing->json);
    bb_outfile_free(writing->file);
    g_string_free(writing->text, TRUE);
    g_string_free(writing->key, TRUE);
    g_free(writing);
}

static void put_hex(Writing *writing, const char *column)
{
    g_autoptr(GString) hex = g_string_sized_new(2 * writing->text->len);
    for (gsize i = 0; i < writing->text->len; i++)
        g_string_append_printf(hex, "%02x", (guint8)writing->text->str[i]);
    g_string_printf(writing->key, "%s_hex", column);
    bb_json_key(writing->json, writing->key->str);
    bb_json_string(writing->json, hex->str);
}

static void put_text(Writing *writing, const char *column)
{
    if (!g_utf8_validate(writing->text->str, (gssize)writing->text->len, NULL)) {
        put_hex(writing, column);
        return;
    }
    bb_json_key(writing->json, column);
    bb_json_string(writing->json, writing->text->str);
}

static void put_field(Writing *writing, const BbField *field)
{
    if (field->form == BB_FIELD_TIME) {
        bb_json_key(writing->json, field->column);
        bb_json_int(writing->json, g_ascii_strtoll(writing->text->str, NULL, 10));
    } else if (bb_field_is_number(field)) {
        bb_json_key(writing->json, field->column);
        bb_json_uint(writing->json, g_ascii_strtoull(writing->text->str, NULL, 10));
    } else {
        put_text(writing, field->column);
    }
}

static bool jsonl_push(gpointer data, const BbMessage *message, GError **error)
{
    Writing *writing = data;
    const BbField *field = NULL;
    bb_json_begin_object(writing->json);
    for (gsize i = 0; (field = bb_field_at(i)); i++) {
        g_string_truncate(writing->text, 0);
        if (bb_field_append(field, message, writing->names, writing->text))
            put_field(writing, field);
    }
    bb_json_end_object(writing->json);
    return !ferror(bb_outfile_stream(writing->file)) || bb_outfile_fail(writing->file, error);
}

static void put_node(Writing *writing, const char *key, guint32 name)
{
    if (name == BB_NAME_NONE)
        return;
    g_string_assign(writing->text, bb_names_text(writing->names, name));
    put_text(writing, key);
}

// Facts that are 0 are left out, as in a text trace.
static bool jsonl_network(gpointer data, const BbNetwork *network, GError **error)
{
    Writing *writing = data;
    for (guint i = 0; i < bb_network_count(network); i++) {
        const BbNetworkEdge *edge = bb_network_at(network, i);
        bb_json_begin_object(writing->json);
        bb_json_put_string(writing->json, "network", "tcp");
        put_node(writing, "client", edge->client);
        put_node(writing, "server", edge->server);
        for (guint field = 0; field < BB_NETWORK_FIELDS; field++)
            if (bb_network_field(edge, field))
                bb_json_put_uint(writing->json, bb_network_field_name(field),
                                 bb_network_field(edge, field));
        bb_json_end_object(writing->json);
    }
    return !ferror(bb_outfile_stream(writing->file)) || bb_outfile_fail(writing->file, error);
}

static bool jsonl_note(gpointer data, const char *text, GError **error)
{
    Writing *writing = data;
    g_string_assign(writing->text, text);
    bb_json_begin_object(writing->json);
    put_text(writing, "note");
    bb_json_end_object(writing->json);
    return !ferror(bb_outfile_stream(writing->file)) || bb_outfile_fail(writing->file, error);
}

static bool jsonl_finish(gpointer data, const BbCounters *counters, GError **error)
{
    Writing *writing = data;
    for (guint i = 0; i < bb_counters_count(counters); i++) {
        bb_json_begin_object(writing->json);
        bb_json_key(writing->json, "counter");
        bb_json_string(writing->json, bb_counters_name(counters, i));
        bb_json_key(writing->json, "value");
        bb_json_uint(writing->json, bb_counters_value(counters, i));
        bb_json_end_object(writing->json);
    }
    return bb_json_finish(writing->json) ? bb_outfile_close(writing->file, error)
                                         : bb_outfile_fail(writing->file, error);
}

const BbExporter bb_exporter_jsonl = {
    .name = "jsonl",
    .about = "JSON Lines, an object a message",
    .endings = {"jsonl"},
    .open = jsonl_open,
    .push = jsonl_push,
    .network = jsonl_network,
    .note = jsonl_note,
    .finish = jsonl_finish,
    .free = jsonl_free,
};
