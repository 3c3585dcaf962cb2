// SPDX-License-Identifier: Apache-2.0
// Members of JSON objects, taken leniently: what is missing or of another type is not there.
#pragma once

#include <json-glib/json-glib.h>
#include <stdbool.h>

// Each is lent, NULL where there is none of that type.
JsonNode *bb_member_node(JsonObject *object, const char *name);
JsonObject *bb_member_object(JsonObject *object, const char *name);
JsonArray *bb_member_array(JsonObject *object, const char *name);
const char *bb_member_text(JsonObject *object, const char *name); // not empty

// A whole number, also as a string of decimal digits or a number with a fraction of zero. Returns
// whether it is one that fits; *value is unchanged if not.
bool bb_member_integer(JsonObject *object, const char *name, gint64 *value);
bool bb_node_integer(JsonNode *node, gint64 *value);

// The object of an element, NULL if it is none.
JsonObject *bb_element_object(JsonArray *array, guint index);

// The text of a scalar, NULL for anything else. The caller frees.
char *bb_node_text(JsonNode *node);
