// SPDX-License-Identifier: Apache-2.0
// Writes JSON (RFC 8259) to a FILE: commas, escapes and fixed number formats, so that the same
// value is the same bytes in every locale. Text that is not UTF-8 is written with U+FFFD in place
// of the bytes that are not. Using it out of turn (a value without key in an object) is our
// mistake: assert.
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct BbJson BbJson;

BbJson *bb_json_new(FILE *out); // lent; indent-free, one space after ':' and ','
// Writes out what waits, ends the last line. Returns false when writing to the FILE failed at any
// time (errno says why). Everything that was begun must have ended. After it, only free.
bool bb_json_finish(BbJson *json);
void bb_json_free(BbJson *json);

void bb_json_begin_object(BbJson *json);
void bb_json_end_object(BbJson *json);
void bb_json_begin_array(BbJson *json);
void bb_json_end_array(BbJson *json);
void bb_json_key(BbJson *json, const char *key);
// A line break in place of the space before the next value, key or closing bracket, for people and
// diffs. Values of the top level (JSON Lines) are parted by line breaks anyway.
void bb_json_newline(BbJson *json);

void bb_json_string(BbJson *json, const char *text);
void bb_json_uint(BbJson *json, guint64 value);
void bb_json_int(BbJson *json, gint64 value);
void bb_json_bool(BbJson *json, bool value);
void bb_json_null(BbJson *json);
// Nanoseconds as seconds with 9 decimals, from integers: a double cannot hold them.
void bb_json_seconds(BbJson *json, gint64 ns);
// Nanoseconds as microseconds with 3 decimals, likewise.
void bb_json_microseconds(BbJson *json, gint64 ns);
// A share or probability with 4 decimals; null if it is no number.
void bb_json_share(BbJson *json, double value);

// A key with its value.
void bb_json_put_string(BbJson *json, const char *key, const char *text);
void bb_json_put_uint(BbJson *json, const char *key, guint64 value);
void bb_json_put_seconds(BbJson *json, const char *key, gint64 ns);
void bb_json_put_share(BbJson *json, const char *key, double value);
// The same; null where it is not known, less than 0.
void bb_json_put_probability(BbJson *json, const char *key, double value);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbJson, bb_json_free)
