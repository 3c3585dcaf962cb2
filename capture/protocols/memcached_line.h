// SPDX-License-Identifier: Apache-2.0
// Lines of memcached's text protocol (protocol.txt of memcached): commands of the client, lines of
// the server. Keys are looked at only to check them.
#pragma once

#include "capture/decoder.h"

#define BB_MEMCACHED_KEY_MAX 250u
// Bytes of a line that is waited for. memcached itself takes no longer ones, but for the keys of a
// get.
#define BB_MEMCACHED_LINE_MAX 2048u
#define BB_MEMCACHED_DATA_MAX (1u << 30) // bytes of a value

typedef enum {
    BB_MEMCACHED_OTHER,    // one line answers it, or many up to END
    BB_MEMCACHED_RETRIEVE, // get, gets, gat, gats: the line may be long
    BB_MEMCACHED_STORE,    // set, add, replace, append, prepend, cas
    BB_MEMCACHED_QUIT,     // is not answered
    BB_MEMCACHED_WATCH,    // answered by OK, then lines without end
    BB_MEMCACHED_META_GET,
    BB_MEMCACHED_META_SET,
    BB_MEMCACHED_META_DELETE,
    BB_MEMCACHED_META_ARITHMETIC,
    BB_MEMCACHED_META_NOOP, // MN answers it, and says that nothing more comes for those before
} BbMemcachedKind;

typedef struct BbMemcachedCommand {
    BbMemcachedKind kind;
    const char *label; // upper case, static; "*" for a word that is not known
    bool known;        // the word is
    bool valid;        // and its arguments are as they have to be
    bool shared;       // other text protocols have the same line
    bool silent;       // noreply: only an error may come
    bool many;         // of several keys: many values may answer it
    bool quiet;        // meta command with flag q: a usual answer is left out
    bool has_data;     // data_length bytes and a line end follow
    guint32 data_length;
    guint32 token; // meta: hash of the opaque token, else of the key if it is sent back, else 0
} BbMemcachedCommand;

// Reads a command line without its line end. cut: its end was not seen.
BbMemcachedCommand bb_memcached_command(const guint8 *line, gsize length, bool cut);

typedef enum {
    BB_MEMCACHED_UNKNOWN,
    BB_MEMCACHED_PART,   // more lines follow, up to END
    BB_MEMCACHED_END,    // ends an answer, with or without parts
    BB_MEMCACHED_ANSWER, // an answer of its own
    BB_MEMCACHED_FAILED, // ERROR, CLIENT_ERROR, SERVER_ERROR
    BB_MEMCACHED_META,   // an answer to a meta command
    BB_MEMCACHED_MN,
} BbMemcachedLineKind;

typedef struct BbMemcachedLine {
    BbMemcachedLineKind kind;
    const char *status; // static; NULL: the first word of the line
    gsize word;         // its length
    bool own;           // no other protocol has it
    bool value_only;    // FAILED: only a command with a value fails so
    bool has_data;
    guint32 data_length;
    guint8 code[2]; // META: HD, VA, EN, ...
    guint32 token;  // META: as above
} BbMemcachedLine;

BbMemcachedLine bb_memcached_line(const guint8 *line, gsize length);

BbMatch bb_memcached_probe(const guint8 *data, gsize length);
