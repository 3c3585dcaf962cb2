// SPDX-License-Identifier: Apache-2.0
// In: JSON of ip(8) and tc(8). Out: interfaces, their qdiscs and filters.
#include "capture/mirror/host.h"

#include <json-glib/json-glib.h>
#include <net/if.h>
#include <string.h>

static void interface_free(gpointer data)
{
    BbHostInterface *interface = data;
    g_free(interface->name);
    g_free(interface->link);
    g_free(interface->master);
    g_free(interface->kind);
    g_free(interface->alias);
    g_free(interface);
}

static void filter_free(gpointer data)
{
    BbHostFilter *filter = data;
    g_free(filter->interface);
    g_free(filter->kind);
    g_free(filter->handle);
    g_free(filter->to);
    g_free(filter->cookie);
    g_free(filter);
}

BbMirrorHost *bb_host_new(void)
{
    BbMirrorHost *host = g_new0(BbMirrorHost, 1);
    host->interfaces = g_ptr_array_new_with_free_func(interface_free);
    host->filters = g_ptr_array_new_with_free_func(filter_free);
    return host;
}

void bb_host_free(BbMirrorHost *host)
{
    g_ptr_array_unref(host->interfaces);
    g_ptr_array_unref(host->filters);
    g_free(host);
}

const BbHostInterface *bb_host_find(const BbMirrorHost *host, const char *name)
{
    for (guint i = 0; i < host->interfaces->len; i++) {
        const BbHostInterface *interface = host->interfaces->pdata[i];
        if (strcmp(interface->name, name) == 0)
            return interface;
    }
    return NULL;
}

// ---- JSON --------------------------------------------------------------------------------------

// json-glib calls itself for each bracket. It also takes comments and other quotes, in which
// brackets could hide from this.
static bool is_shallow(const char *text, gsize length)
{
    guint depth = 0;
    bool in_string = false;
    for (gsize i = 0; i < length; i++) {
        char c = text[i];
        if (in_string && c == '\\')
            i++;
        else if (c == '"')
            in_string = !in_string;
        else if (in_string)
            continue;
        else if (c == '\'' || c == '/' || c == '#' || c == '\0')
            return false;
        else if ((c == '[' || c == '{') && ++depth > BB_HOST_DEPTH_MAX)
            return false;
        else if ((c == ']' || c == '}') && depth > 0)
            depth--;
    }
    return true;
}

// The rows of a list; NULL with an error where the text is none. No text is a list without rows.
static JsonArray *parse_rows(const char *text, gsize length, const char *who, GError **error)
{
    g_autoptr(JsonParser) parser = json_parser_new_immutable();
    if (length == 0)
        return json_array_new();
    if (length <= BB_HOST_TEXT_MAX && is_shallow(text, length) &&
        json_parser_load_from_data(parser, text, (gssize)length, NULL)) {
        JsonNode *root = json_parser_get_root(parser);
        if (root && JSON_NODE_HOLDS_ARRAY(root))
            return json_array_ref(json_node_get_array(root));
    }
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                "%s printed no list in JSON: iproute2 4.18 or later is needed", who);
    return NULL;
}

static JsonObject *row_at(JsonArray *rows, guint i)
{
    JsonNode *node = json_array_get_element(rows, i);
    return JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
}

static JsonNode *member(JsonObject *object, const char *name, JsonNodeType type)
{
    JsonNode *node = object ? json_object_get_member(object, name) : NULL;
    return node && JSON_NODE_TYPE(node) == type ? node : NULL;
}

static JsonObject *object_at(JsonObject *object, const char *name)
{
    JsonNode *node = member(object, name, JSON_NODE_OBJECT);
    return node ? json_node_get_object(node) : NULL;
}

static JsonArray *array_at(JsonObject *object, const char *name)
{
    JsonNode *node = member(object, name, JSON_NODE_ARRAY);
    return node ? json_node_get_array(node) : NULL;
}

static guint64 number_at(JsonObject *object, const char *name)
{
    JsonNode *node = member(object, name, JSON_NODE_VALUE);
    gint64 value =
        node && json_node_get_value_type(node) == G_TYPE_INT64 ? json_node_get_int(node) : 0;
    return value > 0 ? (guint64)value : 0;
}

// Text that can be printed, or NULL. Yours.
static char *text_at(JsonObject *object, const char *name)
{
    JsonNode *node = member(object, name, JSON_NODE_VALUE);
    const char *text =
        node && json_node_get_value_type(node) == G_TYPE_STRING ? json_node_get_string(node) : NULL;
    for (const char *c = text; c && *c; c++)
        if (g_ascii_iscntrl(*c))
            return NULL;
    return g_strdup(text);
}

// A name as the kernel allows it (dev_valid_name): it stands in command lines. Yours.
static char *name_at(JsonObject *object, const char *name)
{
    g_autofree char *text = text_at(object, name);
    if (!text || !text[0] || strlen(text) >= IFNAMSIZ || strpbrk(text, "/ :"))
        return NULL;
    return g_steal_pointer(&text);
}

