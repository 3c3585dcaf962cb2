// SPDX-License-Identifier: Apache-2.0
// A file of JSON (RFC 8259) of any length, value by value: one document, or many behind each other
// (JSON Lines). What a document is only a wrapping of is taken apart, so that memory is that of one
// value: the elements of an outer array, and of an array in it, and those of the lists that the
// form names, are values of their own.
#pragma once

#include "data/input.h"

#include <json-glib/json-glib.h>

// Bytes of one value; the tree of it takes some 15 times as much, of hostile ones up to 70 times.
#define BB_JSON_VALUE_MAX ((gsize)32 << 20)
// Arrays and objects in each other, of one value: the parser calls itself for each.
#define BB_JSON_NESTING_MAX 200

typedef struct BbJsonValues BbJsonValues;

// Opens path; "-" is standard input; .gz, .xz and .zst are unpacked. lists: members of an outermost
// object whose elements are values; ends with NULL; lent, and outlives the reader.
BbJsonValues *bb_json_values_open(const char *path, const char *const *lists, GError **error);
// The same of an input that is open already: takes it over.
BbJsonValues *bb_json_values_take(BbInput *input, const char *const *lists);
void bb_json_values_free(BbJsonValues *values);

// The next object or array, lent until the next call. NULL at the end (error not set), or where
// reading fails or what comes is malformed, too long or too deep (error set, with file and line).
JsonNode *bb_json_values_next(BbJsonValues *values, GError **error);

// After an error of next: whether reading may go on. It does so behind the value; where that has no
// end, in the next line.
bool bb_json_values_may_go_on(const BbJsonValues *values);

// Sets the error of a value that is good JSON but not what is looked for.
void bb_json_values_refuse(const BbJsonValues *values, const char *why, GError **error);

// A sentence on where the input broke off, NULL while it is whole. Lent. An input that breaks off
// before the end of its first value is an error of next instead.
const char *bb_json_values_damage(const BbJsonValues *values);

// Whether all that is missing is brackets behind the last value.
bool bb_json_values_lacks_brackets(const BbJsonValues *values);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbJsonValues, bb_json_values_free)
