// SPDX-License-Identifier: Apache-2.0
// Messages of Apache Thrift (Thrift binary and compact protocol encoding, of the specifications):
// their heads, and a walk over the structure behind the head, which alone tells where a message
// without a frame ends.
#pragma once

#include "capture/cursor.h"
#include "capture/decoder.h"
#include "capture/protocols/label.h"

#define BB_THRIFT_NAME_MAX 128u // bytes of a method's name
#define BB_THRIFT_HEAD_MAX 160u // bytes of a message that hold its head and first field
#define BB_THRIFT_DEPTH 32u     // structures and containers inside of each other; deeper is bad
#define BB_THRIFT_FRAME_MAX (64u << 20)

typedef enum { BB_THRIFT_BAD, BB_THRIFT_MORE, BB_THRIFT_OK } BbThriftVerdict;

typedef enum {
    BB_THRIFT_CALL = 1,
    BB_THRIFT_REPLY,
    BB_THRIFT_EXCEPTION,
    BB_THRIFT_ONEWAY,
} BbThriftType;

typedef enum { BB_THRIFT_STRICT, BB_THRIFT_OLD, BB_THRIFT_COMPACT } BbThriftEncoding;

typedef struct BbThriftHead {
    BbThriftEncoding encoding;
    BbThriftType type;
    guint32 seqid;
    const guint8 *name; // in the bytes that were read
    gsize name_length;
    gsize length; // of the head
} BbThriftHead;

// Reads the head of a message, without a frame.
BbThriftVerdict bb_thrift_head_read(BbThriftHead *head, const guint8 *data, gsize length);
// Whether the result in a reply, which begins at data, is a declared exception: its first field is
// not number 0. Written to out; MORE where that is not to be told yet.
BbThriftVerdict bb_thrift_result_read(const BbThriftHead *head, const guint8 *data, gsize length,
                                      bool *exception);

// ---- the walk -------------------------------------------------------------------------------

typedef struct BbThriftLevel {
    guint64 left;   // of a container: values; 0 for a structure
    guint8 type[2]; // of them; those of a map take turns
    guint8 turn;
    bool container;
} BbThriftLevel;

typedef struct BbThriftWalk {
    bool compact;
    guint8 depth; // 0: over
    BbThriftLevel level[BB_THRIFT_DEPTH];
    guint64 skip; // bytes to come that are of no interest
} BbThriftWalk;

void bb_thrift_walk_begin(BbThriftWalk *walk, BbThriftEncoding encoding);
// Takes bytes off c. OK: the structure is over. MORE: all that could be read was, walk->skip bytes
// of what follows are to be passed over.
BbThriftVerdict bb_thrift_walk_on(BbThriftWalk *walk, BbCursor *c);

// With a frame or without, as bb_decoder_thrift's.
BbMatch bb_thrift_probe_framed(const guint8 *data, gsize length);
BbMatch bb_thrift_probe_bare(const guint8 *data, gsize length);
