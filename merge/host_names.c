// SPDX-License-Identifier: Apache-2.0
// In: a file of names in any form. Out: which address has which name.
#include "merge/host_names.h"

#include "data/keys.h"
#include "merge/host_form.h"
#include "merge/json_values.h"
#include "merge/lines.h"

static const BbHostTextForm *const text_forms[] = {&bb_host_form_records, &bb_host_form_lines};
static const BbHostJsonForm *const json_forms[] = {&bb_host_form_kubernetes, &bb_host_form_docker,
                                                   &bb_host_form_consul};

// ---- what is named ------------------------------------------------------------------------------

static guint address_hash(gconstpointer key)
{
    const BbAddress *address = key;
    return bb_keys_bytes(address->bytes, sizeof address->bytes);
}

static gboolean address_equal(gconstpointer a, gconstpointer b)
{
    return bb_address_equal(a, b);
}

static void settle(BbHostReading *reading, const BbAddress *address)
{
    if (!g_hash_table_contains(reading->settled, address))
        g_hash_table_add(reading->settled, g_memdup2(address, sizeof *address));
}

void bb_host_reading_give(BbHostReading *reading, const BbHost *host)
{
    reading->useful = true;
    reading->counts->names++;
    reading->sink(host, reading->user);
}

static bool parse_host(const char *address, guint16 port, const char *name, BbHost *host)
{
    *host = (BbHost){.prefix = 128, .port = port, .name = name};
    return address && name && *name && strlen(name) <= BB_HOST_NAME_MAX &&
           bb_address_parse(address, &host->address);
}

bool bb_host_reading_name(BbHostReading *reading, const char *address, guint16 port,
                          const char *name)
{
    BbHost host;
    if (!parse_host(address, port, name, &host))
        return false;
    if (!port)
        settle(reading, &host.address);
    bb_host_reading_give(reading, &host);
    return true;
}

void bb_host_reading_settle(BbHostReading *reading, const char *address)
{
    BbAddress parsed;
    if (address && bb_address_parse(address, &parsed))
        settle(reading, &parsed);
}

void bb_host_reading_defer(BbHostReading *reading, const char *address, guint16 port,
                           const char *name)
{
    BbHost host;
    if (!parse_host(address, port, name, &host))
        return;
    reading->useful = true;
    host.name = g_strdup(name);
    g_ptr_array_add(reading->deferred, g_memdup2(&host, sizeof host));
}

static void give_deferred(BbHostReading *reading)
{
    for (guint i = 0; i < reading->deferred->len; i++) {
        const BbHost *host = reading->deferred->pdata[i];
        if (!g_hash_table_contains(reading->settled, &host->address))
            bb_host_reading_give(reading, host);
    }
}

static void host_free(gpointer data)
{
    BbHost *host = data;
    g_free((char *)host->name);
    g_free(host);
}

// ---- text ---------------------------------------------------------------------------------------

static bool refuse(const BbLines *lines, const char *reason, const char *wanted, GError **error)
{
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s, line %" G_GUINT64_FORMAT ": %s%s%s",
                bb_lines_name(lines), bb_lines_number(lines), reason, wanted ? "; " : "",
                wanted ? wanted : "");
    return false;
}

static const BbHostTextForm *find_text_form(const char *line)
{
    gsize blank = strspn(line, " \t\r\v\f");
    if (line[blank] == '\0' || line[blank] == '#')
        return NULL;
    const BbHostTextForm *form = NULL;
    for (gsize i = 0; i < G_N_ELEMENTS(text_forms) && !form; i++)
        form = text_forms[i]->is_one(line) ? text_forms[i] : NULL;
    return form;
}

static bool take_line(BbHostReading *reading, const BbLines *lines, const BbHostTextForm *form,
                      char *line, GError **error)
{
    reading->useful = false;
    g_autofree char *reason = form->take(reading, line);
    if (reason)
        return refuse(lines, reason, form->wanted, error);
    reading->counts->nothing += !reading->useful;
    return true;
}

