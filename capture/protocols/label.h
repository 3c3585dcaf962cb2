// SPDX-License-Identifier: Apache-2.0
// Operation labels with few values: what varies from call to call is replaced by `*`.
#pragma once

#include <glib.h>

#define BB_LABEL_MAX 96 // bytes a label may have; longer ones are cut at a boundary and end in `*`

// All write to out (BB_LABEL_MAX + 1 bytes, NUL-terminated) and return the length. Input is any
// bytes; output is printable UTF-8 or ASCII.

// Method and path: "GET /cart/*". Scheme, host, query and matrix parameters (;x=y) are dropped. A
// segment becomes `*` where it
//   - is a number (also with punctuation: 2024-01-31, 3.14),
//   - holds a run of 3 or more digits, or is longer than 40 bytes,
//   - holds a word of 6 or more hex digits, at least one of them 0-9 (all hex and longer than 15
//     with dashes: a UUID without any 0-9 as well),
//   - looks random: a word of 8 or more in which letters, capitals and digits alternate (base64),
//   - names a person (x@y), or holds what cannot stand in a path: blanks, controls, escaped
//     delimiters, bytes that are not UTF-8. Other escapes are decoded.
// Of such a segment a file extension and a verb stay (`*.png`, `*:cancel`); of key=value and
// Name(value) the value varies (`id=*`, `Users(*)`). CONNECT keeps its host and port.
gsize bb_label_http(char *out, const guint8 *method, gsize method_length, const guint8 *path,
                    gsize path_length);

// Verb and table: "SELECT users". Comments (/* */, --, #) and leading parentheses are skipped; the
// table is the first name after FROM, INTO, UPDATE, TABLE, JOIN, ...; quotes and schemas are
// handled; numbers in table names (shards: users_17) become `*`. Verbs without a table stand alone:
// "BEGIN".
gsize bb_label_sql(char *out, const guint8 *sql, gsize length);

// type and name are texts: name in presentation format (RFC 1035, section 5.1), which is printable.
// A domain name below the registered domain varies: "A *.example.com" where the first label holds
// digits or is long, else "A www.example.com".
gsize bb_label_dns(char *out, const char *type, const char *name);

// A verb and the name of a topic, queue, subject, service: "PUBLISH sensors/*/temperature". The
// name is cut at any of separators into segments, which vary as those of a path do. Without verb
// (empty) the name stands alone. The name "?" (not known) stays.
gsize bb_label_topic(char *out, const char *verb, const guint8 *name, gsize length,
                     const char *separators);

// A command word in upper case: "GET". It ends at the first byte that is not printable ASCII,
// blanks included; no such word gives the empty text.
gsize bb_label_word(char *out, const guint8 *word, gsize length);
