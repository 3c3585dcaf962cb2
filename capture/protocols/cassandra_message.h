// SPDX-License-Identifier: Apache-2.0
// Messages of Cassandra's CQL binary protocol, versions 3 to 5 (native_protocol_v3.spec to
// native_protocol_v5.spec): a head of 9 bytes and a body; from version 5 on in segments. What can
// be told from one without knowing the session.
#pragma once

#include "capture/cursor.h"
#include "capture/decoder.h"

#define BB_CASSANDRA_HEAD 9u
#define BB_CASSANDRA_SEGMENTS 5u    // the version that brought them
#define BB_CASSANDRA_TEXT_MAX 4096u // bytes of a body that are looked at
#define BB_CASSANDRA_TRAILER 4u     // CRC-32 behind a segment

// Flags of a head.
#define BB_CASSANDRA_COMPRESSED 0x01u
#define BB_CASSANDRA_TRACING 0x02u
#define BB_CASSANDRA_PAYLOAD 0x04u
#define BB_CASSANDRA_WARNING 0x08u

enum {
    BB_CASSANDRA_ERROR = 0x00,
    BB_CASSANDRA_STARTUP = 0x01,
    BB_CASSANDRA_READY = 0x02,
    BB_CASSANDRA_AUTHENTICATE = 0x03,
    BB_CASSANDRA_QUERY = 0x07,
    BB_CASSANDRA_RESULT = 0x08,
    BB_CASSANDRA_PREPARE = 0x09,
    BB_CASSANDRA_EXECUTE = 0x0a,
    BB_CASSANDRA_EVENT = 0x0c,
    BB_CASSANDRA_BATCH = 0x0d,
};

typedef struct BbCassandraHead {
    guint32 length; // of the body
    gint16 stream;  // -1: an event
    guint8 version, flags, opcode;
    bool response;
} BbCassandraHead;

// Reads BB_CASSANDRA_HEAD bytes. False: they are no head of versions 3 to 5.
bool bb_cassandra_head_read(BbCassandraHead *head, const guint8 *data);
const char *bb_cassandra_opcode_name(guint8 opcode);

typedef enum {
    BB_CASSANDRA_PLAIN,
    BB_CASSANDRA_LZ4,
    BB_CASSANDRA_SNAPPY,
    BB_CASSANDRA_UNKNOWN, // joined in the middle
} BbCassandraCompression;

// What a body is about. The texts point into it.
typedef struct BbCassandraBody {
    const guint8 *text; // of a statement, NULL if there is none
    gsize text_length;
    bool text_cut;
    const guint8 *id; // of a prepared statement, NULL if there is none
    gsize id_length;
    const char *error;                  // name of an ERROR's code, static; NULL if it is none
    BbCassandraCompression compression; // that a STARTUP asks for
} BbCassandraBody;

// body: as far as it is there, not compressed.
BbCassandraBody bb_cassandra_body_read(const BbCassandraHead *head, BbCursor body);

// ---- segments of version 5 ----------------------------------------------------------------------

typedef struct BbCassandraSegment {
    guint32 length;      // of the payload as it is sent
    guint32 plain;       // of the payload before compression; 0: it is not compressed
    guint8 head;         // bytes of the head
    bool self_contained; // whole messages; else a part of one
} BbCassandraSegment;

#define BB_CASSANDRA_SEGMENT_HEAD 6u
#define BB_CASSANDRA_SEGMENT_HEAD_LZ4 8u

// Reads a head whose CRC-24 is right; compression: of the connection. MORE, BAD or OK by BbMatch:
// MORE, NO, REQUEST.
BbMatch bb_cassandra_segment_read(BbCassandraSegment *segment, BbCassandraCompression compression,
                                  const guint8 *data, gsize length);

BbMatch bb_cassandra_probe(const guint8 *data, gsize length);