static bool read_text(BbHostReading *reading, BbInput *input, GError **error)
{
    g_autoptr(BbLines) lines = bb_lines_take(input);
    const BbHostTextForm *form = NULL;
    char *line = NULL;
    BbLineState state;
    while ((state = bb_lines_next(lines, &line, error)) != BB_LINE_END) {
        if (state == BB_LINE_FAILED)
            return false;
        if (state == BB_LINE_BAD)
            return refuse(lines, bb_lines_reason(lines), NULL, error);
        if (!form)
            form = find_text_form(line);
        if (form && !take_line(reading, lines, form, line, error))
            return false;
    }
    if (!bb_lines_damage(lines))
        return true;
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s: a part of the names is missing",
                bb_lines_damage(lines));
    return false;
}

// ---- JSON ---------------------------------------------------------------------------------------

static const BbHostJsonForm *find_json_form(JsonObject *object)
{
    for (gsize i = 0; i < G_N_ELEMENTS(json_forms); i++)
        if (json_forms[i]->is_one(object))
            return json_forms[i];
    return NULL;
}

static void refuse_value(const BbJsonValues *values, GError **error)
{
    g_autoptr(GString) text = g_string_new("this is no file of names: JSON with names is ");
    for (gsize i = 0; i < G_N_ELEMENTS(json_forms); i++) {
        const char *between = i + 1 == G_N_ELEMENTS(json_forms) ? ", or " : ", ";
        g_string_append_printf(text, "%s%s", i ? between : "", json_forms[i]->wanted);
    }
    bb_json_values_refuse(values, text->str, error);
}

static bool read_json(BbHostReading *reading, BbInput *input, GError **error)
{
    static const char *const lists[] = {"items", NULL}; // of Kubernetes
    g_autoptr(BbJsonValues) values = bb_json_values_take(input, lists);
    g_autoptr(GError) failure = NULL;
    JsonNode *value = NULL;
    while ((value = bb_json_values_next(values, &failure))) {
        JsonObject *object = JSON_NODE_HOLDS_OBJECT(value) ? json_node_get_object(value) : NULL;
        const BbHostJsonForm *form = object ? find_json_form(object) : NULL;
        if (!form) {
            refuse_value(values, error);
            return false;
        }
        reading->useful = false;
        form->take(reading, object);
        reading->counts->nothing += !reading->useful;
    }
    if (failure) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return false;
    }
    if (!bb_json_values_damage(values))
        return true;
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s: a part of the names is missing",
                bb_json_values_damage(values));
    return false;
}

// A line of hosts(5) may begin with a bracket, too: "[2001:db8::2]:80".
static bool is_json(BbInput *input)
{
    char bytes[64];
    gsize length = bb_input_peek(input, bytes, sizeof bytes), at = 0;
    while (at < length && g_ascii_isspace(bytes[at]))
        at++;
    if (at == length || bytes[at] != '[')
        return at < length && bytes[at] == '{';
    return at + 1 == length || !(g_ascii_isxdigit(bytes[at + 1]) || bytes[at + 1] == ':');
}

bool bb_host_names_read(const char *path, const BbHostNamesOptions *options, BbHostSink sink,
                        gpointer user, BbHostNamesCounts *counts, GError **error)
{
    *counts = (BbHostNamesCounts){0};
    BbInput *input = bb_input_open(path, error);
    if (!input)
        return false;
    g_autoptr(GHashTable) settled =
        g_hash_table_new_full(address_hash, address_equal, g_free, NULL);
    g_autoptr(GPtrArray) deferred = g_ptr_array_new_with_free_func(host_free);
    g_autoptr(GString) origin = g_string_new(NULL), owner = g_string_new(NULL);
    BbHostReading reading = {
        .options = options,
        .sink = sink,
        .user = user,
        .counts = counts,
        .settled = settled,
        .deferred = deferred,
        .origin = origin,
        .owner = owner,
    };
    bool good =
        is_json(input) ? read_json(&reading, input, error) : read_text(&reading, input, error);
    give_deferred(&reading);
    return good;
}
