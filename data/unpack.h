// SPDX-License-Identifier: Apache-2.0
// Decompression as data/input.c needs it: one line a format in a table, told by the first bytes.
#pragma once

#include <glib.h>
#include <stdbool.h>

// Bytes to look at before bb_unpacker_find can tell.
#define BB_UNPACK_MAGIC 6

// Memory one stream may ask for; what wants more counts as damage (xz dictionary, zstd window).
#define BB_UNPACK_MEMORY (256u * 1024 * 1024)

typedef enum {
    BB_UNPACK_MORE, // goes on; no progress means that it waits for input
    BB_UNPACK_END,  // a stream (member, frame) is over; another may follow
    BB_UNPACK_BAD,  // damaged from here on; what is in out is good
} BbUnpackStatus;

// Where to read and where to write; run() moves both on.
typedef struct BbUnpackFlow {
    const guint8 *in;
    gsize in_left;
    guint8 *out;
    gsize out_left;
} BbUnpackFlow;

typedef struct BbUnpacker {
    const char *name;
    bool (*begins)(const guint8 *data, gsize length); // length may be short of BB_UNPACK_MAGIC
    gpointer (*begin)(void);
    void (*restart)(gpointer state); // the next stream of the same file
    // On BB_UNPACK_BAD *reason is a few words, static.
    BbUnpackStatus (*run)(gpointer state, BbUnpackFlow *flow, const char **reason);
    void (*end)(gpointer state);
} BbUnpacker;

// The format that begins with these bytes, NULL if none does.
const BbUnpacker *bb_unpacker_find(const guint8 *data, gsize length);
