// SPDX-License-Identifier: Apache-2.0
// A line of JSON Lines: one object, in place. Numbers stay text, since a double holds neither
// nanoseconds nor all of 64 bits.
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef enum {
    BB_JSON_STRING, // text is decoded
    BB_JSON_NUMBER, // text is as it stands
    BB_JSON_NULL,
    BB_JSON_OTHER, // true, false, an object or an array: passed over
} BbJsonKind;

typedef struct BbJsonMember {
    char *key, *text; // lent by the line; text is NULL for BB_JSON_NULL and BB_JSON_OTHER
    BbJsonKind kind;
} BbJsonMember;

// Takes line apart, which it writes over, and puts its members into members (of BbJsonMember) in
// place of what is there. Objects and arrays inside may be nested as deep as the line is long: only
// their brackets and strings are looked at. Returns NULL, or the static reason why the line is no
// JSON object.
const char *bb_json_line_parse(char *line, GArray *members);
