// SPDX-License-Identifier: Apache-2.0
// Operation labels with few values: what varies from call to call is replaced by `*`.
#pragma once

#include <glib.h>

#define BB_LABEL_MAX 96 // bytes a label may have; longer ones are cut at a boundary and end in `*`

// All write to out (BB_LABEL_MAX + 1 bytes, NUL-terminated) and return the length. Input is any
// bytes; output is printable UTF-8 or ASCII.

// Method and path: "GET /cart/*". The query is dropped. A segment becomes `*` where it is a number,
// hex of 6 or more digits (also in UUID form), holds a digit run of 3 or more, is longer than 40
// bytes, or looks random (base64-like: digits mixed among letters).
gsize bb_label_http(char *out, const guint8 *method, gsize method_length, const guint8 *path,
                    gsize path_length);

// Verb and table: "SELECT users". Comments (/* */, --, #) and leading parentheses are skipped; the
// table is the first name after FROM, INTO, UPDATE, TABLE, JOIN, ...; quotes and schemas are handled;
// numbers in table names (shards: users_17) become `*`. Verbs without a table stand alone: "BEGIN".
gsize bb_label_sql(char *out, const guint8 *sql, gsize length);

// A domain name below the registered domain varies: "A *.example.com" where the first label holds
// digits or is long, else "A www.example.com".
gsize bb_label_dns(char *out, const char *type, const char *name);

// A command word in upper case, cut to printable bytes: "GET".
gsize bb_label_word(char *out, const guint8 *word, gsize length);
