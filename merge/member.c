// SPDX-License-Identifier: Apache-2.0
// In: JSON objects and names of members. Out: their values, where they are of the type asked for.
#include "merge/member.h"

JsonNode *bb_member_node(JsonObject *object, const char *name)
{
    return object ? json_object_get_member(object, name) : NULL;
}

JsonObject *bb_member_object(JsonObject *object, const char *name)
{
    JsonNode *node = bb_member_node(object, name);
    return node && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
}

JsonArray *bb_member_array(JsonObject *object, const char *name)
{
    JsonNode *node = bb_member_node(object, name);
    return node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
}

static GType type_of(JsonNode *node)
{
    return node && JSON_NODE_HOLDS_VALUE(node) ? json_node_get_value_type(node) : G_TYPE_INVALID;
}

const char *bb_member_text(JsonObject *object, const char *name)
{
    JsonNode *node = bb_member_node(object, name);
    const char *text = type_of(node) == G_TYPE_STRING ? json_node_get_string(node) : NULL;
    return text && text[0] ? text : NULL;
}

bool bb_node_integer(JsonNode *node, gint64 *value)
{
    GType type = type_of(node);
    if (type == G_TYPE_INT64) {
        *value = json_node_get_int(node);
        return true;
    }
    if (type == G_TYPE_DOUBLE) {
        double number = json_node_get_double(node);
        if (!(number > -9.2e18 && number < 9.2e18) || number != (double)(gint64)number)
            return false;
        *value = (gint64)number;
        return true;
    }
    return type == G_TYPE_STRING && g_ascii_string_to_signed(json_node_get_string(node), 10,
                                                             G_MININT64, G_MAXINT64, value, NULL);
}

bool bb_member_integer(JsonObject *object, const char *name, gint64 *value)
{
    return bb_node_integer(bb_member_node(object, name), value);
}

JsonObject *bb_element_object(JsonArray *array, guint index)
{
    JsonNode *node = json_array_get_element(array, index);
    return JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
}

char *bb_node_text(JsonNode *node)
{
    GType type = type_of(node);
    if (type == G_TYPE_STRING)
        return g_strdup(json_node_get_string(node));
    if (type == G_TYPE_INT64)
        return g_strdup_printf("%" G_GINT64_FORMAT, json_node_get_int(node));
    if (type == G_TYPE_BOOLEAN)
        return g_strdup(json_node_get_boolean(node) ? "true" : "false");
    if (type != G_TYPE_DOUBLE)
        return NULL;
    char digits[G_ASCII_DTOSTR_BUF_SIZE];
    return g_strdup(g_ascii_dtostr(digits, sizeof digits, json_node_get_double(node)));
}