// ---- interfaces --------------------------------------------------------------------------------

static bool has_flag(JsonObject *row, const char *flag)
{
    JsonArray *flags = array_at(row, "flags");
    for (guint i = 0; flags && i < json_array_get_length(flags); i++) {
        JsonNode *node = json_array_get_element(flags, i);
        if (JSON_NODE_HOLDS_VALUE(node) && g_strcmp0(json_node_get_string(node), flag) == 0)
            return true;
    }
    return false;
}

bool bb_host_add_links(BbMirrorHost *host, const char *text, gsize length, GError **error)
{
    g_autoptr(JsonArray) rows = parse_rows(text, length, "ip link", error);
    for (guint i = 0; rows && i < json_array_get_length(rows); i++) {
        JsonObject *row = row_at(rows, i);
        char *name = name_at(row, "ifname");
        if (!name)
            continue;
        BbHostInterface *interface = g_new0(BbHostInterface, 1);
        interface->name = name;
        // The other end in another namespace is a number, not a name.
        interface->link = name_at(row, "link");
        interface->master = name_at(row, "master");
        interface->kind = text_at(object_at(row, "linkinfo"), "info_kind");
        interface->alias = text_at(row, "ifalias");
        interface->is_up = has_flag(row, "UP");
        g_ptr_array_add(host->interfaces, interface);
    }
    return rows != NULL;
}

bool bb_host_add_qdiscs(BbMirrorHost *host, const char *text, gsize length, GError **error)
{
    g_autoptr(JsonArray) rows = parse_rows(text, length, "tc qdisc", error);
    for (guint i = 0; rows && i < json_array_get_length(rows); i++) {
        JsonObject *row = row_at(rows, i);
        g_autofree char *name = name_at(row, "dev"), *kind = text_at(row, "kind");
        BbHostInterface *interface = name ? (BbHostInterface *)bb_host_find(host, name) : NULL;
        if (interface && g_strcmp0(kind, "clsact") == 0)
            interface->qdisc = BB_QDISC_CLSACT;
        else if (interface && g_strcmp0(kind, "ingress") == 0)
            interface->qdisc = BB_QDISC_INGRESS;
    }
    return rows != NULL;
}

// ---- filters -----------------------------------------------------------------------------------

static BbHostFilter *filter_new(BbMirrorHost *host, const char *interface,
                                BbMirrorDirection direction, JsonObject *row)
{
    JsonObject *options = object_at(row, "options");
    BbHostFilter *filter = g_new0(BbHostFilter, 1);
    filter->interface = g_strdup(interface);
    filter->direction = direction;
    filter->pref = (guint)MIN(number_at(row, "pref"), G_MAXUINT);
    filter->kind = text_at(row, "kind");
    filter->handle = text_at(options, "fh");
    // What u32 shows of its first table; a larger one somebody made.
    filter->is_head = !options || number_at(options, "ht_divisor") == 1;
    g_ptr_array_add(host->filters, filter);
    return filter;
}

static void read_action(BbHostFilter *filter, JsonObject *action)
{
    g_autofree char *towards = text_at(action, "direction");
    JsonObject *stats = object_at(action, "stats");
    filter->to = name_at(action, "to_dev");
    filter->to_ingress = g_strcmp0(towards, "ingress") == 0;
    filter->cookie = text_at(action, "cookie");
    filter->packets = number_at(stats, "packets");
    filter->bytes = number_at(stats, "bytes");
}

static void add_filter(BbMirrorHost *host, const char *interface, BbMirrorDirection direction,
                       JsonObject *row)
{
    JsonArray *actions = array_at(object_at(row, "options"), "actions");
    guint copies = 0;
    for (guint i = 0; actions && i < json_array_get_length(actions); i++) {
        JsonObject *action = row_at(actions, i);
        g_autofree char *kind = text_at(action, "kind");
        if (g_strcmp0(kind, "mirred") != 0)
            continue;
        read_action(filter_new(host, interface, direction, row), action);
        copies++;
    }
    if (copies == 0)
        filter_new(host, interface, direction, row);
}

bool bb_host_add_filters(BbMirrorHost *host, const char *interface, BbMirrorDirection direction,
                         const char *text, gsize length, GError **error)
{
    g_autoptr(JsonArray) rows = parse_rows(text, length, "tc filter", error);
    for (guint i = 0; rows && i < json_array_get_length(rows); i++) {
        JsonObject *row = row_at(rows, i);
        if (row)
            add_filter(host, interface, direction, row);
    }
    return rows != NULL;
}

char *bb_host_parse_route(const char *text, gsize length)
{
    g_autoptr(JsonArray) rows = parse_rows(text, length, "ip route", NULL);
    return rows && json_array_get_length(rows) > 0 ? name_at(row_at(rows, 0), "dev") : NULL;
}
